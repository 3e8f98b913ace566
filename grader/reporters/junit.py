"""Reports as JUnit XML, for the readers of GitLab, Jenkins, GitHub actions and dorny's reporter.

Each report is one test suite: a case for the verdict, one for each check, family of shapes and
question. Messages stand in the attribute, on one line, and in the element's text, since readers
differ in which they show; points are properties and stand in the output.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from grader.records import Outcome, QuestionResult, Report
from grader.reporters import terminal
from grader.reporters.style import number
from grader.reporters.tables import dims, family_title
from grader.reporters.xml_text import legal, one_line

_WIDTH = 100


class MalformedReportError(Exception):
    """What was written does not read back as what was meant: a fault of the grader."""


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    status: Literal["passed", "failure", "error", "skipped"]
    message: str = ""
    text: str = ""
    line: int | None = None
    seconds: float | None = None
    points: float | None = None
    possible: float | None = None
    pending: float = 0.0


def render(reports: Sequence[Report]) -> str:
    """Write reports as one JUnit file.

    Raises
    ------
    MalformedReportError
        The written file does not parse, or its counters are not those of its cases.
    """
    from junit_xml import TestSuite, to_xml_report_string

    suites, cases = [], []
    taken: set[tuple[str, str]] = set()
    for report in reports:
        mine = _cases(report)
        name = f"tilegrade.{one_line(report.exercise)}"
        classname = name if len(reports) == 1 else f"{name}.{one_line(report.path).replace('.', '_')}"
        suites.append(TestSuite(f"{name} {one_line(report.path)}", _entries(mine, report, classname, taken)))
        cases += mine
    text: str = to_xml_report_string(suites, prettyprint=False, encoding="utf-8")
    return _finish(text, cases)


def _cases(report: Report) -> list[_Case]:
    cases = [_verdict(report)]
    for check in report.checks:
        text = check.detail or f"{number(check.points)} of {number(check.possible)} points"
        status: Literal["passed", "failure"] = "passed" if check.passed else "failure"
        cases.append(
            _Case(f"check {check.name}", status, text, text, points=check.points, possible=check.possible)
        )
    for family in report.families:
        tally = f"{family.passed} of {family.total} shapes right"
        wrong = [
            f"{dims(s)}: {s.wrong} of {s.elements} elements wrong" for s in family.shapes if not s.passed
        ]
        status = "passed" if family.passed == family.total else "failure"
        cases.append(_Case(f"shapes {family_title(family.name)}", status, tally, "\n".join([tally, *wrong])))
    return cases + [_question(question) for question in report.questions]


def _verdict(report: Report) -> _Case:
    status: Literal["passed", "failure", "error"] = "passed"
    if report.outcome is not Outcome.PASS:
        status = "failure" if report.outcome is Outcome.FAIL else "error"
    first = report.diagnostics[0] if report.diagnostics else None
    why = report.reason or (f"{first.name}: {first.headline}" if first else "")
    message = f"{report.outcome.value}: {why}" if why else report.outcome.value
    line = first.frame.primary.span.line if first is not None and first.frame is not None else None
    return _Case(
        "verdict",
        status,
        message,
        terminal.render(report, colour=False, width=_WIDTH, unicode=True),
        line,
        report.seconds,
        report.points,
        report.possible,
        report.pending,
    )


def _question(question: QuestionResult) -> _Case:
    status: Literal["passed", "failure", "skipped"] = "passed" if question.status == "right" else "failure"
    if question.status == "needs review":
        status = "skipped"
    message = f"{question.title}: {question.message or question.status}"
    return _Case(
        f"question {question.id}",
        status,
        message,
        message,
        question.line,
        points=question.points,
        possible=question.possible,
        pending=question.pending,
    )


def _entries(
    cases: Iterable[_Case], report: Report, classname: str, taken: set[tuple[str, str]]
) -> list[object]:
    from junit_xml import TestCase

    entries: list[object] = []
    for case in cases:
        name = base = one_line(case.name)
        count = 1
        while (classname, name) in taken:
            count += 1
            name = f"{base} ({count})"
        taken.add((classname, name))
        # junit-xml takes a line of 0 and an empty message for absent.
        entry = TestCase(
            name,
            classname,
            elapsed_sec=case.seconds,
            file=one_line(report.path, 4096),
            line=case.line or 1,
            stdout=legal(_output(case)) or None,
        )
        message, text = one_line(case.message) or case.status, legal(case.text) or case.status
        if case.status == "failure":
            entry.add_failure_info(message, text)
        elif case.status == "error":
            entry.add_error_info(message, text)
        elif case.status == "skipped":
            entry.add_skipped_info(message, text)
        entries.append(entry)
    return entries


def _output(case: _Case) -> str:
    points = ""
    if case.points is not None and case.possible is not None:
        points = f"{number(case.points)} of {number(case.possible)} points"
        points += f", {number(case.pending)} pending" if case.pending else ""
    # A failure's text stands in the failure itself.
    return "\n".join(part for part in (points, case.text if case.status == "passed" else "") if part)


def _finish(text: str, cases: Sequence[_Case]) -> str:
    """Add each case's properties, then read the whole back and compare it with what was meant."""
    root = ET.fromstring(text)  # noqa: S314 - our own text, without entities
    for element, case in zip(root.iter("testcase"), cases, strict=True):
        properties = ET.Element("properties")
        for key in ("points", "possible", "pending"):
            value = getattr(case, key)
            if value is not None and case.points is not None:
                ET.SubElement(properties, "property", name=key, value=number(value))
        if len(properties):
            element.insert(0, properties)
    ET.indent(root)
    written = '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    _verify(written, cases)
    return written


def _verify(written: str, cases: Sequence[_Case]) -> None:
    try:
        root = ET.fromstring(written.encode())  # noqa: S314 - as above
    except (ET.ParseError, UnicodeEncodeError) as error:
        raise MalformedReportError(f"the JUnit file does not parse: {error}") from error
    for element, case in zip(root.iter("testcase"), cases, strict=True):
        found = next(
            (tag for tag in ("failure", "error", "skipped") if element.find(tag) is not None), "passed"
        )
        if found != case.status:
            raise MalformedReportError(f"case {case.name} reads back as {found}, not {case.status}")
    for counter, status in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counted = sum(int(suite.get(counter, "0")) for suite in root.iter("testsuite"))
        if counted != sum(case.status == status for case in cases):
            raise MalformedReportError(f"counter {counter} says {counted}")
