from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from grader.records import Outcome, Report, Timing
from grader.reporters import json as report_json
from grader.reporters import junit, terminal
from grader.reporters.student_view import student_view
from grader.reporters.style import Style
from grader.reporters.timing_text import flops_rate, milliseconds, timing_rows

TIMING = Timing(
    dims={"M": 4096, "N": 4096, "K": 4096},
    shown=True,
    milliseconds=17.8123,
    spread=0.0021,
    repeats=24,
    flops=2 * 4096**3,
    floor_milliseconds=2.0544,
    library_milliseconds=2.71,
    clock_mhz=1965,
    device="NVIDIA H200",
    quartiles=(17.78, 17.85),
    least=17.7,
    error=0.0005,
    highest_clock_mhz=1980,
)
WRONG = replace(
    TIMING,
    dims={"M": 1000, "N": 1000, "K": 1000},
    rejected="wrong-timed-output",
    rejected_at=6,
    wrong_rows=8,
)


def report(*timings: Timing) -> Report:
    return Report("01", "Tiled", "kernel", "01.py", Outcome.PASS, 85.0, 85.0, backend="gpu", timings=timings)


def rows(*timings: Timing, width: int = 120) -> list[str]:
    return timing_rows(report(*timings), Style(colour=False, width=width, unicode=True))


def test_the_rows_of_a_terminal() -> None:
    assert rows(TIMING, WRONG) == [
        "  timed on NVIDIA H200, multiprocessors at 1965 of 1980 MHz",
        "  M, N, K = 4096, 4096, 4096   17.81 ms  spread 0.21 %  7.72 TFLOP/s  15.2 % of cuBLAS  "
        "8.67 x floor",
        "  M, N, K = 1000, 1000, 1000   does not count: the output of launch 7 was wrong, in 8 rows",
    ]


def test_nothing_timed_is_nothing_said() -> None:
    assert rows() == []
    assert "timed" not in terminal.render(report(), colour=False, width=100, unicode=True)
    assert "  timed on NVIDIA H200" in terminal.render(report(TIMING), colour=False, width=100, unicode=True)


def test_a_missing_library_is_said_once() -> None:
    alone = replace(TIMING, library_milliseconds=0.0, no_library="no-cupy")
    text = "\n".join(rows(alone, alone))
    assert text.count("cuBLAS was not measured: CuPy is not installed") == 1
    assert "% of cuBLAS" not in text


@pytest.mark.parametrize("name", ["below-floor", "device-busy", "gpu-illegal-address", "unheard-of"])
def test_every_rejection_says_why(name: str) -> None:
    (_, row) = rows(replace(TIMING, rejected=name))
    assert "does not count: " in row
    assert "17.8" not in row


def test_digits() -> None:
    assert [milliseconds(value) for value in (0.0313, 2.7, 17.8123, 107.04)] == [
        "0.03130 ms",
        "2.700 ms",
        "17.81 ms",
        "107.0 ms",
    ]
    assert [flops_rate(value) for value in (512.4, 7716.0, 50_700.0)] == [
        "512. GFLOP/s",
        "7.72 TFLOP/s",
        "50.7 TFLOP/s",
    ]


def test_junit_has_times_as_properties_of_the_verdict() -> None:
    root = ET.fromstring(junit.render([report(TIMING, WRONG)]))
    case = next(root.iter("testcase"))
    found = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert found["timing.4096x4096x4096.milliseconds"] == "17.8123"
    assert found["timing.4096x4096x4096.share_of_library"] == "0.1521"
    assert found["timing.1000x1000x1000.rejected"] == "wrong-timed-output"
    assert "timing.1000x1000x1000.milliseconds" not in found


def test_json_has_every_figure() -> None:
    text = report_json.render(report(TIMING))
    assert '"quartiles": [\n          17.78,' in text
    assert '"rejected": ""' in text


def test_a_student_sees_the_times_at_the_sizes_of_the_rubric() -> None:
    hidden = replace(TIMING, dims={"M": 4711, "N": 4711, "K": 4711}, shown=False)
    view = student_view(report(TIMING, hidden, WRONG), "full", title_of=str)
    assert view.timings == (TIMING, WRONG)
    for level in ("none", "category"):
        assert student_view(report(TIMING), level, title_of=str).timings == ()  # type: ignore[arg-type]


def test_a_reason_that_names_a_timed_size_is_told() -> None:
    reason = "the suite is right; at M, N, K = 1000, 1000, 1000, where it was to be timed, it is wrong"
    failed = replace(report(TIMING, WRONG), outcome=Outcome.FAIL, reason=reason)
    assert student_view(failed, "full", title_of=str).reason == reason
    assert student_view(replace(failed, timings=()), "full", title_of=str).reason == ""
