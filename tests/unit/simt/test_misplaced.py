"""Statements that parse but stand where Python does not take them."""

from __future__ import annotations

import ast

import pytest

from grader.simt import parse
from grader.simt.misplaced import find_misplaced

BAD = [
    "break",
    "if 1:\n    continue",
    "return 1",
    "x = 1\nyield x",
    "class C:\n    return",
    "for q in ():\n    pass\nelse:\n    break",
    "while 1:\n    def f():\n        break",
    "def f():\n    if 1:\n        continue",
    "for q in ():\n    class C:\n        break",
]
GOOD = [
    "for q in ():\n    if q:\n        break\n    else:\n        continue",
    "while 1:\n    for q in ():\n        pass\n    else:\n        break",
    "def f():\n    return 1",
    "def f():\n    yield 2",
    "f = lambda: (yield)",
    "while 1:\n    try:\n        break\n    finally:\n        pass",
    "while 1:\n    def f():\n        return 1",
]


@pytest.mark.parametrize("text", BAD)
def test_a_misplaced_statement_has_pythons_message_and_line(text: str) -> None:
    with pytest.raises(SyntaxError) as refusal:
        compile(text, "text", "exec")
    (finding,) = parse(text).findings
    assert finding.name == "syntax-error"
    assert finding.facts["message"] == refusal.value.msg
    assert finding.primary is not None
    assert finding.primary.line == refusal.value.lineno


@pytest.mark.parametrize("text", GOOD)
def test_a_statement_in_its_place(text: str) -> None:
    compile(text, "text", "exec")
    assert find_misplaced(ast.parse(text)) is None
