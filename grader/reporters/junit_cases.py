"""What of a report is a JUnit case: the verdict, each check, family of shapes and question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grader.records import Outcome, QuestionResult, Report
from grader.reporters import terminal
from grader.reporters.compiled_text import compiled_properties
from grader.reporters.style import number
from grader.reporters.tables import dims, family_title, shapes_right
from grader.reporters.timing_text import timing_properties

__all__ = ["Case", "cases_of"]

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Case:
    """One case. Points are None where it carries none, ``line`` and ``seconds`` where there is none.

    ``properties`` are further names and values.
    """

    name: str
    status: Literal["passed", "failure", "error", "skipped"]
    message: str = ""
    text: str = ""
    line: int | None = None
    seconds: float | None = None
    points: float | None = None
    possible: float | None = None
    pending: float = 0.0
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def output(self) -> str:
        """The points as text; and the text of a case that passed, since a failure has its own."""
        points = ""
        if self.points is not None and self.possible is not None:
            points = f"{number(self.points)} of {number(self.possible)} points"
            points += f", {number(self.pending)} pending" if self.pending else ""
        return "\n".join(part for part in (points, self.text if self.status == "passed" else "") if part)


def cases_of(report: Report) -> list[Case]:
    """Give a report's cases, the verdict first."""
    cases = [_verdict(report)]
    for check in report.checks:
        text = check.detail or f"{number(check.points)} of {number(check.possible)} points"
        status: Literal["passed", "failure"] = "passed" if check.passed else "failure"
        cases.append(
            Case(f"check {check.name}", status, text, text, points=check.points, possible=check.possible)
        )
    for family in report.families:
        tally = shapes_right(family)
        wrong = [
            f"{dims(s)}: {s.wrong} of {s.elements} elements wrong" if s.elements else f"{dims(s)}: not run"
            for s in family.shapes
            if not s.passed
        ]
        status = "passed" if family.passed == family.total else "failure"
        cases.append(Case(f"shapes {family_title(family.name)}", status, tally, "\n".join([tally, *wrong])))
    return cases + [_question(question) for question in report.questions]


def _verdict(report: Report) -> Case:
    status: Literal["passed", "failure", "error"] = "passed"
    if report.outcome is not Outcome.PASS:
        status = "failure" if report.outcome is Outcome.FAIL else "error"
    first = report.diagnostics[0] if report.diagnostics else None
    why = report.reason or (f"{first.name}: {first.headline}" if first else "")
    message = f"{report.outcome.value}: {why}" if why else report.outcome.value
    line = first.frame.primary.span.line if first is not None and first.frame is not None else None
    return Case(
        "verdict",
        status,
        message,
        terminal.render(report, colour=False, width=_WIDTH, unicode=True),
        line,
        report.seconds,
        report.points,
        report.possible,
        report.pending,
        (*timing_properties(report), *compiled_properties(report)),
    )


def _question(question: QuestionResult) -> Case:
    status: Literal["passed", "failure", "skipped"] = "passed" if question.status == "right" else "failure"
    if question.status == "needs review":
        status = "skipped"
    message = f"{question.title}: {question.message or question.status}"
    return Case(
        f"question {question.id}",
        status,
        message,
        message,
        question.line,
        points=question.points,
        possible=question.possible,
        pending=question.pending,
    )
