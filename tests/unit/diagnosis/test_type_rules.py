"""Every rule that the machine refuses a kernel by has words of its own."""

from __future__ import annotations

import re
from pathlib import Path

from grader.diagnosis.type_rules import RULES

SIMT = Path(__file__).parents[3] / "grader" / "simt"
_RULE = re.compile(r"""\bfail\(\s*[^,()]+(?:\[[^\]]*\])?(?:\.\w+)*,\s*"([a-z-]+)""")


def emitted() -> set[str]:
    return {rule for path in SIMT.glob("*.py") for rule in _RULE.findall(path.read_text(encoding="utf-8"))}


def test_rules_are_really_found() -> None:
    assert {"in-place-division", "index-type", "unknown-attribute", "grid-dimension"} <= emitted()


def test_every_rule_has_words() -> None:
    assert emitted() - set(RULES) == set()
