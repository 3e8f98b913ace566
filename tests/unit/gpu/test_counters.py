"""ncu's raw page, as it wrote it on an H200, cut to the columns that are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.gpu import counters
from grader.gpu.counters import METRICS, Measured, measure, read_csv
from grader.gpu.device_runs import Launch
from grader.gpu.tool_run import Ended
from grader.simt.tally import Counters

LOG = (Path(__file__).with_name("data") / "ncu.csv").read_text(encoding="utf-8")


def test_the_figures_of_a_launch() -> None:
    (found,) = read_csv(LOG)
    assert found.problem == ""
    assert set(found.figures) == set(METRICS)
    wanted = {
        "global_load_requests": 465,
        "global_load_sectors": 1910,
        "global_store_requests": 75,
        "global_store_sectors": 361,
        "ffma_threads": 147456,
        "registers": 32,
        "shared_bytes_per_block": 2048,
        "dram_read_bytes": 19200,
        "nanoseconds": 3552,
        "occupancy_percent": 12.43,
    }
    assert {name: found.figures[name] for name in wanted} == wanted


def test_units_are_brought_to_bytes_and_nanoseconds() -> None:
    log = (
        LOG.replace('"byte","byte"', '"Kbyte","Mbyte"')
        .replace('"ns"', '"usecond"')
        .replace('"3552"', '"3,552"')
    )
    (found,) = read_csv(log)
    assert found.figures["dram_read_bytes"] == 19_200_000
    assert found.figures["nanoseconds"] == 3_552_000


def test_the_machines_counters_have_the_same_names() -> None:
    assert {"global_load_requests", "ffma_threads", "shared_bytes_per_block"} <= set(METRICS)
    assert sum(hasattr(Counters(), name) for name in METRICS) == 13


def under(monkeypatch: pytest.MonkeyPatch, ended: Ended) -> tuple[Measured, ...]:
    monkeypatch.setattr(counters, "run_under", lambda *_, **__: ended)
    monkeypatch.setattr(counters, "find_tool", lambda name: name)
    return measure({"file": "mine.py"}, [Launch((1,), (32,), {})] * 2)


def test_a_launch_without_figures_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = under(monkeypatch, Ended(LOG, 2, ""))
    assert first.figures
    assert second == Measured(problem="ncu wrote no figures")
    refused = (
        "==PROF== Connected to process\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"
    )
    assert under(monkeypatch, Ended(refused, 0))[0].problem.startswith("ERR_NVGPUCTRPERM")
    assert under(monkeypatch, Ended("", 0, "it did not finish within 240 s"))[0].problem.endswith("240 s")


def test_the_clocks_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(counters, "find_tool", lambda name: name)
    monkeypatch.setattr(counters, "run_under", lambda words, *_, **__: asked.extend(words) or Ended(LOG, 1))
    measure({}, [Launch((1,), (32,), {})])
    assert asked[asked.index("--clock-control") + 1] == "none"
    assert asked[asked.index("--metrics") + 1].split(",") == list(METRICS.values())
