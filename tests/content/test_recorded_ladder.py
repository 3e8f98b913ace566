"""The recorded run of the ladder: what the pages claim of it, and what Lab 1 expects of any."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import ladder
from grader.gpu.compile import compile_reason
from grader.perf.climb import Row, measured_rows
from grader.perf.devices import device
from grader.perf.rungs import LAB_RUNGS, RUNGS

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "docs" / "results" / "ladder_h200.json"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
SIZES = (1000, 1024, 4096)
#: Least shares of cuBLAS with the same arithmetic at 4096 x 4096 x 4096.
GOALS = {
    "tiled_32": 0.15,
    "register_blocked": 0.80,
    "vectorised": 0.80,
    "tensor_cores": 0.40,
    "warpgroups": 0.70,
}


@pytest.fixture(scope="module")
def rows() -> dict[tuple[int, str], Row]:
    climb = ladder.recorded(RECORD)
    tables = measured_rows(climb, device(climb.device))
    return {(sizes[0], row.rung.name): row for sizes, found in tables.items() for row in found}


@pytest.mark.parametrize("size", SIZES)
def test_every_rung_was_right_and_timed_at_every_size(rows: dict[tuple[int, str], Row], size: int) -> None:
    for rung in RUNGS:
        row = rows[size, rung.name]
        assert row.climbed is not None
        assert (row.climbed.problem, row.is_right) == ("", True), rung.name
        assert row.climbed.repeats >= 3


@pytest.mark.parametrize("name", GOALS)
def test_the_goals_are_met(rows: dict[tuple[int, str], Row], name: str) -> None:
    share = rows[4096, name].share
    assert share is not None
    assert share >= GOALS[name]


@pytest.mark.parametrize("size", [1000, 1024])
def test_lab_1_shows_what_it_says(rows: dict[tuple[int, str], Row], size: int) -> None:
    """Each variant is faster than the one before, the first step being the largest; errors are about 1e-6."""
    chosen = [rows[size, name] for name in LAB_RUNGS]
    rates = [row.gflops or 0.0 for row in chosen]
    assert rates == sorted(rates)
    for row in chosen:
        assert row.climbed is not None
        assert 1e-7 < (row.climbed.max_relative_error or 0.0) < 1e-5


def test_the_pages_quote_the_run(rows: dict[tuple[int, str], Row]) -> None:
    for rung in RUNGS:
        if rung.is_library:
            continue
        row, small = rows[4096, rung.name], rows[1000, rung.name]
        assert row.climbed is not None
        assert row.resources is not None
        assert row.gflops is not None
        assert small.gflops is not None
        line = (
            f"| {rung.name} | {row.milliseconds:.4g} | {row.gflops / 1e3:.1f} | {row.share:.0%} "
            f"| {small.gflops / 1e3:.1f} | {row.resources.registers} | {row.climbed.max_relative_error:.1e} |"
        )
        assert line in PAGE
        assert line in README
    for name in ("cublas_fp32", "cublas_bf16"):
        library = rows[4096, name].gflops
        assert library is not None
        assert f"{library / 1e3:.1f}" in PAGE


def test_the_readme_says_that_lab_1_was_reproduced(rows: dict[tuple[int, str], Row]) -> None:
    """Naive, tiled 32 x 32, register-blocked: each faster, the first step the largest."""
    names = ("naive", "tiled_32", "register_blocked")
    small = [rows[1000, name].gflops or 0.0 for name in names]
    assert small[1] / small[0] > small[2] / small[1] > 1
    first, second, third = (f"{rate / 1e3:.1f}" for rate in small)
    assert f"({first}, {second} and {third} at 1000)" in README
    every = [rows[size, name].climbed for size in SIZES for name in names]
    worst = max(one.max_relative_error or 0.0 for one in every if one is not None)
    assert f"no element is further than {worst:.1e} from a float64 product" in README


def test_registers_and_occupancy_are_the_drivers(rows: dict[tuple[int, str], Row]) -> None:
    for rung in RUNGS:
        if rung.is_library:
            continue
        resources = rows[4096, rung.name].resources
        assert resources is not None
        assert resources.source == "driver"
        assert 0 < resources.registers <= 255
        assert (rows[4096, rung.name].occupancy or 0.0) > 0


@pytest.mark.skipif(bool(compile_reason()), reason="the extra `compile` is not installed")
def test_the_compile_check_tells_what_the_driver_tells(rows: dict[tuple[int, str], Row]) -> None:
    """Shared memory to the byte; registers as far as another release of the compiler allocates alike."""
    compiled, reason = ladder.compiled_resources(device("h200"))
    assert reason == ""
    for name, one in compiled.items():
        driver = rows[4096, name].resources
        assert driver is not None
        assert one.shared_bytes == driver.shared_bytes
        assert abs(one.registers - driver.registers) <= 8, name
