"""The gpu backend: one report from the machine's judgement and a run in the child, on numba's simulator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from grader import grade_gpu
from grader.checks.device_trials import requests
from grader.gpu import available
from grader.gpu.device_runs import Fault, Launch, Result, Session
from grader.gpu.options import GpuOptions
from grader.gpu.sandbox import find_sandbox
from grader.grade import grade
from grader.grade_gpu import grade_on_gpu
from grader.records import Finding, Outcome, Report
from grader.reporters import json, terminal
from grader.rubric.load import load_text
from grader.simt import parse

ROOT = Path(__file__).parents[2]
RUBRIC = load_text(
    """
title: Twice
kind: kernel
kernel:
  name: twice
  args: {a: "float32[N, M]", out: "out float32[N, M]", N: int, M: int}
  launch: {grid: ["(M + 3) // 4", "(N + 3) // 4"], block: [4, 4]}
  reference: "a + a"
suites:
  shown: {shapes: [[4, 4], [6, 5], [9, 3]]}
checks:
  result: {points: 10}
  hazards: {points: 5}
  bounds: {points: 5}
feedback: full
""",
    exercise="twice",
)
RIGHT = """\
from numba import cuda, float32


@cuda.jit
def twice(a, out, N, M):
    col = cuda.blockIdx.x * 4 + cuda.threadIdx.x
    row = cuda.blockIdx.y * 4 + cuda.threadIdx.y
    if row < N and col < M:
        out[row, col] = a[row, col] + a[row, col]
"""
WRONG = RIGHT.replace("+ a[row, col]", "+ a[0, 0]")
UNGUARDED = RIGHT.replace("row < N and ", "row < N + 1 and ")
RACY = """\
from numba import cuda, float32


@cuda.jit
def twice(a, out, N, M):
    tile = cuda.shared.array((4, 4), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * 4 + tx
    row = cuda.blockIdx.y * 4 + ty
    tile[ty, tx] = 0.0
    if row < N and col < M:
        tile[ty, 3 - tx] = a[row, col]
    if row < N and col < M:
        out[row, col] = tile[ty, 3 - tx] + a[row, col]
"""
UNFOLLOWED = RIGHT.replace("    col =", "    big = cuda.local.array(10_000_000, float32)\n    col =")
ENDLESS = RIGHT.replace("    col =", "    while N > 0:\n        pass\n    col =")
MANY_ROUNDS = RIGHT.replace("    col =", "    for _ in range(10_000_000):\n        pass\n    col =")
LONG_WHILE = RIGHT.replace("    col =", "    n = N\n    while n < 10_000_000:\n        n += 1\n    col =")


def graded(text: str, **options: Any) -> Report:
    chosen = GpuOptions(simulated=True, unsafe_no_sandbox=True, **options)
    return grade_on_gpu(RUBRIC, "twice.py", text, "", None, chosen)


def with_results(monkeypatch: pytest.MonkeyPatch, text: str, change: Any) -> Report:
    """A grading with a made-up GPU: ``change(index, launch, expected)`` gives each launch's Result."""
    judged = grade_gpu.judge(RUBRIC, parse(RIGHT), "")
    assert judged.launcher is not None
    asked = requests(judged.launcher, judged.shapes)
    right = [request.arguments.expected["out"].value for request in asked]

    def run(_: Any, launches: list[Launch], **__: Any) -> Session:
        results = [change(index, launch, right[index]) for index, launch in enumerate(launches)]
        return Session(tuple(results), "NVIDIA H200", (9, 0), {"numba": "1"})

    monkeypatch.setattr(grade_gpu, "run_on_device", run)
    return graded(text)


def result(launch: Launch, out: Any) -> Result:
    return Result({**launch.arguments, "out": out.astype(np.float32)})


def as_expected(_: int, launch: Launch, expected: Any) -> Result:
    return result(launch, expected)


def test_a_pass_takes_both() -> None:
    report = graded(RIGHT)
    assert (report.outcome, report.points, report.backend) == (Outcome.PASS, 20, "gpu")
    assert report.gpu is not None
    assert (report.gpu.right, report.gpu.total, report.gpu.simulated) == (3, 3, True)
    assert report.gpu.sandboxed is False
    assert report.disagreements == ()
    assert report.notes[-1] == "run on numba's simulator WITHOUT a sandbox: right on 3 of 3 shapes"


@pytest.mark.skipif(find_sandbox() is None, reason="no sandbox here (bubblewrap, setpriv, prlimit)")
def test_the_sandbox_is_used_where_it_is_not_waived() -> None:
    report = grade_on_gpu(RUBRIC, "twice.py", RIGHT, "", None, GpuOptions(simulated=True))
    assert report.outcome is Outcome.PASS
    assert report.gpu is not None
    assert report.gpu.sandboxed is True
    assert report.notes[-1] == "run on numba's simulator: right on 3 of 3 shapes"


def test_without_a_sandbox_nothing_runs_unless_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade_gpu, "find_sandbox", lambda: None)
    monkeypatch.setattr(grade_gpu, "run_on_device", lambda *_, **__: pytest.fail("it ran"))
    report = grade_on_gpu(RUBRIC, "twice.py", RIGHT, "", None, GpuOptions(simulated=True))
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert "--unsafe-no-sandbox" in report.reason


