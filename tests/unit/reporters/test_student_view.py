from __future__ import annotations

from dataclasses import fields, replace

import pytest

from grader.records import (
    Compilation,
    DeviceRun,
    Diagnostic,
    Disagreement,
    FamilyResult,
    Fault,
    Outcome,
    Report,
    ShapeResult,
    Timing,
)
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


@pytest.mark.parametrize("level", ["none", "category", "full"])
def test_of_a_run_on_a_gpu_the_tally_and_what_is_shown_remain(level: str) -> None:
    run = DeviceRun("NVIDIA H200", 28, 29, sandboxed=True, fault="gpu-child-lost", detail="M = 4711")
    open_one = Disagreement("aligned", {"M": 8}, True, "exact", 0, 1, 64)
    hidden = Disagreement("aligned", {"M": 4711}, False, "exact", 0, 1, 64)
    report = Report(
        *("EXERCISE", "TITLE", "kernel", "PATH", Outcome.FAIL), gpu=run, disagreements=(open_one, hidden)
    )
    view = student_view(report, level, title_of=title)  # type: ignore[arg-type]
    assert "4711" not in repr(view)
    assert view.disagreements == ((open_one,) if level == "full" else ())
    assert (view.gpu is not None and view.gpu.right == 28) == (level == "full")


@pytest.mark.parametrize("level", ["none", "category", "full"])
def test_what_the_compiler_says_is_the_students_own(level: str) -> None:
    good = Compilation("sm_90", 32, shared_bytes=2048, warps=64, most_warps=64, occupancy=1.0)
    refused = Compilation("sm_75", error="no matching overload", error_kind="refused", line=43)
    report = Report(*("EXERCISE", "TITLE", "kernel", "PATH", Outcome.FAIL), compiled=(good, refused))
    view = student_view(report, level, title_of=title)  # type: ignore[arg-type]
    assert view.compiled == ((good, refused) if level == "full" else ())
    view = student_view(replace(report, not_compiled="WHY"), level, title_of=title)  # type: ignore[arg-type]
    assert view.not_compiled == ("WHY" if level == "full" else "")


@pytest.mark.parametrize(
    "reason",
    [
        "RuntimeError: Failed to dlopen /home/prof/venv/libnvvm.so.4: no such file",
        "the compiler cannot be used: OSError: '/packages/cuda' is not there",
        "a launch of 48 x 16 x 32 needs more",
        r"FileNotFoundError: C:\\Users\\prof\\cuda",
    ],
)
def test_a_compilers_word_on_our_machine_or_a_hidden_shape_is_not_told(reason: str) -> None:
    broken = Compilation("sm_90", error=reason, error_kind="compiler")
    report = Report(
        *("EXERCISE", "TITLE", "kernel", "PATH", Outcome.FAIL), compiled=(broken,), not_compiled=reason
    )
    view = student_view(report, "full", title_of=title)
    assert (view.compiled[0].error, view.not_compiled) == ("your instructor can see why",) * 2
    assert view.compiled[0].error_kind == "compiler"


def test_the_list_is_complete() -> None:
    """A field that is added to a report is not shown until somebody decides that it may be."""
    decided = """
        exercise title kind path outcome points possible pending status reason settings families checks
        questions diagnostics notes hint_level backend fault gpu disagreements timings compiled not_compiled
        sanitized counted seconds
    """
    assert [field.name for field in fields(Report)] == decided.split()
    decided = """
        arch registers spill_store_bytes spill_load_bytes stack_bytes shared_bytes constant_bytes ptx_bytes
        cubin_bytes warps most_warps occupancy limited_by error error_kind line
    """
    assert [field.name for field in fields(Compilation)] == decided.split()
    decided = """
        dims shown milliseconds spread repeats flops floor_milliseconds library_milliseconds clock_mhz device
        rejected quartiles least error dtype no_library highest_clock_mhz rejected_at wrong_rows
    """
    assert [field.name for field in fields(Timing)] == decided.split()
    decided = "name severity headline frame seen because passed checked hints picture on_hidden_shape"
    assert [field.name for field in fields(Diagnostic)] == decided.split()
