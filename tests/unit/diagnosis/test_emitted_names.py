"""Every name that the machine or a check can give a finding is in the catalogue."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import grader
from grader.diagnosis import CATALOGUE

ROOT = Path(grader.__file__).parent
SOURCES = sorted([*(ROOT / "simt").rglob("*.py"), *(ROOT / "checks").rglob("*.py")])
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")

#: What makes a finding, or a part that becomes one; the name is among the first two arguments.
MAKERS = {"Finding", "Entry", "Guess", "_entry"}
#: What ``Program.evaluate`` and ``Program.literal`` answer; the checks turn these into other findings.
OF_HOST_CODE = {"missing-function", "host-error", "not-a-literal"}


def emitted(tree: ast.AST) -> Iterator[str]:
    """The names given to a maker: literal ones, and all that a function holds that passes a variable on."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            if _called(call) not in MAKERS:
                continue
            literal = [arg.value for arg in call.args[:2] if isinstance(arg, ast.Constant)]
            given = [one for one in literal if isinstance(one, str) and KEBAB.fullmatch(one)][:1]
            passed_on = any(isinstance(arg, ast.Name) and arg.id == "name" for arg in call.args[:2])
            yield from given or (_strings(function) if passed_on else ())


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _strings(function: ast.FunctionDef) -> set[str]:
    found = {node.value for node in ast.walk(function) if isinstance(node, ast.Constant)}
    return {one for one in found if isinstance(one, str) and KEBAB.fullmatch(one)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_emitted_names_are_catalogued(path: Path) -> None:
    names = set(emitted(ast.parse(path.read_text(encoding="utf-8"))))
    assert names - OF_HOST_CODE <= set(CATALOGUE)


def test_the_names_are_really_found() -> None:
    names = {name for path in SOURCES for name in emitted(ast.parse(path.read_text(encoding="utf-8")))}
    assert {"grid-too-large", "shuffle-from-inactive-lane", "lane-not-in-mask", "divergent-barrier"} <= names
    assert len(names) > 25
