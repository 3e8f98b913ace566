from __future__ import annotations

from dataclasses import fields, replace

import pytest

from grader.records import Diagnostic, FamilyResult, Fault, Outcome, Report, ShapeResult
from grader.reporters import terminal
from grader.reporters.student_view import hidden_sizes, mentions_hidden, student_view
from tests.unit.reporters import samples

SHOWN = {(50, 37, 40)}


def title(name: str) -> str:
    return f"title of {name}"


def failing() -> Report:
    return next(
        value
        for value in vars(samples).values()
        if isinstance(value, Report) and value.outcome is Outcome.FAIL and value.diagnostics
    )


def test_full_keeps_a_message_about_a_shown_shape() -> None:
    view = student_view(failing(), "full", title_of=title)
    first = failing().diagnostics[0]
    assert view.diagnostics[0].seen == first.seen
    assert view.diagnostics[0].hints == first.hints[: failing().hint_level]


def test_a_message_about_a_hidden_shape_loses_every_figure() -> None:
    report = failing()
    hidden = replace(report.diagnostics[0], on_hidden_shape=True)
    view = student_view(
        replace(report, diagnostics=(hidden,), reason=hidden.headline), "full", title_of=title
    )
    (shown,) = view.diagnostics
    assert shown.headline == view.reason == "title of stale-shared-read"
    assert (shown.seen, shown.passed, shown.picture) == (("on a hidden shape",), "", ())
    assert shown.frame is not None
    assert shown.frame.primary.text == ""
    assert shown.frame.lines == hidden.frame.lines  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["M, N, K = 48, 16, 32", "on 48 x 16 x 32", "48, 16, 32", "M,N,K = 50, 37, 41"]
)
def test_sizes_that_are_not_open_are_seen_in_any_text(text: str) -> None:
    assert mentions_hidden(f"wrong: {text}: all of it", SHOWN)


@pytest.mark.parametrize(
    "text", ["M, N, K = 50, 37, 40", "1,850 of 1,850 elements", "thread (0, 0)", "K = 3", ""]
)
def test_other_numbers_are_no_sizes(text: str) -> None:
    assert not mentions_hidden(text, SHOWN)


def test_category_names_causes_without_figures_or_messages() -> None:
    view = student_view(failing(), "category", title_of=title)
    assert view.diagnostics[0] == Diagnostic("stale-shared-read", "error", "title of stale-shared-read")
    assert all(question.message == "" for question in view.questions)
    assert [check.points for check in view.checks] == [check.points for check in failing().checks]


def test_none_says_outcome_and_points() -> None:
    view = student_view(failing(), "none", title_of=title, notes=["late"])
    assert (view.families, view.checks, view.questions, view.diagnostics) == ((), (), (), ())
    assert (view.points, view.outcome, view.notes, view.reason) == (
        failing().points,
        Outcome.FAIL,
        ("late",),
        "",
    )


@pytest.mark.parametrize("level", ["none", "category", "full"])
def test_no_field_of_a_report_is_shown_unless_it_is_listed(level: str) -> None:
    """Every text of a report is a canary; what comes through must be of the list."""
    shape = ShapeResult("aligned", {"M": 4711, "N": 815, "K": 99}, False, False)
    report = Report(
        "EXERCISE",
        "TITLE",
        "kernel",
        "PATH",
        Outcome.HARNESS_FAULT,
        reason="REASON",
        families=(FamilyResult("aligned", 0, 1, (shape,)),),
        fault=Fault("SUMMARY", "TRACEBACK"),
    )
    view = student_view(report, level, title_of=title)  # type: ignore[arg-type]
    text = terminal.render(view, colour=False, width=100, unicode=True) + repr(view)
    for canary in ("SUMMARY", "TRACEBACK", "REASON", "4711", "815"):
        assert canary not in text
    assert hidden_sizes(report) == {(4711, 815, 99)}
    assert hidden_sizes(view) == frozenset()


def test_the_list_is_complete() -> None:
    """A field that is added to a report is not shown until somebody decides that it may be."""
    decided = """
        exercise title kind path outcome points possible pending status reason settings families checks
        questions diagnostics notes hint_level backend fault seconds
    """
    assert [field.name for field in fields(Report)] == decided.split()
    decided = "name severity headline frame seen because passed checked hints picture on_hidden_shape"
    assert [field.name for field in fields(Diagnostic)] == decided.split()
