"""Frozen records that pass between the layers; imports nothing else of ours."""

from grader.records.corroboration import Counted, Sanitized, SanitizerTool
from grader.records.finding import Dim3, Fact, Finding, Severity, Slot, Thread
from grader.records.gpu import Compilation, DeviceRun, Disagreement, Timing
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
    "Compilation",
    "Counted",
    "DeviceRun",
    "Diagnostic",
    "Dim3",
    "Disagreement",
    "Fact",
    "FamilyResult",
    "Fault",
    "Finding",
    "Frame",
    "Label",
    "Outcome",
    "QuestionResult",
    "Report",
    "Sanitized",
    "SanitizerTool",
    "Severity",
    "ShapeResult",
    "Slot",
    "Span",
    "Thread",
    "Timing",
]
