"""What the cases share: timing, results that are ratios, and skips that say why."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KERNEL = HERE / "tiled_kernel.py"


class Skipped(Exception):
    """A case that cannot run here; the text says what is missing."""


@dataclass(frozen=True)
class Figure:
    """One measured figure. ``target`` is what it should be, in words, or empty."""

    name: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Result:
    """The figures of one case, and what else a reader needs to know of the run."""

    case: str
    figures: Sequence[Figure]
    notes: Sequence[str] = field(default_factory=tuple)


def seconds_of(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def median_seconds(function: Callable[[], Any], times: int) -> float:
    """Median wall time of ``times`` calls, after one to warm up."""
    function()
    return statistics.median(seconds_of(function) for _ in range(times))


def command_seconds(words: Sequence[str], *, expected: int = 0) -> float:
    """Wall time of a command; Skipped where it does not end in the expected exit code."""
    start = time.perf_counter()
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != expected:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise Skipped(f"{' '.join(words[1:4])} ended with {done.returncode}, not {expected}: {last[0]}")
    return seconds


def machine_product(M: int, N: int, K: int, tile: int, *, detect: bool = True) -> Callable[[], None]:
    """A call that runs the tiled kernel on the machine, with detection or not, and checks its result."""
    try:
        from grader.simt import launch
    except ImportError as error:
        raise Skipped(f"the machine is not there: {error}") from error
    text = KERNEL.read_text(encoding="utf-8").replace("TILE = 16", f"TILE = {tile}")
    rng = np.random.default_rng(1)
    A, B = rng.random((M, K), dtype=np.float32), rng.random((K, N), dtype=np.float32)
    expected = A.astype(np.float64) @ B
    grid = (-(-N // tile), -(-M // tile))

    def run() -> None:
        C = np.full((M, N), np.nan, dtype=np.float32)
        done = launch(
            text, "tiled_matmul", grid=grid, block=(tile, tile), args=(A, B, C, M, N, K), detect=detect
        )
        errors = [finding.name for finding in done.findings if finding.severity == "error"]
        if errors or not done.completed or not np.allclose(C, expected, rtol=1e-4, atol=0):
            raise RuntimeError(f"the machine judged a correct kernel wrong: {errors or 'wrong result'}")

    return run


def python(*words: str) -> list[str]:
    return [sys.executable, *words]
