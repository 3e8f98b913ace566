"""The recorded run of the ladder: what the pages claim of it, and what Lab 1 expects of any."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import ladder
from grader.gpu.compile import compile_reason
from grader.perf.climb import Row, measured_rows
from grader.perf.devices import device
from grader.perf.rungs import LAB_RUNGS, RUNGS

RECORD = Path(__file__).parents[2] / "docs" / "results" / "ladder_h200.json"
#: The record is made on a GPU; as long as there is none, these wait for one as GPU tests do.
pytestmark = (
    []
    if RECORD.is_file()
    else [pytest.mark.gpu, pytest.mark.skip(reason="no run of tools/hardware/ladder_record.py is kept yet")]
)
SIZES = (1000, 1024, 4096)
#: Least shares of cuBLAS with the same arithmetic at 4096 x 4096 x 4096.
GOALS = {"tiled_32": 0.15, "register_blocked": 0.60, "vectorised": 0.60, "tensor_cores": 0.40}


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