def test_what_is_wrong_on_both_sides_fails_by_the_machine_s_cause() -> None:
    report = graded(WRONG)
    assert report.outcome is Outcome.FAIL
    assert report.disagreements == ()
    assert [one.name for one in report.diagnostics][:1] == ["wrong-result"]
    assert report.gpu is not None
    assert report.gpu.right == 0


def test_one_wrong_element_on_the_gpu_alone_comes_first_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(index: int, launch: Launch, expected: Any) -> Result:
        out = expected.copy()
        if index == 2:  # the second shape's exact pass
            out[1, 2] += 1
        return result(launch, out)

    report = with_results(monkeypatch, RIGHT, change)
    assert (report.outcome, report.points) == (Outcome.FAIL, 13.33)
    first = report.diagnostics[0]
    assert (first.name, first.severity) == ("backends-disagree", "error")
    assert (
        report.reason
        == first.headline
        == ("machine and GPU disagree: all elements right on the machine, 1 of 30 elements wrong on the GPU")
    )
    assert first.seen[0] == "N, M = 6, 5, on whole numbers"
    assert "out[1, 2]: expected" in first.seen[1]
    (one,) = report.disagreements
    assert (one.dims, one.inputs, one.machine_wrong, one.gpu_wrong, one.first, one.explained) == (
        {"N": 6, "M": 5},
        "exact",
        0,
        1,
        (1, 2),
        False,
    )
    assert one.gpu_value == (one.expected or 0) + 1
    shapes = [shape.passed for family in report.families for shape in family.shapes]
    assert shapes == [True, False, True]


def test_a_machine_that_alone_is_wrong_costs_no_points_and_passes_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = with_results(monkeypatch, WRONG, as_expected)
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.diagnostics[0].name == "backends-disagree"
    assert all(not one.explained and one.gpu_wrong == 0 for one in report.disagreements)
    assert "elements wrong on the machine, all elements right on the GPU" in report.reason


def test_a_machine_that_is_right_about_one_shape_still_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(index: int, launch: Launch, expected: Any) -> Result:
        return result(launch, expected if index else expected + 1)

    report = with_results(monkeypatch, WRONG, change)
    assert report.outcome is Outcome.FAIL


def test_other_wrong_elements_are_a_disagreement_too(monkeypatch: pytest.MonkeyPatch) -> None:
    report = with_results(monkeypatch, WRONG, lambda _, launch, expected: result(launch, expected + 1))
    assert report.outcome is Outcome.FAIL
    assert {one.inputs for one in report.disagreements} == {"exact"}
    assert all(one.machine_wrong != one.gpu_wrong for one in report.disagreements)


