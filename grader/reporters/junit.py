"""Reports as JUnit XML, for the readers of GitLab, Jenkins, GitHub actions and dorny's reporter.

Each report is one test suite: a case for the verdict, one for each check, family of shapes and
question. Messages stand in the attribute, on one line, and in the element's text, since readers
differ in which they show; points are properties and stand in the output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from xml.etree import ElementTree as ET

from grader.records import Report
from grader.reporters.junit_cases import Case, cases_of
from grader.reporters.style import number
from grader.reporters.xml_text import legal, one_line

__all__ = ["MalformedReportError", "render"]

_COUNTERS = ("errors", "failures", "tests")
#: Bytes that the document's own lines may take.
_FRAME = 200


class MalformedReportError(Exception):
    """What was written does not read back as what was meant: a fault of the grader."""


def render(reports: Sequence[Report], *, strict: bool = False, most: int | None = None) -> str:
    """Write reports as one JUnit file.

    Parameters
    ----------
    strict
        Leave out what the schema of Jenkins's xUnit plugin forbids: a case's file, line and properties.
        The points still stand in the output.
    most
        Bytes. A file that would be larger keeps the verdict of each report alone, and where that is still
        too large, the verdict's first line alone.

    Raises
    ------
    MalformedReportError
        The written file does not parse, or its counters are not those of its cases.
    """
    for shorten in (_all, _verdict_alone):
        written = _document(reports, shorten, strict=strict, most=most)
        if written is not None:
            return written
    written = _document(reports, _first_line, strict=strict, most=None)
    assert written is not None
    return written


_Shorten = Callable[[list[Case]], list[Case]]


def _all(cases: list[Case]) -> list[Case]:
    return cases


def _verdict_alone(cases: list[Case]) -> list[Case]:
    return cases[:1]


def _first_line(cases: list[Case]) -> list[Case]:
    return [replace(cases[0], text=cases[0].message)]


def _document(reports: Sequence[Report], shorten: _Shorten, *, strict: bool, most: int | None) -> str | None:
    """Write suite after suite, so that a class's whole tree is never in memory; None beyond ``most``."""
    lines: list[str] = []
    statuses: list[str] = []
    totals: Counter[str] = Counter()
    seconds, size = 0.0, _FRAME
    taken: set[tuple[str, str]] = set()
    for report in reports:
        cases = shorten(cases_of(report))
        suite = _suite(report, cases, taken, alone=len(reports) == 1, strict=strict)
        lines.append(f"  {ET.tostring(suite, encoding='unicode')}\n")
        size += len(lines[-1].encode())
        if most is not None and size > most:
            return None
        statuses += [case.status for case in cases]
        totals.update({name: int(suite.get(name, "0")) for name in _COUNTERS})
        seconds += report.seconds
    counters = " ".join(f'{name}="{totals[name]}"' for name in _COUNTERS)
    root = f'<testsuites {counters} time="{seconds:.3f}">\n'
    written = "".join(['<?xml version="1.0" encoding="utf-8"?>\n', root, *lines, "</testsuites>\n"])
    _verify(written, statuses)
    return written


def _suite(
    report: Report, cases: Sequence[Case], taken: set[tuple[str, str]], *, alone: bool, strict: bool
) -> ET.Element:
    """Give a report's element, its cases' properties added, indented as it stands in the file."""
    from junit_xml import TestSuite

    name = f"tilegrade.{one_line(report.exercise)}"
    classname = name if alone else f"{name}.{one_line(report.path).replace('.', '_')}"
    entries = _entries(cases, report, classname, taken, strict=strict)
    suite: ET.Element = TestSuite(f"{name} {one_line(report.path)}", entries).build_xml_doc()
    # The schema knows no disabled cases, and seconds to the millisecond.
    del suite.attrib["disabled"]
    suite.set("time", f"{report.seconds:.3f}")
    for element, case in zip(suite.iter("testcase"), cases, strict=True):
        if case.seconds:
            element.set("time", f"{case.seconds:.3f}")
        properties = _properties(case)
        if len(properties) and not strict:
            element.insert(0, properties)
    ET.indent(suite, level=1)
    return suite


def _properties(case: Case) -> ET.Element:
    properties = ET.Element("properties")
    for key in ("points", "possible", "pending"):
        value = getattr(case, key)
        if value is not None and case.points is not None:
            ET.SubElement(properties, "property", name=key, value=number(value))
    for name, text in case.properties:
        ET.SubElement(properties, "property", name=one_line(name), value=one_line(text))
    return properties


def _entries(
    cases: Iterable[Case], report: Report, classname: str, taken: set[tuple[str, str]], *, strict: bool
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
            file=None if strict else one_line(report.path, 4096),
            line=None if strict else case.line or 1,
            stdout=legal(case.output) or None,
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


class _Reader:
    """What a written file says, read as a stream: each case's status, and the sums of the counters."""

    def __init__(self) -> None:
        self.statuses: list[tuple[str, str]] = []
        self.totals: Counter[str] = Counter()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testcase":
            self.statuses.append((attributes["name"], "passed"))
        elif tag == "testsuite":
            self.totals.update({name: int(attributes[name]) for name in ("failures", "errors", "skipped")})
        elif tag in ("failure", "error", "skipped"):
            self.statuses[-1] = (self.statuses[-1][0], tag)

    def end(self, tag: str) -> None:
        """Nothing is to be done at an end."""

    def close(self) -> None:
        """Nothing is to be done at the end of all."""


def _verify(written: str, statuses: Sequence[str]) -> None:
    """Read the whole back and compare it with what was meant."""
    reader = _Reader()
    parser = ET.XMLParser(target=reader)  # noqa: S314 - our own text, without entities
    try:
        parser.feed(written.encode())
        parser.close()
    except (ET.ParseError, UnicodeEncodeError) as error:
        raise MalformedReportError(f"the JUnit file does not parse: {error}") from error
    for (name, found), status in zip(reader.statuses, statuses, strict=True):
        if found != status:
            raise MalformedReportError(f"case {name} reads back as {found}, not {status}")
    for counter, status in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        if reader.totals[counter] != statuses.count(status):
            raise MalformedReportError(f"counter {counter} says {reader.totals[counter]}")
