"""Every kind of trial repair has its remark, and its phrase at the last hint level."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader import kernel_messages
from grader.diagnosis import repair_places

CHECKS = Path(repair_places.__file__).parents[1] / "checks"


def _kinds() -> set[str]:
    """The first argument of every call of ``spot`` or ``Spot`` in grader/checks."""
    calls = [
        node
        for path in CHECKS.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("spot", "Spot")
    ]
    firsts = [call.args[0] for call in calls if call.args]
    return {one.value for one in firsts if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_the_kinds_are_really_found() -> None:
    assert {"index", "range", "type", "alias", "lane"} <= _kinds()


@pytest.mark.parametrize("kind", sorted(_kinds()))
def test_a_kind_of_edit_has_its_remark_and_its_phrase(kind: str) -> None:
    assert kind in repair_places._MADE
    assert f"suspect-{kind}" in kernel_messages._REPAIRS