def test_a_race_explains_a_difference_and_a_right_result_is_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    report = with_results(monkeypatch, RACY, as_expected)
    assert report.outcome is Outcome.FAIL
    assert report.diagnostics[0].name in {"shared-write-conflict", "shared-read-before-barrier"}
    assert all(one.explained for one in report.disagreements)
    luck = [one for one in report.diagnostics if one.name == "gpu-result-by-luck"]
    assert len(luck) == 1
    assert luck[0].severity == "note"
    assert luck[0].headline == "the NVIDIA H200 got the right result on 3 shapes all the same"


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("gpu-illegal-address", Outcome.FAIL),
        ("gpu-kernel-aborted", Outcome.FAIL),
        ("gpu-did-not-finish", Outcome.FAIL),
        ("gpu-compile-error", Outcome.FAIL),
        ("gpu-launch-refused", Outcome.FAIL),
        ("gpu-out-of-memory", Outcome.CANNOT_JUDGE),
        ("gpu-child-lost", Outcome.CANNOT_JUDGE),
    ],
)
def test_a_fault_of_the_run_has_its_own_verdict(
    monkeypatch: pytest.MonkeyPatch, fault: str, outcome: Outcome
) -> None:
    def change(index: int, *_: Any) -> Result:
        return Result(fault=Fault(fault, "what was said", 8), launched=index == 0)

    report = with_results(monkeypatch, RIGHT, change)
    assert (report.outcome, report.points) == (outcome, 0)
    assert fault in [one.name for one in report.diagnostics]
    assert report.gpu is not None
    assert (report.gpu.right, report.gpu.fault) == (0, fault)
    assert report.reason
    # A limit that the compiled kernel alone shows, and faults that are not the kernel's, are no disagreement.
    unexplained = fault in (
        "gpu-illegal-address",
        "gpu-kernel-aborted",
        "gpu-did-not-finish",
        "gpu-compile-error",
    )
    assert [one.ended_by for one in report.disagreements] == ([fault] if unexplained else [])


def test_an_illegal_address_that_the_machine_explains_is_no_second_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fault = Fault("gpu-illegal-address", "CUDA_ERROR_ILLEGAL_ADDRESS")

    def change(index: int, launch: Launch, expected: Any) -> Result:
        # The first shape fills its blocks, so that nothing leaves the arrays there.
        return result(launch, expected) if index < 2 else Result(fault=fault, launched=index == 2)

    report = with_results(monkeypatch, UNGUARDED, change)
    assert report.outcome is Outcome.FAIL
    assert report.diagnostics[0].name.startswith("out-of-bounds")
    (told,) = [one for one in report.diagnostics if one.name == "gpu-illegal-address"]
    assert told.severity == "note"
    assert told.hints[1].startswith("the machine found the cause: out-of-bounds")


def test_memory_overwritten_beside_an_array_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(_: int, launch: Launch, expected: Any) -> Result:
        return replace(result(launch, expected), overwritten={"out": 4})

    report = with_results(monkeypatch, RIGHT, change)
    assert report.outcome is Outcome.FAIL
    assert [one.name for one in report.diagnostics[:2]] == ["backends-disagree", "gpu-margin-overwritten"]
    assert "the 4th byte past its end" in report.diagnostics[1].headline


def test_where_the_machine_cannot_judge_the_gpu_s_results_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    report = with_results(monkeypatch, UNFOLLOWED, as_expected)
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.disagreements == ()
    assert report.notes[-1].endswith("right on 3 of 3 shapes")


def test_a_kernel_that_neither_side_ends_has_one_cause() -> None:
    report = graded(ENDLESS, launch_seconds=2.0)
    assert report.outcome is Outcome.FAIL
    assert report.diagnostics[0].name == "did-not-finish"
    assert report.disagreements == ()
    assert report.gpu is not None
    assert report.gpu.fault == "gpu-did-not-finish"
    assert [one.severity for one in report.diagnostics if one.name == "gpu-did-not-finish"] == ["note"]


@pytest.mark.parametrize(
    ("text", "explained", "outcome"),
    [(MANY_ROUNDS, {"did-not-finish"}, Outcome.FAIL), (LONG_WHILE, {""}, Outcome.CANNOT_JUDGE)],
)
def test_a_loop_with_an_end_that_the_machine_gave_up_explains_what_the_gpu_comes_to(
    monkeypatch: pytest.MonkeyPatch, text: str, explained: set[str], outcome: Outcome
) -> None:
    report = with_results(monkeypatch, text, as_expected)
    assert report.outcome is outcome
    assert {one.explained_by for one in report.disagreements} == explained
    named = [one.name for one in report.diagnostics]
    assert named[0] == ("did-not-finish" if explained == {"did-not-finish"} else "backends-disagree")
    assert report.notes[-1].endswith("right on 3 of 3 shapes")


