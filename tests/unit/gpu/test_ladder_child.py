"""The ladder's child from its request to its rows, with NumPy for CuPy and numba's simulator for the GPU."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader import ladder_files
from grader.gpu.ladder_run import Deadlines, run_rungs
from grader.perf.climb import Climb
from grader.perf.rungs import RUNGS

pytest.importorskip("numba.cuda", reason="needs numba-cuda, of the compile extra")

STAND_IN = Path(__file__).parent / "stand_in"
SIZES = [(9, 5, 7), (1, 1, 1), (17, 3, 20)]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    monkeypatch.setenv("PYTHONPATH", str(STAND_IN))


def climb(*names: str, folder: Path | None = None) -> Climb:
    rungs = [rung for rung in RUNGS if rung.name in names]
    deadlines = Deadlines(timing=0.01)
    return run_rungs(folder or ladder_files.folder(), SIZES, rungs=rungs, deadlines=deadlines)


def test_the_library_is_right_in_each_arithmetic(simulated: None) -> None:
    found = climb("cublas_fp32", "cublas_tf32", "cublas_bf16")
    assert found.gpu == "NVIDIA Stand-in"
    assert found.versions["CUDA"] == "13.0"
    assert found.versions["driver"] == "13.1"
    assert [row.problem for row in found.rungs] == [""] * 9
    errors = {row.rung: row.max_relative_error or 0.0 for row in found.rungs if row.sizes == (17, 3, 20)}
    assert errors["cublas_fp32"] < 1e-7
    assert errors["cublas_bf16"] < 1e-7  # its reference has the rounded inputs
    assert 1e-5 < errors["cublas_tf32"] < 1e-3
    assert all(row.milliseconds and row.repeats >= 3 and row.spread is not None for row in found.rungs)
    assert all(row.resources is None for row in found.rungs)


def test_kernels_are_loaded_launched_and_verified(simulated: None) -> None:
    found = climb("naive", "tiled_16")
    assert [(row.sizes, row.rung, row.problem) for row in found.rungs] == [
        (sizes, name, "") for sizes in SIZES for name in ("naive", "tiled_16")
    ]
    assert all((row.max_relative_error or 0.0) < 1e-6 for row in found.rungs)


WRONG = {
    "left out": ("C[row, col] = acc", "C[row, col] = acc + 1", "largest relative error"),
    "not stored": ("if row < M and col < N", "if row < M and col < N - 1", "the result is wrong"),
    "beyond": ("C[row, col] = acc", "C[row, col] = acc\n        C[M - 1, N] = acc", "IndexError"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kernel_has_no_time(simulated: None, tmp_path: Path, name: str) -> None:
    old, new, said = WRONG[name]
    text = (ladder_files.folder() / "naive.py").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "naive.py").write_text(text.replace(old, new), encoding="utf-8")
    for row in climb("naive", folder=tmp_path).rungs:
        assert said in row.problem
        assert row.milliseconds is None


def test_a_store_into_the_margin_is_wrong() -> None:
    script = """
import numpy as np
from grader.gpu.ladder_bench import LadderBench, RungArrays
arrays = RungArrays(4, 5, 6, bfloat16=False)
flat = arrays._flat
def launch():
    arrays.out[...] = np.asarray(arrays.left) @ np.asarray(arrays.right)
    if beyond:
        flat[beyond] = 1
for beyond in (0, 4095, 4096 + 20, -1):
    bench = LadderBench(arrays, launch, 1e-4)
    bench.draw(); bench.poison(); bench.flush(1); bench.run()
    print(bench.wait().wrong)
"""
    import subprocess
    import sys

    root = Path(ladder_files.__file__).parents[1]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": f"{STAND_IN}{os.pathsep}{root}"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["0", "1", "1", "1"], done.stderr


def test_a_file_that_is_not_there_is_a_problem(simulated: None, tmp_path: Path) -> None:
    found = climb("naive", folder=tmp_path)
    assert all("FileNotFoundError" in row.problem for row in found.rungs)
