from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from grader.batch.assignment import Assignment, Late
from grader.batch.discovery import Submission
from grader.batch.grading import Grading, pseudonyms
from grader.records import Outcome, Report
from grader.reporters import feedback
from grader.reporters.autograder_json import prairielearn
from grader.reporters.classroom import ExerciseInfo, Grade, Override, Student
from grader.reporters.grade_tables import remark

DEADLINE = datetime(2026, 11, 30, tzinfo=UTC)
INFO = ExerciseInfo("02", "Two", "02.py", 100)
ADA = Student("ada")


def graded(
    hours: float, points: float, attempt: int = 0, outcome: Outcome = Outcome.FAIL
) -> tuple[Submission, Report]:
    at = (DEADLINE + timedelta(hours=hours)).timestamp()
    submission = Submission(ADA, "02", f"ada/{attempt}/02.py", attempt, at, False, bytes)
    return submission, Report(
        "02", "Two", "kernel", "02.py", outcome, points=points, possible=100, reason="why"
    )


def grade(
    *attempts: tuple[Submission, Report], overrides: tuple[Override, ...] = (), **settings: object
) -> Grade:
    assignment = Assignment(deadline=DEADLINE, **settings)  # type: ignore[arg-type]
    (one,) = Grading(assignment, {"02": INFO}, "full", overrides).grades(attempts, [ADA])
    return one


def test_the_last_attempt_counts_unless_the_best_is_asked_for() -> None:
    attempts = graded(-3, 80, 1), graded(-2, 60, 2)
    assert grade(*attempts).final == 60
    assert grade(*attempts, attempts="best").final == 80
    assert grade(*attempts).attempts == 2


def test_the_best_attempt_is_the_best_after_lateness() -> None:
    late = Late("per-day", 50)
    chosen = grade(graded(-1, 60, 1), graded(1, 90, 2), attempts="best", late=late)
    assert (chosen.final, chosen.penalty) == (60, 0)
    assert grade(graded(1, 90), late=late).view.notes == ("handed in 1 h late; 45 points are taken off",)


@pytest.mark.parametrize("outcome", [Outcome.CANNOT_JUDGE, Outcome.HARNESS_FAULT])
def test_what_could_not_be_judged_has_no_number(outcome: Outcome) -> None:
    assert grade(graded(-1, 0, outcome=outcome)).final is None
    given = (Override("ada", "02", "", 40, "read by hand", "kim"),)
    assert grade(graded(-1, 0, outcome=outcome), overrides=given).final == 40


def test_nothing_handed_in_is_missing_and_no_pass() -> None:
    one = grade()
    assert (one.outcome, one.final, one.handed_in) == ("MISSING", None, False)
    assert one.view.outcome is Outcome.FAIL


def test_points_for_somebody_unknown_are_listed() -> None:
    grading = Grading(Assignment(), {"02": INFO}, "full", (Override("eve", "02", "", 1, "r", "kim"),))
    grading.grades([], [ADA])
    assert [(one.kind, one.where) for one in grading.problems] == [("override", "eve")]


def test_a_late_mark_of_the_campus_system_without_a_late_date_is_listed() -> None:
    submission, report = graded(-1, 50)
    marked = Submission(ADA, "02", "ada/02.py", 0, submission.modified, True, bytes)
    grading = Grading(Assignment(deadline=DEADLINE, late=Late("cut-off")), {"02": INFO}, "full")
    (one,) = grading.grades([(marked, report)], [ADA])
    assert one.final == 50
    assert [problem.kind for problem in grading.problems] == ["marked-late"]


def test_pseudonyms_hang_on_the_secret() -> None:
    one, other = (pseudonyms(["ada", "bob"], secret) for secret in (b"1", b"2"))
    assert len({*one.values(), *other.values()}) == 4
    assert all(name.startswith("student-") for name in one.values())


def test_a_person_may_give_points_for_what_was_not_handed_in() -> None:
    given = (Override("ada", "02", "", 12, "on paper", "kim"),)
    one = grade(overrides=given)
    assert (one.final, one.outcome) == (12, "MISSING")
    assert remark(one) == (
        "Nothing was handed in. 12 of 100 points.\nthe whole exercise: points given by a person: on paper"
    )
    for page in feedback.pages("A class", [one]):
        assert "12 of 100 points" in page.replace("\\", "")
        assert "points given by a person: on paper" in page
    assert json.loads(prairielearn(one)) | {"output": "", "tests": []} == {
        "gradable": True,
        "score": 0.12,
        "output": "",
        "tests": [],
    }


def test_points_for_a_part_of_what_was_not_handed_in_are_a_problem_and_not_promised() -> None:
    grading = Grading(Assignment(), {"02": INFO}, "full", (Override("ada", "02", "why", 5, "r", "kim"),))
    (one,) = grading.grades([], [ADA])
    assert (one.final, one.view.notes) == (None, ())
    assert [(problem.where, problem.what) for problem in grading.problems] == [
        ("ada", "02/why: not handed in, so give points for the whole exercise")
    ]


@pytest.mark.parametrize("exercise", ["", "02"])
def test_what_could_not_be_opened_is_not_called_missing(exercise: str) -> None:
    grading = Grading(Assignment(), {"02": INFO}, "full", unopened=frozenset({("ada", exercise)}))
    (one,) = grading.grades([], [ADA])
    assert (one.outcome, one.final, one.handed_in) == ("REFUSED", None, False)
    assert remark(one) == "What was handed in could not be opened; ask your instructor."
    assert json.loads(prairielearn(one))["format_errors"] == [
        "what was handed in could not be opened; ask your instructor"
    ]


def test_files_that_name_no_exercise_are_not_called_missing() -> None:
    (one,) = Grading(Assignment(), {"02": INFO}, "full", unnamed=frozenset({"ada"})).grades([], [ADA])
    assert (one.outcome, one.final) == ("REFUSED", None)
    assert remark(one) == "No file that was handed in names an exercise; ask your instructor."


def test_an_extension_that_cannot_be_read_is_listed_though_nothing_was_handed_in() -> None:
    assignment = Assignment(exercises=("02",), deadline=DEADLINE)
    grading = Grading(assignment, {"02": INFO}, "full")
    grading.grades([], [Student("ada", extension="soon"), Student("bob", extension="2=+2d")])
    assert [(one.kind, one.where, one.what) for one in grading.problems] == [
        ("extension", "ada", "the extension 'soon' cannot be read; write a date, +2d or +36h"),
        ("extension", "bob", "the extension names '2', which is no exercise; there are 02"),
    ]
