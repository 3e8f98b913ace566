"""Frozen records that pass between the layers; imports nothing else of ours."""

from grader.records.finding import Dim3, Fact, Finding, Severity, Slot, Thread
from grader.records.report import (
    CheckResult,
    Diagnostic,
    FamilyResult,
    Fault,
    Frame,
    Label,
    Outcome,
    QuestionResult,
    Report,
    ShapeResult,
)
from grader.records.span import Span

__all__ = [
    "CheckResult",
    "Diagnostic",
    "Dim3",
    "Fact",
    "FamilyResult",
    "Fault",
    "Finding",
    "Frame",
    "Label",
    "Outcome",
    "QuestionResult",
    "Report",
    "Severity",
    "ShapeResult",
    "Slot",
    "Span",
    "Thread",
]
