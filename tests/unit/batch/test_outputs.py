from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from grader.batch import outputs as module
from grader.batch.outputs import outputs
from grader.records import CheckResult, Outcome, Report, Timing
from grader.reporters.classroom import ClassRecord, ExerciseInfo, Grade, Student

INFO = ExerciseInfo("02", "Two", "02.py", 100)
REPORT = Report(
    "02", "Two", "kernel", "02.py", Outcome.FAIL, points=30, possible=100, reason="why",
    checks=(CheckResult("result", 30, 100, False, "some"),),
)  # fmt: skip


def record() -> ClassRecord:
    students = [Student(f"s{i}", pseudonym=f"student-{i}x") for i in range(3)]
    grades = tuple(Grade(one, INFO, REPORT, REPORT, handed_in=True, final=30) for one in students)
    return ClassRecord("T", (INFO,), grades)


def cases(text: str) -> list[tuple[str | None, str | None]]:
    return [(case.get("classname"), case.get("name")) for case in ET.fromstring(text).iter("testcase")]


def test_every_file_of_a_class() -> None:
    files = dict(outputs(record(), held=False, junit_per_student=True))
    assert {name.split("/")[0] for name in files} == {
        "junit.xml", "grades.csv", "canvas.csv", "moodle.csv", "problems.csv", "pending.csv", "report.html",
        "feedback", "junit", "gradescope", "prairielearn",
    }  # fmt: skip
    assert len(cases(files["junit.xml"])) == 6
    assert len(cases(files["junit/s1.xml"])) == 2
    assert "s1" not in files["junit.xml"].replace("student-1x", "")


def test_what_the_compiler_says_has_a_file_where_it_was_asked() -> None:
    plain = dict(outputs(record(), held=False))
    asked = dict(outputs(replace(record(), archs=("sm_90",)), held=False))
    assert set(asked) - set(plain) == {"compiled.csv"}
    assert asked["compiled.csv"].count("the grading ended before") == 3
    assert 'id="compiled"' in asked["report.html"]
    assert 'id="compiled"' not in plain["report.html"]


def test_times_are_in_no_file_that_is_compared() -> None:
    timed = replace(REPORT, timings=(Timing({"M": 1000}, True, 0.123456, 0.01, 5, 1),))
    grades = tuple(replace(one, report=timed, view=timed) for one in record().grades)
    for name, text in outputs(replace(record(), grades=grades), held=False, junit_per_student=True):
        assert "0.123456"[:6] not in text, name


def test_names_only_where_they_are_asked_for() -> None:
    assert "student-1x" not in dict(outputs(record(), held=False, names=True))["junit.xml"]


def test_a_junit_file_too_large_for_a_ci_server_keeps_the_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_JUNIT", 1000)
    kept = cases(dict(outputs(record(), held=False))["junit.xml"])
    assert [name for _, name in kept] == ["verdict"] * 3
    assert len(set(kept)) == 3
