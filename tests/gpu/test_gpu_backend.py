"""The gpu backend on a real GPU. `make test-gpu` runs these; elsewhere they are skipped, with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.gpu.device_runs import Deadlines, Launch, Session, run_on_device
from grader.gpu.options import GpuOptions
from grader.gpu.sandbox import find_sandbox
from grader.grade import grade
from grader.records import Outcome, Report
from grader.simt import parse
from grader.simt.plan import Plan, plan
from tests.content.variants import ROOT, variants

pytestmark = pytest.mark.gpu
BARE = find_sandbox() is None
KERNELS = """\
from numba import cuda, float32


@cuda.jit
def fill(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = float32(i)


@cuda.jit
def far_away(a, n):
    a[cuda.grid(1) + 2_000_000_000] = float32(1.0)


@cuda.jit
def past_the_end(a, n):
    a[cuda.grid(1)] = float32(1.0)


@cuda.jit
def endless(a, n):
    while n > 0:
        pass


@cuda.jit
def no_common_type(a, n):
    if n > 2:
        value = a
    else:
        value = 0.0
    a[0] = value
"""


def run(kernel: str, n: int = 40, block: int = 32, launches: int = 1) -> Session:
    planned = plan(parse(KERNELS), kernel, file="kernels.py")
    assert isinstance(planned, Plan)
    blocks = -(-n // block)
    asked = [Launch((blocks,), (block,), {"a": np.zeros(n, np.float32), "n": n}) for _ in range(launches)]
    return run_on_device(
        planned.request(), asked, sandbox=find_sandbox(), deadlines=Deadlines(launch=3.0, total=120.0)
    )


def graded(text: str, folder: Path, exercise: str = "02_ragged_dims") -> Report:
    path = folder / f"{exercise}.py"
    path.write_text(text, encoding="utf-8")
    return grade(exercise, path, backend="gpu", gpu=GpuOptions(unsafe_no_sandbox=BARE))


def test_a_kernel_runs_and_the_driver_s_figures_come_back() -> None:
    session = run("fill")
    result = session.results[0]
    assert result.fault is None
    assert result.after is not None
    assert result.after["a"].tolist() == list(range(40))
    assert session.capability >= (5, 0)
    assert session.figures["regs_per_thread"] > 0


def test_an_illegal_address_costs_one_child_and_the_next_starts_clean() -> None:
    lost = run("far_away", launches=2)
    assert [one.fault.name for one in lost.results if one.fault] == ["gpu-illegal-address"] * 2
    assert [one.launched for one in lost.results] == [True, False]
    assert run("fill").fault is None


def test_a_store_past_the_end_shows_in_the_margin() -> None:
    result = run("past_the_end").results[0]
    assert result.fault is None
    assert result.overwritten == {"a": 1}


def test_a_launch_that_does_not_end_is_ended() -> None:
    fault = run("endless").fault
    assert fault is not None
    assert (fault.name, fault.detail) == ("gpu-did-not-finish", "3 s")


def test_a_type_error_has_the_submission_s_line() -> None:
    fault = run("no_common_type").fault
    assert fault is not None
    assert fault.name == "gpu-compile-error"
    assert fault.line is not None
    assert "value" in KERNELS.splitlines()[fault.line - 1]


def test_a_block_that_is_too_large_is_refused() -> None:
    fault = run("fill", 4096, 2048).results[0].fault
    assert fault is not None
    assert fault.name == "gpu-launch-refused"


@pytest.mark.parametrize("exercise", ["01_tiled_matmul", "02_ragged_dims"])
def test_the_solution_passes(exercise: str, tmp_path: Path) -> None:
    report = graded((ROOT / "solutions" / f"{exercise}.py").read_text(encoding="utf-8"), tmp_path, exercise)
    assert (report.outcome, report.points) == (Outcome.PASS, 100)
    assert report.gpu is not None
    assert report.gpu.right == report.gpu.total == 29
    assert report.gpu.sandboxed is not BARE


def test_what_a_gpu_hides_still_fails_by_the_machine_s_cause(tmp_path: Path) -> None:
    wanted = {"missing_second_barrier": "shared-overwrite-before-barrier"}
    found: dict[str, Any] = {one.name: one for one in variants("wrong", "02_ragged_dims")}
    for name, cause in wanted.items():
        report = graded(found[name].source, tmp_path)
        assert report.outcome is Outcome.FAIL
        assert report.diagnostics[0].name == cause
        assert all(one.explained for one in report.disagreements)
