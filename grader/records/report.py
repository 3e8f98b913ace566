"""What a grading ends in: outcome, points, diagnostics. Every writer draws from this alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from grader.records.corroboration import Counted, Sanitized
from grader.records.finding import Severity
from grader.records.gpu import Compilation, DeviceRun, Disagreement, Timing
from grader.records.span import Span


class Outcome(Enum):
    """How a grading ended. The value is the word in every writer."""

    PASS = "PASS"
    FAIL = "FAIL"
    CANNOT_JUDGE = "CANNOT JUDGE"
    HARNESS_FAULT = "HARNESS FAULT"

    @property
    def exit_code(self) -> int:
        """Exit status of ``grader check``: 0, 1, 3 or 4 (2 is a usage error)."""
        return {"PASS": 0, "FAIL": 1, "CANNOT JUDGE": 3, "HARNESS FAULT": 4}[self.value]


@dataclass(frozen=True, slots=True)
class Label:
    """A span of the submission and the remark drawn beneath it (which may be empty)."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of a file that a diagnostic shows.

    ``lines`` holds the source lines that the labels touch, with their numbers, in order; where
    numbers are not consecutive a writer draws a gap. The primary label is the place of the fault.
    """

    path: str
    primary: Label
    secondary: Label | None
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message to a student, in fixed parts.

    ``hints`` holds a question, a pointer and the action, in that order; a writer shows as many
    as the report's ``hint_level`` says. ``picture`` is a small drawing in plain characters.
    ``on_hidden_shape`` says that its figures belong to a launch shape that students are not told.
    """

    name: str
    severity: Severity
    headline: str
    frame: Frame | None = None
    seen: tuple[str, ...] = ()
    because: str = ""
    passed: str = ""
    checked: str = ""
    hints: tuple[str, ...] = ()
    picture: tuple[str, ...] = ()
    on_hidden_shape: bool = False


@dataclass(frozen=True, slots=True)
class ShapeResult:
    """One launch shape of a suite. ``dims`` are its named sizes, say ``{"M": 50, "N": 37, "K": 40}``.

    ``ran`` is False where the suite ended before this shape, which then neither passed nor failed.
    ``floats`` says that it was launched on floats, not on whole numbers alone.
    """

    family: str
    dims: Mapping[str, int]
    shown: bool
    passed: bool
    wrong: int = 0
    elements: int = 0
    ran: bool = True
    floats: bool = False


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """The shapes of one family together."""

    name: str
    passed: int
    total: int
    shapes: tuple[ShapeResult, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Points of one check of a rubric. ``detail`` is one short sentence with the measured figures."""

    name: str
    points: float
    possible: float
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question's grading.

    ``status`` is "right", "partly right", "wrong", "missing", "malformed" or "needs review"; the
    points of a "needs review" are neither won nor lost but ``pending``.
    """

    id: str
    title: str
    status: Literal["right", "partly right", "wrong", "missing", "malformed", "needs review"]
    points: float
    possible: float
    pending: float = 0.0
    message: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of the grader itself: what to report, never the student's doing."""

    summary: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of grading one submission to one exercise.

    ``diagnostics`` come in the order in which to fix them: the first is the cause, further ones
    are shown in a line each. ``reason`` is the one line that says why, for any outcome but PASS.
    ``status`` is "graded", or "not started" for an untouched or unfinished skeleton, which has
    its own friendly verdict (and outcome FAIL). ``settings`` are the student's constants, say
    ``{"TILE": 16}``. ``gpu`` says how running on a GPU went, ``disagreements`` where it and the machine
    differ, ``timings`` how fast it was, ``compiled`` what the compiler made of the kernel for each
    architecture, or ``not_compiled`` why it was not asked; ``sanitized`` and ``counted`` are what NVIDIA's
    tools say of launches on a GPU. ``seconds`` is wall time and not part of
    what makes two reports equal.
    """

    exercise: str
    title: str
    kind: Literal["kernel", "worksheet", "quiz"]
    path: str
    outcome: Outcome
    points: float = 0.0
    possible: float = 0.0
    pending: float = 0.0
    status: Literal["graded", "not started"] = "graded"
    reason: str = ""
    settings: Mapping[str, int] = field(default_factory=dict)
    families: tuple[FamilyResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    questions: tuple[QuestionResult, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    hint_level: int = 1
    backend: str = "machine"
    fault: Fault | None = None
    gpu: DeviceRun | None = None
    disagreements: tuple[Disagreement, ...] = ()
    timings: tuple[Timing, ...] = ()
    compiled: tuple[Compilation, ...] = ()
    not_compiled: str = ""
    sanitized: tuple[Sanitized, ...] = ()
    counted: tuple[Counted, ...] = ()
    seconds: float = field(default=0.0, compare=False)
