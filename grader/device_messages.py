"""Messages about a run on the GPU, put into a report: errors of its own first, what is explained last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.diagnosis import explain
from grader.diagnosis.device import run_note
from grader.grade_kernel import Judged
from grader.kernel_messages import base_context, curtailed
from grader.records import Diagnostic, Finding, Outcome, Report, ShapeResult
from grader.rubric.model import Rubric

__all__ = ["with_messages"]


def with_messages(rubric: Rubric, report: Report, judged: Judged, findings: Sequence[Finding]) -> Report:
    """A report with the messages on its run on the GPU, and the line that says how the run went."""
    told = [_explained(rubric, report, judged, finding) for finding in findings]
    first = tuple(one for one in told if one.severity == "error")
    last = tuple(one for one in told if one.severity != "error")
    if rubric.feedback == "none":
        first, last = (), ()
    diagnostics = (*first, *report.diagnostics, *last)
    note = run_note(report.gpu) if report.gpu is not None else ""
    report = replace(report, diagnostics=diagnostics, notes=(*report.notes, *([note] if note else [])))
    return replace(report, reason=_reason(report))


def _reason(report: Report) -> str:
    """The first message's headline where that speaks of the GPU; else what the machine's report says."""
    if report.outcome is Outcome.PASS:
        return ""
    first = report.diagnostics[0] if report.diagnostics else None
    if first is not None and first.severity == "error":
        return first.headline
    if report.outcome is Outcome.CANNOT_JUDGE and report.gpu is not None and not report.reason:
        return run_note(report.gpu)
    return report.reason or (run_note(report.gpu) if report.gpu is not None else "")


def _explained(rubric: Rubric, report: Report, judged: Judged, finding: Finding) -> Diagnostic:
    """One finding as a message, with the figures of its own shape."""
    context = base_context(rubric, report.path, judged.program, report.families, judged.constants)
    shape = _shape(judged, finding)
    context = replace(context, shape=shape, failing=(), passing=(), families=())
    message = replace(explain(finding, context), on_hidden_shape=shape is not None and not shape.shown)
    return curtailed(message) if rubric.feedback == "category" else message


def _shape(judged: Judged, finding: Finding) -> ShapeResult | None:
    dims, family = finding.facts.get("shape"), finding.facts.get("family")
    for shape in judged.shapes:
        if shape.family == family and tuple(shape.dims.items()) == dims:
            return ShapeResult(shape.family, shape.dims, shape.shown, passed=False)
    return None
