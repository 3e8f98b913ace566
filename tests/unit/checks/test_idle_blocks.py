"""A grid of far too many blocks: told as such, in little time, and a right result stays right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.checks import launching
from grader.grade_kernel import grade_kernel
from grader.records import Report
from grader.rubric.load import load
from grader.simt import Box, launch
from tests.content.variants import ROOT, plain_solution

GRID = "grid = ((N + TILE - 1) // TILE, (M + TILE - 1) // TILE)"


def report_on(grid: str, *edits: tuple[str, str]) -> Report:
    text = plain_solution("01_tiled_matmul")
    for old, new in ((GRID, f"grid = {grid}"), *edits):
        assert text.count(old) >= 1
        text = text.replace(old, new)
    rubric = load(ROOT / "rubrics" / "01_tiled_matmul.yaml")
    return grade_kernel(rubric, "01_tiled_matmul.py", text, "")


def names(report: Report) -> list[tuple[str, str]]:
    return [(one.name, one.severity) for one in report.diagnostics if one.severity != "note"]


# What launching all blocks of a grid gives, measured once: the figures are worked out from a few of them.
@pytest.mark.parametrize(
    ("grid", "intensity"),
    [
        ("(N, M)", "0.25"),
        ("(40 * ((N + TILE - 1) // TILE), (M + TILE - 1) // TILE)", "0.20"),
        ("(100, 100)", "0.10"),
    ],
)
def test_blocks_beyond_the_output_are_named(grid: str, intensity: str) -> None:
    report = report_on(grid)
    assert names(report) == [("idle-blocks", "error")]
    assert f"{intensity} operations for each loaded byte" in "\n".join(report.diagnostics[0].seen)
    assert report.diagnostics[0].frame is not None
    line = report.diagnostics[0].frame.lines[0][1]
    assert grid in line
    checks = {check.name: check.points for check in report.checks}
    assert (checks["result"], checks["bounds"], checks["traffic"]) == (30, 10, 0)


def test_four_billion_blocks_are_not_run_one_by_one() -> None:
    report = report_on("(65535, 65535)")
    assert names(report) == [("idle-blocks", "error")]
    assert report.diagnostics[0].headline.startswith("the grid has 4,294,836,225 blocks")


def test_blocks_that_leave_at_once_cost_little() -> None:
    leave = "    if cuda.blockIdx.x * TILE >= N or cuda.blockIdx.y * TILE >= M:\n        return\n"
    report = report_on(
        "(N, M)", ("    acc = float32(0.0)\n    for t", leave + "    acc = float32(0.0)\n    for t")
    )
    assert names(report) == [("idle-blocks", "warning")]
    assert report.outcome.value == "PASS" or all(check.points == check.possible for check in report.checks)


def test_a_block_beyond_the_output_that_stores_is_found() -> None:
    report = report_on("(N, M)", ("    if row < M and col < N:\n        C", "    if row < M:\n        C"))
    assert names(report)[0] == ("out-of-bounds-write", "error")


def test_a_grid_that_needs_all_its_blocks_is_launched_whole() -> None:
    # One element for each block: sixteen times as many blocks as have a thread for each element.
    body = "row = cuda.blockIdx.y * TILE + ty\n    col = cuda.blockIdx.x * TILE + tx\n"
    report = report_on(
        "(N, M)", (body, "row = cuda.blockIdx.y\n    col = cuda.blockIdx.x\n"), ("TILE = 16\n", "TILE = 4\n")
    )
    assert "idle-blocks" not in {name for name, _ in names(report)}


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("    if row < M and col < N:\n        C", "    if row < M:\n        C", "out-of-bounds-write"),
        (
            "        cuda.syncthreads()\n    if row < M and",
            "    if row < M and",
            "shared-overwrite-before-barrier",
        ),
    ],
)
def test_a_fault_beside_too_many_blocks_is_still_confirmed(old: str, new: str, name: str) -> None:
    report = report_on("(1024, 1024)", (old, new))
    assert names(report) == [(name, "error"), ("idle-blocks", "error")]
    assert report.diagnostics[0].checked.startswith("confirmed by experiment")


@pytest.mark.parametrize("schedule", ["lockstep", "descending"])
def test_a_box_of_blocks_runs_alone_in_a_whole_grid(schedule: str) -> None:
    source = (
        "from numba import cuda\n@cuda.jit\ndef kernel(a):\n"
        "    a[cuda.blockIdx.y, cuda.blockIdx.x] += cuda.gridDim.x\n"
    )
    ran = np.zeros((9, 7), np.int64)
    box = Box((2, 3, 0), (4, 5, 1))
    launch(source, "kernel", grid=(7, 9), block=1, args=(ran,), box=box, schedule=schedule)
    expected = np.zeros((9, 7), np.int64)
    expected[3:8, 2:6] = 7
    assert ran.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "edits",
    [
        (("acc += As[ty, k] * Bs[k, tx]", "acc += As[k, ty] * Bs[k, tx]"),),
        (("            As[ty, tx] = float32(0.0)", "            pass"),),
    ],
)
def test_a_wrong_kernel_is_launched_whole_a_few_times_only(
    edits: tuple[tuple[str, str], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = []
    launched = launching.Launcher.launch

    def spy(self: Any, *args: Any, **kwargs: Any) -> Any:
        whole.append(kwargs.get("box") is None)
        return launched(self, *args, **kwargs)

    monkeypatch.setattr(launching.Launcher, "launch", spy)
    report = report_on("(N, M)", *edits)
    few = sum(whole)
    # The oracle launches all blocks of every shape whose covering blocks do not give the result.
    monkeypatch.setattr(launching, "ENOUGH_IDLE", 1000)
    whole.clear()
    wanted = report_on("(N, M)", *edits)
    assert few < sum(whole)
    assert (report.outcome, report.points) == (wanted.outcome, wanted.points)
    assert report.diagnostics[0].name == wanted.diagnostics[0].name
