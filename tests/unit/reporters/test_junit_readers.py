"""JUnit files as CI servers read them: by the schema of Jenkins's xUnit plugin, by each reader's rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from grader.records import Report
from grader.reporters import junit
from tests.unit.reporters.samples import ALL, FAIL, PASS

SCHEMA = Path(__file__).parents[2] / "data" / "junit-10.xsd"
EVIL = replace(
    FAIL,
    path="eve\n<b>/02.py",
    reason="\x1b[31m ]]> & \ud800",
    diagnostics=(),
    title="<script>",
    seconds=1 / 3,
)
CLASS = [*ALL.values(), EVIL, *(replace(one, path=f"again/{one.path}") for one in ALL.values())]


@dataclass(frozen=True)
class Case:
    """What a reader takes of one case."""

    name: str
    status: str
    shown: str
    file: str | None = None
    line: int | None = None


def suites(text: str) -> list[ET.Element]:
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    return root.findall("testsuite")


def result(case: ET.Element) -> tuple[str, ET.Element | None]:
    for tag in ("failure", "error", "skipped"):
        if (found := case.find(tag)) is not None:
            return tag, found
    return "passed", None


def gitlab(text: str) -> dict[tuple[str, str], Case]:
    """Name and classname are the key, and of two the first stays; the element's text is what is shown."""
    assert len(text.encode()) < 30_000_000
    cases: dict[tuple[str, str], Case] = {}
    for suite in suites(text):
        for case in suite.findall("testcase"):
            status, element = result(case)
            shown = case.findtext("system-out", "") if element is None else element.text or ""
            key = case.attrib["classname"], case.attrib["name"]
            cases.setdefault(key, Case(key[1], status, shown, case.get("file")))
    return cases


def jenkins(text: str) -> dict[tuple[str, str, str], Case]:
    """The ``junit`` step: a case is found by suite, class and name; message and text are both shown."""
    cases: dict[tuple[str, str, str], Case] = {}
    for suite in suites(text):
        for case in suite.findall("testcase"):
            status, element = result(case)
            shown = "" if element is None else f"{element.get('message')}\n{element.text}"
            key = suite.attrib["name"], case.attrib["classname"], case.attrib["name"]
            cases[key] = Case(key[2], status, shown)
    return cases


def enrico(text: str) -> list[Case]:
    """EnricoMi's action annotates the file and line of each failure with its message and text."""
    found = []
    for suite in suites(text):
        for case in suite.findall("testcase"):
            status, element = result(case)
            if status in ("failure", "error"):
                assert element is not None
                shown = f"{element.attrib['message']}\n{element.text}"
                line = int(case.attrib["line"])
                found.append(Case(case.attrib["name"], status, shown, case.attrib["file"], line))
    return found


def dorny(text: str) -> dict[str, list[Case]]:
    """dorny's reporter lists suites by name; of a failure it shows the text alone."""
    found: dict[str, list[Case]] = {}
    for suite in suites(text):
        assert float(suite.attrib["time"]) >= 0
        for case in suite.findall("testcase"):
            status, element = result(case)
            shown = "" if element is None else element.text or ""
            kind = {"failure": "failed", "error": "failed"}.get(status, status)
            found.setdefault(suite.attrib["name"].strip(), []).append(
                Case(case.attrib["name"].strip(), kind, shown)
            )
    return found


def expected(reports: list[Report]) -> int:
    return sum(
        1 for report in reports for _ in ET.fromstring(junit.render([report]).encode()).iter("testcase")
    )


def test_every_reader_finds_every_case_of_a_class() -> None:
    text = junit.render(CLASS)
    count = expected(CLASS)
    assert count == 71
    assert len(gitlab(text)) == len(jenkins(text)) == count
    assert sum(len(cases) for cases in dorny(text).values()) == count
    failed = [case for case in gitlab(text).values() if case.status in ("failure", "error")]
    assert (
        len(enrico(text))
        == len(failed)
        == sum(case.status == "failed" for cases in dorny(text).values() for case in cases)
    )


def test_every_reader_sees_why() -> None:
    text = junit.render([FAIL])
    why = "stale-shared-read in line 41"
    verdict = gitlab(text)["tilegrade.02_ragged_dims", "verdict"]
    assert (verdict.status, verdict.file) == ("failure", FAIL.path)
    assert "still holds the previous k-tile" in verdict.shown
    (seen,) = [case for case in jenkins(text).values() if case.name == "verdict"]
    assert seen.shown.startswith(f"FAIL: {why}\n")
    first = enrico(text)[0]
    assert (first.name, first.file, first.line) == ("verdict", FAIL.path, 41)
    assert why in first.shown
    assert "still holds the previous k-tile" in dorny(text)[f"tilegrade.02_ragged_dims {FAIL.path}"][0].shown
    for case in enrico(text):
        assert case.line is not None
        assert case.line >= 1


def test_points_are_there_for_a_reader_that_skips_properties() -> None:
    passed = gitlab(junit.render([PASS], strict=True))["tilegrade.02_ragged_dims", "verdict"]
    assert passed.shown.startswith("92.5 of 100 points, 7.5 pending\n")


def complaints(text: str) -> list[str]:
    etree = pytest.importorskip("lxml.etree", reason="lxml is not installed")
    schema = etree.XMLSchema(etree.parse(str(SCHEMA)))
    schema.validate(etree.fromstring(text.encode()))
    return [error.message for error in schema.error_log]


@pytest.mark.parametrize("reports", [[one] for one in ALL.values()] + [CLASS, [], [EVIL]])
def test_strict_files_keep_to_the_schema(reports: list[Report]) -> None:
    assert complaints(junit.render(reports, strict=True)) == []


def test_the_others_add_file_line_and_properties_and_nothing_else() -> None:
    text = junit.render(CLASS)
    assert {message.replace("'", "").split(":")[0] for message in complaints(text)} == {
        "Element testcase, attribute file",
        "Element testcase, attribute line",
        "Element properties",
    }
    root = ET.fromstring(text.encode())
    for case in root.iter("testcase"):
        del case.attrib["file"], case.attrib["line"]
        if (properties := case.find("properties")) is not None:
            case.remove(properties)
    assert complaints(ET.tostring(root, encoding="unicode")) == []


def test_the_schema_would_tell() -> None:
    assert complaints('<testsuites><testsuite name="x" tests="1" failures="0"/></testsuites>') == [
        "Element 'testsuite': The attribute 'errors' is required but missing."
    ]


def test_a_file_too_large_is_shortened_in_two_steps() -> None:
    whole = junit.render(CLASS)
    verdicts = junit.render(CLASS, most=len(whole) - 1)
    names = {case.attrib["name"].split()[0] for case in ET.fromstring(verdicts.encode()).iter("testcase")}
    assert names == {"verdict"}
    assert "still holds the previous k-tile" in verdicts
    lines = junit.render(CLASS, most=2000)
    assert len(list(ET.fromstring(lines.encode()).iter("testcase"))) == len(CLASS)
    assert "still holds the previous k-tile" not in lines
    assert "FAIL: stale-shared-read in line 41" in lines
    assert complaints(junit.render(CLASS, most=2000, strict=True)) == []
