"""Which kernels are launched on floats for the shown shapes alone."""

from __future__ import annotations

import pytest

from grader.checks.device_trials import requests
from grader.checks.fractions import hangs_on_fractions
from grader.checks.inputs import draw_arguments, drawn_arguments
from grader.checks.launching import Launcher
from grader.rubric.load import load
from grader.rubric.suites import shapes_of
from grader.simt import parse
from tests.content.variants import ROOT, plain_solution

RUBRIC = load(ROOT / "rubrics" / "02_ragged_dims.yaml")
SOLUTION = plain_solution("02_ragged_dims")
LOAD = "As[ty, tx] = A[row, a_col]"
SUM = "acc += As[ty, k] * Bs[k, tx]"


def _hangs(text: str) -> bool:
    assert RUBRIC.kernel is not None
    return hangs_on_fractions(parse(text), RUBRIC.kernel)


def test_the_solution_only_adds_and_multiplies() -> None:
    assert not _hangs(SOLUTION)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SUM, "acc = acc + Bs[k, tx] * As[ty, k]"),
        (SUM, "acc += float64(As[ty, k]) * Bs[k, tx]"),
        (LOAD, "As[ty, tx] = A[row, a_col] if a_col < K else float32(0.0)"),
        ("acc = float32(0.0)", "acc = 0"),
    ],
)
def test_other_ways_to_write_sums_and_products(old: str, new: str) -> None:
    assert old in SOLUTION
    assert not _hangs(SOLUTION.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SUM, "acc += int(As[ty, k]) * Bs[k, tx]"),
        (SUM, "acc += int32(As[ty, k] * Bs[k, tx])"),
        (SUM, "acc += As[ty, k] // Bs[k, tx]"),
        (SUM, "acc += As[ty, k] / Bs[k, tx]"),
        (SUM, "acc = max(acc, As[ty, k] * Bs[k, tx])"),
        (SUM, "acc = helper(acc, As, Bs, ty, k, tx)"),
        (SUM, "acc += As[ty, k] * Bs[k, tx] if As[ty, k] > 0.5 else float32(0.0)"),
        (SUM, "acc += round(As[ty, k]) * Bs[k, tx]"),
        (LOAD, "value = A[row, a_col]; As[ty, tx] = float16(value)"),
        ("dtype=float32", "dtype=float16"),
        ("dtype=float32", "dtype=int32"),
        ("C[row, col] = acc", "cuda.atomic.add(C, (row, col), acc)"),
        ("for k in range(TILE):", "for k in range(int(As[0, 0])):"),
        ("acc = float32(0.0)", "acc = int32(0)"),
        # Whatever is neither loaded nor 0 or 1 may make rounding do anything, on some shapes only.
        ("acc = float32(0.0)", "acc = float32(8388608.0)"),
        (SUM, "acc += (As[ty, k] + big - big) * Bs[k, tx]"),
        (SUM, "acc += As[ty, k] * Bs[k, tx] * float32(1e-30)"),
        (SUM, "acc += As[ty, k] * Bs[k, tx] + K"),
        (LOAD, "As[ty, tx] = A[row, a_col] if a_col < K else float32(65537.0)"),
    ],
)
def test_what_may_tell_fractions_apart(old: str, new: str) -> None:
    assert old in SOLUTION
    assert _hangs(SOLUTION.replace(old, new))


def test_arguments_are_drawn_once_and_cannot_be_written_to() -> None:
    assert RUBRIC.kernel is not None
    sizes = {"M": 5, "N": 4, "K": 3, "TILE": 4}

    first = drawn_arguments(RUBRIC.kernel, sizes, "test", exact=True)
    plain = draw_arguments(RUBRIC.kernel, sizes, "test", exact=True)

    assert drawn_arguments(RUBRIC.kernel, sizes, "test", exact=True) is first
    assert drawn_arguments(RUBRIC.kernel, sizes, "test", exact=True, key=b"other") is not first
    assert first.values["A"].tolist() == plain.values["A"].tolist()
    assert not first.values["A"].flags.writeable
    assert first.fresh()["A"].flags.writeable


@pytest.mark.parametrize(("text", "floats"), [(SOLUTION, 5), (SOLUTION.replace("(0.0)", "(2.0 - 2.0)"), 16)])
def test_a_gpu_is_asked_for_the_very_launches_that_the_machine_makes(text: str, floats: int) -> None:
    """Three shown shapes, and two families that the text picks, or all thirteen."""
    assert RUBRIC.kernel is not None
    launcher = Launcher(parse(text), RUBRIC.kernel, RUBRIC.exercise, {"TILE": 16})
    shapes = shapes_of(RUBRIC, {"TILE": 16})
    made = [
        (i, one.arguments.exact) for i, trial in enumerate(launcher.suite(shapes)) for one in trial.passes
    ]
    assert [(one.index, one.arguments.exact) for one in requests(launcher, shapes)] == made
    assert sum(not exact for _, exact in made) == floats
