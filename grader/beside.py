"""What is said about a kernel beside the machine's judgement: by the compiler and by NVIDIA's tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import PurePath

from grader.checks.device_trials import Request, requests
from grader.compilation import with_compilation
from grader.diagnosis.corroboration import sanitizer_note
from grader.gpu.counters import counters_reason, measure
from grader.gpu.options import Beside
from grader.gpu.sanitizer import sanitize, sanitizer_reason
from grader.grade_kernel import Judged
from grader.records import Counted, Outcome, Report
from grader.rubric.model import Rubric
from grader.simt.plan import Plan, plan
from grader.simt.tally import Counters

__all__ = ["with_beside"]

#: Launches under each tool: they are slow, and a fault that a shown shape does not show is the machine's.
MOST_LAUNCHES = 3


def with_beside(rubric: Rubric, report: Report, judged: Judged, beside: Beside) -> Report:
    """The report with all that ``beside`` asks for."""
    if beside.archs:
        report = with_compilation(rubric, report, judged, beside)
    if beside.sanitizer:
        report = _with_sanitizer(report, judged)
    if beside.counters:
        report = _with_counters(report, judged)
    return report


def _planned(report: Report, judged: Judged) -> Plan | str:
    """The kernel's plan, or why there is none."""
    if judged.launcher is None:
        return "the kernel was not launched"
    found = plan(judged.program, judged.launcher.kernel.name, file=PurePath(report.path).name)
    return found if isinstance(found, Plan) else "the kernel uses what cannot be rebuilt for a GPU"


def _launches(judged: Judged) -> list[Request]:
    """The shown shapes' launches on whole numbers, else the first there are."""
    assert judged.launcher is not None
    asked = requests(judged.launcher, judged.shapes)
    chosen = [one for one in asked if one.shape.shown and one.arguments.exact] or asked
    return chosen[:MOST_LAUNCHES]


def _cannot(report: Report, asked: str, reason: str) -> Report:
    """What was asked for cannot be had: no verdict, as where a GPU was asked for and there is none."""
    return replace(report, outcome=Outcome.CANNOT_JUDGE, reason=f"{asked}: {reason}")


def _with_sanitizer(report: Report, judged: Judged) -> Report:
    planned = _planned(report, judged)
    reason = sanitizer_reason() or (planned if isinstance(planned, str) else "")
    if reason or isinstance(planned, str):
        return _cannot(report, "--sanitizer", reason)
    found = sanitize(planned.request(), [one.launch for one in _launches(judged)])
    report = replace(report, sanitized=found)
    families = {one.name for one in judged.findings if one.severity in ("error", "warning")}
    note = sanitizer_note(found, families)
    if note:
        report = replace(report, notes=(*report.notes, note))
    if report.outcome is Outcome.PASS and any(one.errors or one.problem for one in found):
        return replace(
            report, outcome=Outcome.CANNOT_JUDGE, reason=note or f"--sanitizer: {found[0].problem}"
        )
    return report


def _with_counters(report: Report, judged: Judged) -> Report:
    planned = _planned(report, judged)
    reason = counters_reason() or (planned if isinstance(planned, str) else "")
    if reason or isinstance(planned, str):
        return _cannot(report, "--counters", reason)
    request = _launches(judged)[0]
    (measured,) = measure(planned.request(), [request.launch])
    if measured.problem:
        return _cannot(report, "--counters", measured.problem)
    trial = next((one for one in judged.trials if one.shape is request.shape and one.passes), None)
    if trial is None:
        return _cannot(report, "--counters", "the machine has not launched that shape")
    return replace(report, counted=counted(trial.passes[0].run.counters, measured.figures))


def counted(counters: Counters, figures: Mapping[str, float]) -> tuple[Counted, ...]:
    """The figures that both have, in the machine's order."""
    return tuple(
        Counted(one.name, int(getattr(counters, one.name)), round(figures[one.name]))
        for one in fields(counters)
        if one.name in figures
    )
