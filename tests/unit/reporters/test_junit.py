from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.records import CheckResult, Outcome, Report
from grader.reporters import junit
from grader.reporters.xml_text import LONGEST, legal, one_line
from tests.unit.reporters.samples import ALL, CANNOT_JUDGE, FAIL, HARNESS_FAULT, NOT_STARTED, PASS

GOLDEN = Path(__file__).parent / "golden"


def read(*reports: Report) -> ET.Element:
    return ET.fromstring(junit.render(reports).encode())


def case(root: ET.Element, name: str) -> ET.Element:
    (found,) = [element for element in root.iter("testcase") if element.get("name") == name]
    return found


@pytest.mark.parametrize("name", ["fail", "pass"])
def test_rendering_is_the_golden_one(name: str, golden) -> None:  # type: ignore[no-untyped-def]
    golden(GOLDEN / f"{name}.xml", junit.render([ALL[name]]))


@pytest.mark.parametrize(
    ("report", "tag"),
    [(FAIL, "failure"), (NOT_STARTED, "failure"), (CANNOT_JUDGE, "error"), (HARNESS_FAULT, "error")],
)
def test_whatever_is_no_pass_has_an_element_that_says_so(report: Report, tag: str) -> None:
    found = case(read(report), "verdict").find(tag)
    assert found is not None
    assert found.get("message", "").startswith(f"{report.outcome.value}: ")
    assert report.exercise in (found.text or "")


def test_a_pass_has_none() -> None:
    verdict = case(read(PASS), "verdict")
    assert [child.tag for child in verdict] == ["properties", "system-out"]


def test_the_counters_are_those_of_the_cases() -> None:
    suite = read(FAIL).find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "13",
        "failures": "8",
        "errors": "0",
        "skipped": "0",
    }


def test_the_message_is_in_the_attribute_on_one_line_and_in_the_text() -> None:
    check = case(
        read(replace(FAIL, checks=(CheckResult("result", 0, 5, False, "two\nlines"),))), "check result"
    )
    (failure,) = check.findall("failure")
    assert failure.get("message") == "two lines"
    assert failure.text == "two\nlines"


@pytest.mark.parametrize(("name", "line"), [("verdict", "41"), ("question q1", "60"), ("check result", "1")])
def test_every_case_names_its_file_and_line(name: str, line: str) -> None:
    found = case(read(FAIL), name)
    assert (found.get("file"), found.get("line")) == ("exercises/02_ragged_dims.py", line)


def test_points_are_properties_and_stand_in_the_output() -> None:
    verdict = case(read(PASS), "verdict")
    properties = {p.get("name"): p.get("value") for p in verdict.iter("property")}
    assert properties == {"points": "92.5", "possible": "100", "pending": "7.5"}
    assert verdict.findtext("system-out", "").startswith("92.5 of 100 points, 7.5 pending\n")


def test_an_answer_that_waits_for_a_person_is_skipped_with_its_reason() -> None:
    (skipped,) = case(read(PASS), "question q2").findall("skipped")
    assert skipped.get("message") == "What does an unguarded store do?: needs review"


def test_names_are_unique_even_where_a_rubric_repeats_them() -> None:
    twice = replace(FAIL, checks=(CheckResult("result", 1, 1, True), CheckResult("result", 0, 1, False)))
    root = read(twice, twice, replace(twice, path="other/02_ragged_dims.py"))
    names = [(c.get("classname"), c.get("name")) for c in root.iter("testcase")]
    assert len(set(names)) == len(names) == 36


def test_a_failure_without_any_text_is_still_a_failure() -> None:
    bare = Report("x", "", "quiz", "x.py", Outcome.FAIL, checks=(CheckResult("c", 0, 0, passed=False),))
    root = read(bare)
    assert case(root, "verdict").find("failure") is not None
    assert case(root, "check c").find("failure") is not None


@given(st.text(st.characters(codec=None), max_size=60))
def test_any_text_makes_a_file_that_reads_back(text: str) -> None:
    report = replace(
        FAIL, reason=text, exercise=text, path=text, checks=(CheckResult(text, 0, 1, False, text),)
    )
    assert sum(1 for _ in read(report).iter("testcase")) == 11


def test_forbidden_characters_are_spelled_out() -> None:
    assert legal("a\x1b[31m\ud800\ufffe\t\n\U0001f600") == "a#x1B[31m#xD800#xFFFE\t\n\U0001f600"


def test_an_endless_text_is_cut_and_says_so() -> None:
    cut = legal("x" * (LONGEST + 7))
    assert cut.endswith("\n... (7 characters more)")
    assert len(one_line("y " * 900)) == 500


def test_a_file_that_does_not_read_back_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "legal", lambda text: text)
    monkeypatch.setattr("junit_xml.TestCase.add_failure_info", lambda *_: None)
    with pytest.raises(junit.MalformedReportError, match=re.escape("case verdict reads back as passed")):
        junit.render([FAIL])
