from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.diagnosis import explain
from grader.records import Diagnostic, Outcome, Report
from grader.reporters import terminal
from grader.reporters.style import display_width
from tests.unit.diagnosis.examples import EXAMPLES
from tests.unit.reporters.samples import ALL, CANNOT_JUDGE, FAIL, HARNESS_FAULT, NOT_STARTED, PASS, STALE

GOLDEN = Path(__file__).parent / "golden"
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def plain(report: Report, width: int = 100, **options: object) -> str:
    return terminal.render(report, **{"colour": False, "width": width, "unicode": True, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ALL)
def test_rendering_is_the_golden_one(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / f"{name}.txt", plain(ALL[name]))


def test_narrow_ascii_rendering_is_the_golden_one(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "fail_narrow_ascii.txt", plain(FAIL, 64, unicode=False))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("width", [40, 44, 52, 63, 64, 80, 120])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:

    for line in plain(ALL[name], width).splitlines():
        assert display_width(line) <= width, line


@pytest.mark.parametrize("name", ALL)
def test_colour_adds_nothing_but_colour(name: str) -> None:
    coloured = plain(ALL[name], colour=True)
    assert coloured != plain(ALL[name])
    assert ANSI.sub("", coloured) == plain(ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_ascii_rendering_is_ascii(name: str) -> None:
    assert plain(ALL[name], unicode=False).isascii()


def test_a_failure_starts_with_exercise_outcome_points_and_setting() -> None:
    first = plain(FAIL).splitlines()[0]
    assert first.split("  ")[:3] == ["02_ragged_dims", "FAIL", "35 of 100 points"]
    assert first.endswith("TILE = 16, 17 shapes")
    assert len(first) == 100


def test_only_the_first_cause_is_shown_in_full() -> None:
    text = plain(FAIL)
    assert text.count("-->") == 1
    assert "  warning[uncoalesced-access] line 34: neighbouring threads" in text
    assert "  note[float64-arithmetic] line 28: `acc` is a float64" in text


def test_verbose_shows_every_diagnostic_in_full() -> None:
    assert plain(FAIL, verbose=True).count("-->") == 3


@pytest.mark.parametrize(("level", "shown"), [(0, 0), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_as_many_hints_as_the_level_says(level: int, shown: int) -> None:
    text = plain(replace(FAIL, hint_level=level))
    assert text.count("= try:") == shown
    assert ("hint 02_ragged_dims" in text) == (shown in {1, 2})


def test_commands_are_those_the_reader_types() -> None:
    assert "= more:    make hint 02_ragged_dims · make explain stale-shared-read" in plain(
        FAIL, command="make"
    )


def test_a_note_alone_does_not_hide_the_reason() -> None:
    report = replace(FAIL, diagnostics=FAIL.diagnostics[2:], reason="question q1 has no answer")
    assert "  question q1 has no answer\n" in plain(report)


def test_pending_points_are_in_the_header_and_the_table() -> None:
    text = plain(PASS)
    assert text.startswith("02_ragged_dims  PASS  92.5 of 100 points, 7.5 pending")
    assert re.search(r"q2 +7\.5 pending +What does an unguarded store do\?: needs review", text)


def test_not_started_is_no_failure_in_words() -> None:
    text = plain(NOT_STARTED)
    assert "FAIL" not in text
    assert "Nothing between the markers has been written yet." in text


def test_cannot_judge_says_that_nothing_was_graded() -> None:
    assert "Not graded, and so neither right nor wrong: the machine does not run" in plain(CANNOT_JUDGE)


def test_harness_fault_blames_no_student_and_shows_no_traceback() -> None:
    text = plain(HARNESS_FAULT)
    assert "not in your code" in text
    assert "IndexError: list index out of range" in text
    assert "Traceback" not in text


def test_a_picture_stands_between_frame_and_fields() -> None:
    drawn = replace(STALE, picture=("[0][1][2]", "    ^"))
    text = plain(replace(FAIL, diagnostics=(drawn,)))
    assert "   |   [0][1][2]\n   |       ^\n   |\n   = seen:" in text


def test_a_submission_cannot_write_to_the_terminal() -> None:
    sly = Diagnostic("wrong-result", "error", "`\x1b[2J\x1b[1;1HPASS\x9b` and \u202ereversed\r over")
    text = plain(replace(FAIL, diagnostics=(sly,), path="a\x1b[2Jb.py"))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


@pytest.mark.parametrize("outcome", Outcome)
def test_the_bare_minimum_of_a_report_renders(outcome: Outcome) -> None:
    text = plain(Report("03_intensity_math", "", "worksheet", "w.md", outcome))
    assert text.startswith(f"03_intensity_math  {outcome.value}")


def test_a_report_without_points_speaks_of_none() -> None:
    without = replace(FAIL, points=0.0, possible=0.0, pending=0.0)
    first = plain(without).splitlines()[0]
    assert first.split("  ")[:2] == ["02_ragged_dims", "FAIL"]
    assert "points" not in first
    judged = plain(replace(CANNOT_JUDGE, possible=0.0))
    assert "Not judged, and so neither right nor wrong" in judged
    assert "graded" not in judged


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_message_fits_a_narrow_terminal(name: str) -> None:
    example = EXAMPLES[name]
    message = explain(example.finding, example.context)
    report = replace(FAIL, diagnostics=(message, message), hint_level=3)
    for width in (40, 47, 63):
        for verbose in (False, True):
            for line in plain(report, width, verbose=verbose).splitlines():
                assert display_width(line) <= width, line


def test_a_shape_that_was_not_launched_is_not_called_wrong() -> None:
    not_run = replace(FAIL.families[0].shapes[0], passed=False, wrong=0, elements=0)
    families = (replace(FAIL.families[0], passed=0, shapes=(not_run,)), *FAIL.families[1:])
    row = next(line for line in plain(replace(FAIL, families=families)).splitlines() if "M, N, K" in line)
    assert row == "  M, N, K = 64, 64, 64   not run"
