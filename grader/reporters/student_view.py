"""The one view of a report that a student may see; every writer for students draws from it.

It is an allow-list: a field that is not copied here is not shown. A message whose figures belong to
a hidden launch shape keeps its name, its general title and its place, and loses every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from grader.records import (
    CheckResult,
    Diagnostic,
    FamilyResult,
    Frame,
    Label,
    Outcome,
    QuestionResult,
    Report,
    ShapeResult,
)
from grader.reporters.student_gpu import compiled, device_run, mentions_hidden, safe, timed

__all__ = ["Level", "hidden_sizes", "mentions_hidden", "student_view"]

Level = Literal["none", "category", "full"]
_FAULT = "the grader failed; this is not in your code"


def student_view(
    report: Report,
    level: Level,
    *,
    title_of: Callable[[str], str],
    notes: Iterable[str] = (),
) -> Report:
    """Give what a student may see of a report.

    Parameters
    ----------
    level
        "none": outcome and points. "category": besides them each check, family and question with its
        points, and the names of the causes. "full": all messages, hidden shapes left out.
    title_of
        The general title of a diagnostic's name.
    notes
        Remarks of the batch for the student: lateness, a person's points.
    """
    shown = tuple(_shown(family) for family in report.families) if level != "none" else ()
    timings = tuple(timed(one) for one in report.timings if one.shown) if level == "full" else ()
    open_sizes = {tuple(shape.dims.values()) for family in shown for shape in family.shapes}
    open_sizes |= {tuple(timing.dims.values()) for timing in timings}
    diagnostics = _diagnostics(report, level, title_of, open_sizes)
    own_notes = tuple(note for note in report.notes if not mentions_hidden(note, open_sizes))
    return Report(
        exercise=report.exercise,
        title=report.title,
        kind=report.kind,
        path=report.path,
        outcome=report.outcome,
        points=report.points,
        possible=report.possible,
        pending=report.pending,
        status=report.status,
        reason=_reason(report, level, diagnostics, open_sizes),
        settings=dict(report.settings) if level != "none" else {},
        families=shown,
        checks=tuple(_check(check, open_sizes) for check in report.checks) if level != "none" else (),
        questions=tuple(_question(one, level) for one in report.questions) if level != "none" else (),
        diagnostics=diagnostics,
        notes=(*(own_notes if level == "full" else ()), *notes),
        hint_level=report.hint_level,
        backend=report.backend,
        gpu=device_run(report.gpu) if level == "full" and report.gpu is not None else None,
        disagreements=tuple(one for one in report.disagreements if level == "full" and one.shown),
        timings=timings,
        compiled=tuple(compiled(one, open_sizes) for one in report.compiled if level == "full"),
        not_compiled=safe(report.not_compiled, open_sizes) if level == "full" else "",
    )


def hidden_sizes(report: Report) -> frozenset[tuple[int, ...]]:
    """Give the sizes of the launch shapes of a report that students are not told."""
    shapes = [shape for family in report.families for shape in family.shapes]
    shown = {tuple(shape.dims.values()) for shape in shapes if shape.shown}
    return frozenset({tuple(shape.dims.values()) for shape in shapes if not shape.shown} - shown)


def _shown(family: FamilyResult) -> FamilyResult:
    shapes = tuple(
        ShapeResult(
            one.family, dict(one.dims), True, one.passed, one.wrong, one.elements, one.ran, one.floats
        )
        for one in family.shapes
        if one.shown
    )
    return FamilyResult(family.name, family.passed, family.total, shapes)


def _check(check: CheckResult, open_sizes: set[tuple[int, ...]]) -> CheckResult:
    detail = "" if mentions_hidden(check.detail, open_sizes) else check.detail
    return CheckResult(check.name, check.points, check.possible, check.passed, detail)


def _question(question: QuestionResult, level: Level) -> QuestionResult:
    message = question.message if level == "full" else ""
    return QuestionResult(
        question.id,
        question.title,
        question.status,
        question.points,
        question.possible,
        question.pending,
        message,
        question.line,
    )


def _diagnostics(
    report: Report, level: Level, title_of: Callable[[str], str], open_sizes: set[tuple[int, ...]]
) -> tuple[Diagnostic, ...]:
    if level == "none":
        return ()
    if level == "category":
        return tuple(Diagnostic(one.name, one.severity, title_of(one.name)) for one in report.diagnostics)
    return tuple(_diagnostic(one, report.hint_level, title_of, open_sizes) for one in report.diagnostics)


def _diagnostic(
    one: Diagnostic, hint_level: int, title_of: Callable[[str], str], open_sizes: set[tuple[int, ...]]
) -> Diagnostic:
    hints = tuple(one.hints[:hint_level])
    labels = [label.text for label in (one.frame.primary, one.frame.secondary) if label] if one.frame else []
    texts = (one.headline, one.because, one.passed, one.checked, *one.seen, *one.picture, *hints, *labels)
    if not one.on_hidden_shape and not any(mentions_hidden(text, open_sizes) for text in texts):
        return Diagnostic(
            one.name,
            one.severity,
            one.headline,
            one.frame,
            one.seen,
            one.because,
            one.passed,
            one.checked,
            hints,
            one.picture,
        )
    return Diagnostic(
        one.name,
        one.severity,
        title_of(one.name),
        _unlabelled(one.frame),
        ("on a hidden shape",),
        hints=tuple(hint for hint in hints if not mentions_hidden(hint, open_sizes)),
    )


def _unlabelled(frame: Frame | None) -> Frame | None:
    """A frame's lines and marks without the remarks, which give the figures of a thread."""
    if frame is None:
        return None
    second = None if frame.secondary is None else Label(frame.secondary.span, "")
    return Frame(frame.path, Label(frame.primary.span, ""), second, frame.lines)


def _reason(
    report: Report, level: Level, diagnostics: tuple[Diagnostic, ...], open_sizes: set[tuple[int, ...]]
) -> str:
    if report.outcome is Outcome.HARNESS_FAULT:
        return _FAULT
    if level == "none" or not report.reason:
        return ""
    if report.diagnostics and report.reason == report.diagnostics[0].headline:
        return diagnostics[0].headline
    if level == "category" or mentions_hidden(report.reason, open_sizes):
        return ""
    return report.reason
