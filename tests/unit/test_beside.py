"""NVIDIA's tools beside the machine: what their verdicts change, and what their absence does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import beside as besides
from grader.beside import counted
from grader.cli import main
from grader.diagnosis.corroboration import sanitizer_note
from grader.gpu.counters import Measured
from grader.gpu.options import Beside
from grader.grade_kernel import grade_kernel
from grader.records import Counted, Outcome, Report, Sanitized
from grader.reporters.corroboration_text import corroboration_rows
from grader.reporters.style import Style
from grader.rubric.load import load
from grader.simt.tally import Counters

ROOT = Path(__file__).parents[2]
RUBRIC = load(ROOT / "rubrics" / "02_ragged_dims.yaml")
SOLUTION = (ROOT / "solutions" / "02_ragged_dims.py").read_text(encoding="utf-8")
CLEAN = tuple(Sanitized(tool) for tool in ("memcheck", "racecheck", "synccheck", "initcheck"))  # type: ignore[arg-type]
STYLE = Style(colour=False, width=90, unicode=True)


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A GPU with both tools, which say what a test wants; gives the launches they were asked for."""
    asked: list[Any] = []

    def say(found: tuple[Sanitized, ...] = CLEAN, figures: dict[str, float] | None = None) -> list[Any]:
        monkeypatch.setattr(besides, "sanitizer_reason", lambda: "")
        monkeypatch.setattr(besides, "counters_reason", lambda: "")
        monkeypatch.setattr(besides, "sanitize", lambda plan, launches: asked.extend(launches) or found)
        monkeypatch.setattr(besides, "measure", lambda plan, launches: (Measured(figures or {}),))
        return asked

    return say


def graded(beside: Beside, text: str = SOLUTION) -> Report:
    return grade_kernel(RUBRIC, "mine.py", text, "", None, beside)


def test_the_shown_shapes_are_run(tools: Any) -> None:
    asked = tools()
    report = graded(Beside(sanitizer=True))
    assert report.outcome is Outcome.PASS
    assert report.sanitized == CLEAN
    assert [(one.arguments["M"], one.arguments["N"], one.arguments["K"]) for one in asked] == [
        (64, 64, 64),
        (50, 37, 64),
        (50, 37, 40),
    ]
    assert report.notes == ()


def test_what_only_a_tool_reports_keeps_a_kernel_from_passing(tools: Any) -> None:
    tools((Sanitized("memcheck", errors=3, lines=(72,), first="Invalid __global__ read"), *CLEAN[1:]))
    report = graded(Beside(sanitizer=True))
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.reason == "compute-sanitizer reports what the machine has no finding of: memcheck 3 errors"


def test_a_tool_without_a_verdict_is_none(tools: Any) -> None:
    tools((*CLEAN[:3], Sanitized("initcheck", problem="the tool gave no summary")))
    report = graded(Beside(sanitizer=True))
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.reason == "compute-sanitizer has no verdict of initcheck: the tool gave no summary"


def test_a_tool_and_the_machine_that_see_the_same_are_no_news() -> None:
    races = [Sanitized("racecheck", errors=1)]
    assert sanitizer_note(races, ["shared-overwrite-before-barrier"]) == ""
    assert sanitizer_note(races, ["out-of-bounds-read"]).endswith("racecheck 1 error")
    assert sanitizer_note(CLEAN, ["shared-overwrite-before-barrier"]) == ""


def test_without_a_gpu_there_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(besides, "sanitizer_reason", lambda: "no NVIDIA driver was found")
    monkeypatch.setattr(besides, "counters_reason", lambda: "ncu is not installed")
    report = graded(Beside(sanitizer=True))
    assert (report.outcome, report.reason) == (
        Outcome.CANNOT_JUDGE,
        "--sanitizer: no NVIDIA driver was found",
    )
    report = graded(Beside(counters=True))
    assert (report.outcome, report.reason) == (Outcome.CANNOT_JUDGE, "--counters: ncu is not installed")
    path = str(ROOT / "solutions" / "02_ragged_dims.py")
    assert main(["check", "02", "--file", path, "--sanitizer"]) == 3
    assert "no NVIDIA driver was found" in " ".join(capsys.readouterr().out.split())


def test_counters_stand_beside_the_machines(tools: Any) -> None:
    tools(figures={"global_load_requests": 1024.0, "ffma_threads": 64.0**3, "dram_read_bytes": 9.0})
    report = graded(Beside(counters=True))
    assert report.outcome is Outcome.PASS
    found = {one.name: one for one in report.counted}
    # 64 x 64 x 64 in tiles of 16: 16 blocks of 8 warps load two tiles of each of 4 k-slices.
    assert found["global_load_requests"] == Counted("global_load_requests", 16 * 8 * 2 * 4, 1024)
    assert found["ffma_threads"] == Counted("ffma_threads", 64**3, 64**3)
    assert set(found) == {"global_load_requests", "ffma_threads"}


def test_a_figure_is_rounded_and_others_left_out() -> None:
    assert counted(Counters(fadd_threads=4), {"fadd_threads": 4.2, "nanoseconds": 7.0}) == (
        Counted("fadd_threads", 4, 4),
    )


def test_rows_of_the_terminal() -> None:
    report = Report("x", "x", "kernel", "x.py", Outcome.PASS)
    assert corroboration_rows(report, STYLE) == []
    race = Sanitized("racecheck", 1, 2, (44, 67), "Race reported on line 44")
    lost = Sanitized("memcheck", problem="it did not finish within 120 s")
    counts = (Counted("fadd_threads", 4, 4), Counted("shared_load_requests", 16384, 10240))
    report = replace(report, sanitized=(lost, race, CLEAN[2]), counted=counts)
    assert corroboration_rows(report, STYLE) == [
        "  memcheck    no verdict: it did not finish within 120 s",
        "  racecheck   1 error, 2 warnings, lines 44, 67: Race reported on line 44",
        "  synccheck   nothing reported",
        "  ncu and the machine agree on 1 of 2 counters",
        "    shared_load_requests   machine 16,384, ncu 10,240",
    ]
