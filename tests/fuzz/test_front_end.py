"""Damaged kernels and files of rubbish: no exception, no hang, every grading one of the known outcomes.

``TILEGRADE_FUZZ`` sets how many mutants go through ``launch`` (300), ``TILEGRADE_FUZZ_SEED`` the first.
"""

# ruff: noqa: E501  (kernels and lists of cases, a line each)
from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grader.grade import grade
from grader.records import Outcome
from grader.simt import Run, launch

ROOT = Path(__file__).resolve().parents[2]
KERNELS = sorted((ROOT / "tests" / "kernels" / "machine" / "right").glob("*.py"))
SOLUTIONS = [ROOT / "solutions" / name for name in ("01_tiled_matmul.py", "02_ragged_dims.py")]
COUNT = int(os.environ.get("TILEGRADE_FUZZ", "300"))
FIRST = int(os.environ.get("TILEGRADE_FUZZ_SEED", "0"))
PATIENCE = 20.0


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


mutate = _module("mutate")


def _ints(shape: int | tuple[int, ...], below: int = 10) -> Any:
    return np.random.default_rng(7).integers(0, below, shape)


def _launch(kernel: str, harness: str) -> Run:
    names: dict[str, Any] = {"np": np, "ints": _ints}
    exec(compile(harness, "harness", "exec"), names)
    grid, block, args, _ = names["setup"]()
    return launch(kernel, "kernel", grid=grid, block=block, args=args, fuel=300)


def _mutant(seed: int) -> tuple[str, str]:
    text, _, harness = KERNELS[seed % len(KERNELS)].read_text(encoding="utf-8").partition("# ---- harness")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mutate.mutant(seed, text), harness


def test_mutated_kernels_end_in_findings() -> None:
    for seed in range(FIRST, FIRST + COUNT):
        kernel, harness = _mutant(seed)
        started = perf_counter()
        try:
            run = _launch(kernel, harness)
        except Exception as error:  # noqa: BLE001  any at all is what the test looks for
            pytest.fail(f"seed {seed}: {error!r}\n{kernel}")
        assert perf_counter() - started < PATIENCE, seed
        assert run.completed or run.findings, seed


@pytest.mark.parametrize("expression", mutate.ODD_EXPRESSIONS)
def test_an_odd_expression_ends_in_findings(expression: str) -> None:
    source = f"import math\nfrom numba import cuda, float32, int32\n\n@cuda.jit\ndef kernel(x, out):\n    out[0] = {expression}\n"
    run = launch(source, "kernel", grid=1, block=4, args=(np.ones(8, np.float32), np.ones(4)), fuel=300)
    assert run.completed or run.findings


@pytest.mark.parametrize("statement", mutate.ODD_STATEMENTS)
def test_an_odd_statement_ends_in_findings(statement: str) -> None:
    body = statement.replace("\n", "\n    ")
    source = f"from numba import cuda, float32, int32\n\n@cuda.jit\ndef kernel(x, out):\n    {body}\n    out[0] = x[0]\n"
    run = launch(source, "kernel", grid=1, block=4, args=(np.ones(8, np.float32), np.ones(4)), fuel=300)
    assert run.completed or run.findings


def test_files_of_rubbish_are_graded(tmp_path: Path) -> None:
    path = tmp_path / "submission.py"
    for seed in range(FIRST, FIRST + 40):
        path.write_text(mutate.rubbish(seed), encoding="utf-8")
        report = grade(("01_tiled_matmul", "02_ragged_dims")[seed % 2], path)
        assert report.outcome in (Outcome.FAIL, Outcome.CANNOT_JUDGE), (seed, report.fault)


def test_mutated_solutions_are_graded(tmp_path: Path) -> None:
    path = tmp_path / "submission.py"
    for seed in range(FIRST, FIRST + 8):
        solution = SOLUTIONS[seed % 2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path.write_text(mutate.mutant(seed, solution.read_text(encoding="utf-8")), encoding="utf-8")
        report = grade(solution.stem, path)
        assert report.outcome in (Outcome.PASS, Outcome.FAIL, Outcome.CANNOT_JUDGE), (seed, report.fault)
