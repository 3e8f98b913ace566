"""From gradings to grades: which attempt counts, lateness, a person's points, and what a student may see."""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from grader.batch.assignment import Assignment
from grader.batch.discovery import Submission
from grader.batch.lateness import LateExtensionError, extended, lateness, penalty
from grader.batch.layouts import fold
from grader.batch.overrides import apply
from grader.batch.problems import Problem
from grader.diagnosis.catalogue import CATALOGUE
from grader.records import Outcome, Report
from grader.reporters.classroom import ExerciseInfo, Grade, Override, Student
from grader.reporters.student_view import Level, student_view
from grader.reporters.style import number

__all__ = ["Grading", "pseudonyms", "title_of"]

_UNOPENED = "what was handed in could not be opened; ask your instructor"
_UNNAMED = "no file that was handed in names an exercise; ask your instructor"
_UNJUDGED = (Outcome.CANNOT_JUDGE, Outcome.HARNESS_FAULT)


def title_of(name: str) -> str:
    """Give a diagnostic's general title, or its name where the catalogue has none."""
    entry = CATALOGUE.get(name)
    return name if entry is None else entry.title


def pseudonyms(students: Iterable[str], secret: bytes) -> dict[str, str]:
    """Give each student a name that only who has the secret can connect with the person."""
    return {
        student: "student-" + hmac.new(secret, student.encode(), hashlib.sha256).hexdigest()[:12]
        for student in students
    }


