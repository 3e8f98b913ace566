from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from grader.batch.assignment import Assignment, Late
from grader.batch.discovery import Submission
from grader.batch.grading import Grading, pseudonyms
from grader.records import Outcome, Report
from grader.reporters.classroom import ExerciseInfo, Grade, Override, Student

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
