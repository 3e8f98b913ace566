"""Zeros among the inputs: kernels that take one for the end of a sum, or for nothing to store."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from grader.checks.fractions import conditions_on_values
from grader.checks.inputs import draw_arguments, without_zeros
from grader.grade_kernel import grade_kernel
from grader.rubric.load import load
from tests.content.variants import ROOT, plain_solution

RUBRIC = load(ROOT / "rubrics" / "02_ragged_dims.yaml")
SOLUTION = plain_solution("02_ragged_dims")
SUM = "            acc += As[ty, k] * Bs[k, tx]\n"
STORE = "        C[row, col] = acc\n"


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_floats_hold_zeros_and_whole_numbers_none() -> None:
    assert RUBRIC.kernel is not None
    sizes = {"M": 40, "N": 30, "K": 50, "TILE": 16}
    floats = draw_arguments(RUBRIC.kernel, sizes, "label", exact=False)
    left, right = floats.values["A"], floats.values["B"]
    assert not left[7].any()
    assert not right[:, 7].any()
    for array in (np.delete(left, 7, 0), np.delete(right, 7, 1)):
        assert 0.03 < np.mean(array == 0) < 0.1
    filled = without_zeros(RUBRIC.kernel, floats)
    assert filled.values["A"].all()
    assert np.allclose(filled.expected["C"].value, filled.values["A"] @ filled.values["B"], atol=1e-4)
    exact = draw_arguments(RUBRIC.kernel, sizes, "label", exact=True)
    assert exact.values["A"].all()
    assert exact.values["B"].all()


@pytest.mark.parametrize(
    ("old", "new", "name", "place"),
    [
        (
            SUM,
            f"            if As[ty, k] == 0:\n                break\n{SUM}",
            "wrong-result",
            "As[ty, k] == 0",
        ),
        (
            SUM,
            f"            b = Bs[k, tx]\n            if not b:\n                break\n{SUM}",
            "wrong-result",
            "not b:",
        ),
        (
            STORE,
            "        if acc != 0:\n            C[row, col] = acc\n",
            "unwritten-output",
            "acc != 0",
        ),
    ],
)
def test_a_kernel_that_reads_a_meaning_into_a_zero_fails(old: str, new: str, name: str, place: str) -> None:
    assert old in SOLUTION
    text = SOLUTION.replace(old, new, 1)
    report = grade_kernel(RUBRIC, "s.py", text, "")
    assert report.outcome.value == "FAIL"
    first = report.diagnostics[0]
    assert first.name == name
    assert first.frame is not None
    assert first.frame.primary.span.line == line_of(text, place)
    if name == "wrong-result":
        assert first.headline == "the result is wrong only where an input is zero"


def test_skipping_the_product_of_a_zero_is_right() -> None:
    text = SOLUTION.replace(SUM, f"            if As[ty, k] != 0:\n    {SUM}")
    assert grade_kernel(RUBRIC, "s.py", text, "").outcome.value == "PASS"


def test_the_conditions_on_loaded_values_are_told_from_those_on_indices() -> None:
    text = "def f(A, n):\n    b = A[n] * 2\n    if n > 0 and b > 1:\n        while n:\n            pass"
    [function] = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert [ast.unparse(one) for one in conditions_on_values(function)] == ["b > 1"]