@pytest.mark.parametrize("text", ["def twice(:\n", "x = 1\n"])
def test_what_cannot_be_launched_is_not_run(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(grade_gpu, "run_on_device", lambda *_, **__: pytest.fail("it ran"))
    report = graded(text)
    assert report.outcome is Outcome.FAIL
    assert report.notes[-1] == "nothing was launched on the GPU"


def test_the_figures_of_a_hidden_shape_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = grade_gpu.judge(RUBRIC, parse(RIGHT), "").shapes
    hidden = tuple(replace(shape, shown=False) for shape in shapes)
    original = grade_gpu.judge
    monkeypatch.setattr(
        grade_gpu,
        "judge",
        lambda *given: replace(original(*given), shapes=hidden),  # type: ignore[arg-type]
    )
    report = with_results(monkeypatch, RIGHT, lambda _, launch, expected: result(launch, expected + 1))
    assert report.diagnostics[0].name == "backends-disagree"
    assert report.diagnostics[0].on_hidden_shape


def test_the_report_is_written_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    report = with_results(monkeypatch, RIGHT, lambda _, launch, expected: result(launch, expected + 1))
    shown = terminal.render(report, colour=False, width=100, unicode=True)
    assert "error[backends-disagree]" in shown
    assert "right on 0 of 3 shapes" in shown
    assert '"gpu_wrong": 16' in json.render(report)


@pytest.mark.parametrize("backend", ["gpu", "auto"])
def test_without_a_gpu_the_backend_says_so(
    monkeypatch: pytest.MonkeyPatch, backend: Literal["gpu", "auto"]
) -> None:
    monkeypatch.setattr(available, "gpu_reason", lambda: "no NVIDIA driver was found (libcuda.so.1)")
    monkeypatch.setattr(grade_gpu, "run_on_device", lambda *_, **__: pytest.fail("it ran"))
    report = grade("02_ragged_dims", ROOT / "solutions" / "02_ragged_dims.py", backend=backend)
    if backend == "gpu":
        assert (report.outcome, report.outcome.exit_code) == (Outcome.CANNOT_JUDGE, 3)
        assert report.reason == (
            "no NVIDIA driver was found (libcuda.so.1); --backend machine grades without a GPU"
        )
        assert report.possible == 100
    else:
        assert (report.outcome, report.backend) == (Outcome.PASS, "machine")
        told = "graded by the machine alone: no NVIDIA driver was found (libcuda.so.1)"
        assert report.notes[-1] == told


def test_a_worksheet_needs_no_gpu() -> None:
    report = grade("03_intensity_math", ROOT / "solutions" / "03_intensity_math.md", backend="gpu")
    assert report.outcome is Outcome.PASS


def test_what_no_child_can_rebuild_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade_gpu, "run_on_device", lambda *_, **__: pytest.fail("it ran"))
    unsupported = Finding("unsupported-construct", "error", facts={"construct": "unknown-value"})
    monkeypatch.setattr(grade_gpu, "plan", lambda *_, **__: (unsupported,))
    report = graded(RIGHT)
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.diagnostics[0].name == "unsupported-construct"
    assert report.notes[-1] == "not run on the GPU: the kernel uses what cannot be rebuilt for it"


def test_a_sample_of_blocks_that_is_wrong_is_no_verdict_beside_the_whole_grid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a grid of far too many blocks the machine runs some; the GPU runs all."""
    original = grade_gpu.judge

    def crowded(*given: Any) -> Any:
        judged = original(*given)
        idle = Finding("idle-blocks", "warning", counts={"blocks": 20_000, "needed": 1})
        return replace(judged, trials=tuple(replace(one, findings=(idle,)) for one in judged.trials))

    monkeypatch.setattr(grade_gpu, "judge", crowded)
    assert with_results(monkeypatch, WRONG, as_expected).disagreements == ()
    one_off = with_results(monkeypatch, RIGHT, lambda _, launch, expected: result(launch, expected + 1))
    assert len(one_off.disagreements) == 6