@dataclass(slots=True)
class Grading:
    """Makes grades. ``level`` is what students may see now; ``problems`` fills with what came up.

    ``unopened`` are (student, exercise) of hand-ins that could not be opened; the exercise is empty where
    the file's name does not tell it. ``unnamed`` are students all of whose files name no exercise.
    """

    assignment: Assignment
    exercises: Mapping[str, ExerciseInfo]
    level: Level
    overrides: tuple[Override, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    unopened: frozenset[tuple[str, str]] = frozenset()
    unnamed: frozenset[str] = frozenset()
    _given: dict[tuple[str, str], tuple[Override, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for one in self.overrides:
            whose = fold(one.student), one.exercise
            self._given[whose] = (*self._given.get(whose, ()), one)

    def grades(
        self, graded: Iterable[tuple[Submission, Report]], students: Iterable[Student]
    ) -> tuple[Grade, ...]:
        """Give a grade for each of ``students`` and each exercise, ordered by both."""
        attempts: dict[tuple[str, str], list[tuple[Submission, Report]]] = defaultdict(list)
        for submission, report in graded:
            attempts[submission.student.id, submission.exercise].append((submission, report))
        grades = []
        for student in sorted(students, key=lambda one: one.id):
            self._check_extension(student)
            for info in self.exercises.values():
                mine = attempts.get((student.id, info.name), [])
                grades.append(self._chosen(student, info, mine) if mine else self._missing(student, info))
        self._unused({grade.student.id for grade in grades})
        return tuple(grades)

    def _chosen(
        self, student: Student, info: ExerciseInfo, attempts: list[tuple[Submission, Report]]
    ) -> Grade:
        attempts = sorted(attempts, key=lambda pair: pair[0].order)
        grades = [self._grade(student, info, *pair) for pair in attempts]
        if self.assignment.attempts == "last":
            chosen = grades[-1]
        else:
            # Of equals the first: it cost the least time.
            chosen = max(grades, key=lambda grade: -1.0 if grade.final is None else grade.final)
        if chosen.report.outcome in _UNJUDGED and chosen.final is None:
            where = f"{student.id} {info.name}"
            self.problems.append(
                Problem(chosen.outcome.lower().replace(" ", "-"), where, chosen.report.reason)
            )
        return replace(chosen, attempts=len(attempts))

    def _grade(self, student: Student, info: ExerciseInfo, submission: Submission, report: Report) -> Grade:
        mine = self._overrides(student.id, info.name)
        report = apply(report, mine)
        late = self._late(student, info.name, submission)
        whole = any(not one.question for one in mine)
        judged = report.outcome not in _UNJUDGED or whole
        lost = 0.0 if whole else penalty(report.points, late, self.assignment.late)
        return Grade(
            student=student,
            exercise=info,
            report=report,
            view=student_view(report, self.level, title_of=title_of, notes=_remarks(late, lost, mine)),
            handed_in=True,
            final=round(report.points - lost, 2) if judged else None,
            path=submission.path,
            submitted=self._submitted(submission),
            late_seconds=late,
            penalty=lost,
            overrides=mine,
        )

    def _missing(self, student: Student, info: ExerciseInfo) -> Grade:
        mine = tuple(one for one in self._overrides(student.id, info.name) if not one.question)
        for one in self._overrides(student.id, info.name):
            if one.question:
                what = f"{info.name}/{one.question}: not handed in, so give points for the whole exercise"
                self.problems.append(Problem("override", one.student, what))
        reason = "nothing was handed in"
        if lost := {(student.id, info.name), (student.id, "")} & self.unopened:
            reason = _UNOPENED
        elif student.id in self.unnamed:
            reason = _UNNAMED
        report = apply(
            Report(
                exercise=info.name,
                title=info.title,
                kind="kernel",
                path=info.file_name,
                outcome=Outcome.FAIL,
                possible=info.possible,
                reason=reason,
            ),
            mine,
        )
        view = replace(
            student_view(report, "none", title_of=title_of, notes=_remarks(0, 0.0, mine)),
            reason=report.reason,
        )
        final = report.points if mine else None
        refused = bool(lost) or student.id in self.unnamed
        return Grade(
            student, info, report, view, handed_in=False, final=final, overrides=mine, refused=refused
        )

    def _late(self, student: Student, exercise: str, submission: Submission) -> int:
        try:
            deadline = extended(self.assignment, exercise, student.extension)
        except LateExtensionError:
            deadline = self.assignment.deadline_of(exercise)
        late = lateness(submission.modified, deadline, self.assignment.late)
        if submission.marked_late and not late and deadline is not None:
            what = "marked late by the campus system, in time by its file's date; no points were taken"
            self.problems.append(Problem("marked-late", f"{student.id} {exercise}", what))
        return late

    def _check_extension(self, student: Student) -> None:
        """Say what of a student's extension cannot be used, before a submission comes to need it."""
        named = {part.partition("=")[0].strip() for part in student.extension.split(";") if "=" in part}
        known = self.assignment.exercises
        for name in sorted(named - {*known}) if known else ():
            what = f"the extension names {name!r}, which is no exercise; there are {', '.join(known)}"
            self.problems.append(Problem("extension", student.id, what))
        for exercise in self.exercises:
            try:
                extended(self.assignment, exercise, student.extension)
            except LateExtensionError as error:
                what = f"the extension {str(error)!r} cannot be read; write a date, +2d or +36h"
                self.problems.append(Problem("extension", student.id, what))

    def _submitted(self, submission: Submission) -> str:
        if submission.modified is None:
            return ""
        return datetime.fromtimestamp(int(submission.modified), self.assignment.zone).isoformat()

    def _overrides(self, student: str, exercise: str) -> tuple[Override, ...]:
        return self._given.get((fold(student), exercise), ())

    def _unused(self, students: set[str]) -> None:
        known = {fold(student) for student in students}
        for one in self.overrides:
            if fold(one.student) not in known:
                self.problems.append(
                    Problem("override", one.student, "points for somebody who is not in the class")
                )


def _remarks(late: int, lost: float, overrides: Iterable[Override]) -> tuple[str, ...]:
    remarks = []
    if late:
        took = f"; {number(lost)} points are taken off" if lost else "; no points are taken off"
        remarks.append(f"handed in {_duration(late)} late{took}")
    remarks += [
        f"{one.question or 'the whole exercise'}: points given by a person: {one.reason}" for one in overrides
    ]
    return tuple(remarks)


def _duration(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    hours, minutes = rest // 3600, -(-rest % 3600) // 60 if rest % 3600 else 0
    minutes = (rest % 3600) // 60
    parts = [
        f"{days} d" if days else "",
        f"{hours} h" if hours else "",
        f"{minutes} min" if minutes and not days else "",
    ]
    return " ".join(part for part in parts if part) or f"{seconds} s"
