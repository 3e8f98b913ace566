"""Which kernels a grading times: those that pass, where the rubric asks for it. The simulator stands in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.gpu.options import GpuOptions
from grader.grade_gpu import grade_on_gpu
from grader.grade_timing import kernel_passes
from grader.records import CheckResult, DeviceRun, Disagreement, Outcome, Report
from grader.rubric.load import load_text

RUBRIC = """\
title: Product
kind: kernel
kernel:
  name: product
  args: {A: "float32[M, K]", B: "float32[K, N]", C: "out float32[M, N]", M: int, N: int, K: int}
  constants: {TILE: [4]}
  launch: {from: launch_config, arguments: [M, N]}
  reference: "A @ B"
suites:
  shown: {shapes: [[3, 4, 2]]}
checks:
  result: {points: 40}
timing: {sizes: [[4, 4, 3], [512, 512, 512]]}
"""

KERNEL = """\
from numba import cuda

TILE = 4


def launch_config(M, N):
    return (N + TILE - 1) // TILE, (M + TILE - 1) // TILE), (TILE, TILE)


@cuda.jit
def product(A, B, C, M, N, K):
    col, row = cuda.grid(2)
    if row < M and col < N:
        acc = 0.0
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
""".replace("return (N", "return ((N")


def graded(text: str, rubric: str = RUBRIC) -> Report:
    return grade_on_gpu(
        load_text(rubric, exercise="07"),
        "07.py",
        text,
        "",
        options=GpuOptions(unsafe_no_sandbox=True, simulated=True),
    )


def test_a_kernel_that_passes_is_timed_at_the_rubric_s_sizes() -> None:
    report = graded(KERNEL)
    assert report.outcome is Outcome.PASS, report.reason
    # The simulator is spared the large one.
    assert [(dict(one.dims), one.rejected) for one in report.timings] == [({"M": 4, "N": 4, "K": 3}, "")]
    assert report.timings[0].repeats == 2


def test_a_kernel_that_fails_is_not() -> None:
    report = graded(KERNEL.replace("range(K)", "range(K - 1)"))
    assert report.outcome is Outcome.FAIL
    assert report.timings == ()


def test_without_the_key_nothing_is_timed() -> None:
    report = graded(KERNEL, RUBRIC[: RUBRIC.index("timing:")])
    assert report.outcome is Outcome.PASS, report.reason
    assert report.timings == ()


def test_a_kernel_that_is_wrong_at_a_timed_size_has_not_passed() -> None:
    report = graded(KERNEL.replace("range(K)", "range(K if K != 3 else 2)"))
    assert report.timings[0].rejected == "wrong-timed-output"
    assert report.outcome is Outcome.FAIL
    assert report.reason == (
        "the suite is right; at M, N, K = 4, 4, 3, where it was to be timed, the result is wrong"
    )
    assert report.points == report.possible == 40


def test_times_can_be_left_out() -> None:
    options = GpuOptions(unsafe_no_sandbox=True, simulated=True, timed=False)
    report = grade_on_gpu(load_text(RUBRIC, exercise="07"), "07.py", KERNEL, "", options=options)
    assert report.outcome is Outcome.PASS, report.reason
    assert report.timings == ()


PASSING = Report(
    "07", "Product", "kernel", "07.py", Outcome.PASS,
    checks=(CheckResult("result", 40, 40, passed=True),), gpu=DeviceRun("H200", 3, 3, sandboxed=True),
)  # fmt: skip
DIFFERENT = Disagreement("shown", {"M": 3}, True, "exact", 0, 1, 12)


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        ({}, True),
        ({"outcome": Outcome.FAIL}, True),  # a question is open
        ({"outcome": Outcome.CANNOT_JUDGE}, False),
        ({"checks": (CheckResult("result", 20, 40, passed=False),)}, False),
        ({"checks": ()}, False),
        ({"gpu": None}, False),
        ({"gpu": DeviceRun("H200", 2, 3, sandboxed=True)}, False),
        ({"gpu": DeviceRun("H200", 0, 0, sandboxed=True)}, False),
        ({"disagreements": (DIFFERENT,)}, False),
    ],
)
def test_which_kernel_passes(change: dict[str, object], passes: bool) -> None:
    assert kernel_passes(replace(PASSING, **change)) is passes  # type: ignore[arg-type]
