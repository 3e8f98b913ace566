"""What is told of the module's numbers: one that is missing, one that cannot be worked out."""

from __future__ import annotations

from grader.checks.structure import constants_of
from grader.diagnosis import Context, explain
from grader.records import Diagnostic
from grader.simt import parse

KERNEL = "\n\n@cuda.jit\ndef kernel(out):\n    out[0] = 1\n"


def told(head: str) -> Diagnostic:
    text = f"from numba import cuda\n{head}{KERNEL}"
    _, (finding,) = constants_of(parse(text), {"TILE": (4, 8, 16)})
    return explain(finding, Context("tiles.py", tuple(text.splitlines())))


def test_a_constant_of_another_name_is_pointed_to() -> None:
    said = told("TPB = 16")
    assert said.headline == "`TILE` is not set, and this exercise takes 4, 8 or 16"
    assert "`TPB` holds such a number" in said.seen
    assert said.checked == "read from the text; the kernel was not started"
    assert said.hints[0] == "is `TPB` what this exercise calls `TILE`?"
    assert said.hints[-1] == "write `TILE = TPB` below it"


def test_of_several_none_is_pointed_to() -> None:
    said = told("TPB = 16\nROWS = 8")
    assert "`TPB` and `ROWS` hold such a number" in said.seen
    assert said.hints[-1] == "write `TILE = 16`"


def test_a_number_from_a_class_is_to_be_written_out() -> None:
    said = told("class Sizes:\n    tile = 16\n\n\nTILE = Sizes.tile")
    assert said.headline == "the grader cannot follow `Sizes.tile`"
    assert said.hints[0] == "which number does `TILE` hold?"
    assert said.hints[-1] == "if `TILE` is a number, write it as one at module level, such as `TILE = 16`"
