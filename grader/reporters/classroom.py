"""What the writers of a batch draw from: a class, its grades, and what is wrong with its submissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from grader.records import Report

__all__ = ["ClassRecord", "ExerciseInfo", "Grade", "Override", "Problem", "SimilarGroup", "Student"]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something for the instructor to look at; grading goes on without it.

    ``kind`` is kebab-case: "link", "not-a-file", "archive-refused", "unknown-student" and so on.
    ``students`` are the ids of those it is about, where that is known.
    """

    kind: str
    where: str
    what: str
    students: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Student:
    """One person. ``extension`` is as written: a date, ``+2d``, ``+36h``, or those by exercise.

    ``campus_id`` is the campus system's own number, ``login`` the name with which the person logs in there.

    ``pseudonym`` stands for the person in files that leave the instructor's hands.
    """

    id: str
    name: str = ""
    email: str = ""
    section: str = ""
    campus_id: str = ""
    extension: str = ""
    pseudonym: str = ""
    login: str = ""


@dataclass(frozen=True, slots=True)
class ExerciseInfo:
    """An exercise as a column of a gradebook: ``possible`` points, and the file that is handed in."""

    name: str
    title: str
    file_name: str
    possible: float


@dataclass(frozen=True, slots=True)
class Override:
    """Points that a person gave. ``question`` names a question or a check; empty means the whole exercise."""

    student: str
    exercise: str
    question: str
    points: float
    reason: str
    grader: str


@dataclass(frozen=True, slots=True)
class Grade:
    """What one student got for one exercise.

    ``report`` is the grading as the instructor sees it, ``view`` the same as the student may. ``final``
    is None where there is no number yet: nothing handed in, or nothing that could be judged. ``refused``:
    something was handed in, and nothing of it could be used.
    ``submitted`` is in ISO form, ``late_seconds`` past the deadline, ``penalty`` in points.
    """

    student: Student
    exercise: ExerciseInfo
    report: Report
    view: Report
    handed_in: bool
    final: float | None
    path: str = ""
    attempts: int = 0
    submitted: str = ""
    late_seconds: int = 0
    penalty: float = 0.0
    overrides: tuple[Override, ...] = ()
    refused: bool = False

    @property
    def outcome(self) -> str:
        """The word for a table."""
        if self.handed_in:
            return self.report.outcome.value
        return "REFUSED" if self.refused else "MISSING"


@dataclass(frozen=True, slots=True)
class SimilarGroup:
    """Submissions to one exercise that nearly equal each other, apart from the skeleton.

    ``likeness`` is the least share of common fingerprints between neighbours, 0 to 1.
    ``published`` says that they are as near to the published solution.
    """

    exercise: str
    students: tuple[str, ...]
    likeness: float
    published: bool


@dataclass(frozen=True, slots=True)
class ClassRecord:
    """A graded class, ordered by student and exercise. ``archs`` are what its kernels were compiled for."""

    title: str
    exercises: tuple[ExerciseInfo, ...]
    grades: tuple[Grade, ...]
    problems: tuple[Problem, ...] = ()
    similar: tuple[SimilarGroup, ...] = ()
    release: datetime | None = None
    remarks: tuple[str, ...] = field(default=())
    archs: tuple[str, ...] = ()

    def by_student(self) -> dict[Student, tuple[Grade, ...]]:
        """Give each student's grades, in the class's order."""
        found: dict[Student, list[Grade]] = {}
        for grade in self.grades:
            found.setdefault(grade.student, []).append(grade)
        return {student: tuple(grades) for student, grades in found.items()}


def total_of(grades: Sequence[Grade]) -> float:
    """Give the sum of what has a number."""
    return round(sum(grade.final for grade in grades if grade.final is not None), 2)
