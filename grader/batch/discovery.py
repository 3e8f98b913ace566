"""Find the submissions of a class, whatever layout they came in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from grader.batch.intake import items_of
from grader.batch.layouts import Catalogue, Placed, fold, place, whose
from grader.batch.problems import Problem, printable
from grader.batch.roster import Roster
from grader.batch.tree import Entry
from grader.batch.unusable import Refused, refused, unnamed
from grader.reporters.classroom import Student

__all__ = ["Found", "Submission", "discover"]

_TIME_FILE = "timestamp.txt"


@dataclass(frozen=True, slots=True)
class Submission:
    """One file of one student for one exercise. ``modified`` is in seconds since 1970, None where unknown."""

    student: Student
    exercise: str
    path: str
    attempt: int
    modified: float | None
    marked_late: bool
    read: Callable[[], bytes]

    @property
    def order(self) -> tuple[int, float, str]:
        """What makes one attempt later than another: its number, its time, its path."""
        return (self.attempt, self.modified or 0.0, self.path)


@dataclass(frozen=True, slots=True)
class Found:
    """Submissions ordered by student, exercise and attempt; and what could not be used, or needs a look.

    ``unopened`` has (student, exercise) of each hand-in that could not be opened, with an empty exercise
    where the file's name does not tell it. ``unnamed`` are the students all of whose files name no exercise,
    ``others`` all students with something of that kind, and no submission.
    """

    submissions: tuple[Submission, ...]
    problems: tuple[Problem, ...]
    unopened: frozenset[tuple[str, str]] = frozenset()
    unnamed: frozenset[str] = frozenset()
    others: tuple[Student, ...] = ()


def discover(root: Path, catalogue: Catalogue, roster: Roster | None, zone: tzinfo = UTC) -> Found:
    """Find the submissions in a folder or an archive; ``zone`` is that of the times in zip archives.

    Raises
    ------
    BatchError
        Nothing there, or nothing that can be read at all.
    """
    items, above = items_of(root, zone)
    entries = [item for item in items if isinstance(item, Entry)]
    problems = list(roster.problems) if roster is not None else []
    named_root = root.name if root.is_file() else None
    listed = [item for item in items if isinstance(item, Problem)]
    shut = list(refused(listed, catalogue, roster, above=above, root=named_root))
    theirs = {one.problem for one in shut}
    problems += [one for one in listed if one not in theirs]
    times, timeless = _nbgrader_times(entries)
    placed: list[tuple[Entry, Placed]] = []
    stray: list[tuple[Problem, tuple[str, ...]]] = []
    for entry in entries:
        where = place(entry.parts, catalogue)
        if where is not None:
            placed.append((entry, where))
        elif len(entry.parts) == 1 and catalogue.named(entry.parts[0]) is not None:
            what = f"names no student; call it STUDENT_{entry.where}, or put it into a folder of that name"
            problems.append(Problem("nameless-file", entry.where, what))
        elif entry.parts[-1] != _TIME_FILE:
            known = ", ".join(sorted(catalogue.files))
            what = f"names no exercise; the exercises are {known}"
            stray.append((Problem("unknown-file", entry.where, what), entry.parts))
    lost = list(unnamed(stray, roster))
    owned = {one.problem for one in lost}
    problems += [one for one, parts in stray if one not in owned and _is_answer(parts[-1])]
    whole = [where for _, where in placed] + [one.placed for one in (*shut, *lost)]
    students = _identify(whole, roster, problems)
    for one in timeless:
        owner = students.get((one.placed.student, one.placed.campus_id))
        problems.append(replace(one.problem, students=(owner.id,) if owner is not None else ()))
    submissions = [
        Submission(
            student=students[where.student, where.campus_id],
            exercise=where.exercise,
            path=entry.where,
            attempt=where.attempt,
            modified=times.get(entry.parts[:-1], entry.modified),
            marked_late=where.late,
            read=entry.read,
        )
        for entry, where in placed
    ]
    submissions.sort(key=lambda one: (one.student.id, one.exercise, one.order))
    return _found(submissions, students, shut, lost, problems, roster)


def _found(
    submissions: list[Submission],
    students: Mapping[tuple[str, str], Student],
    shut: list[Refused],
    lost: list[Refused],
    problems: list[Problem],
    roster: Roster | None,
) -> Found:
    """Put together what was found; ``shut`` could not be opened, ``lost`` names no exercise."""
    present = {one.student.id for one in submissions}
    unopened, nameless = set(), set()
    others: dict[str, Student] = {}
    for one in shut:
        student = students[one.placed.student, one.placed.campus_id]
        unopened.add((student.id, one.placed.exercise))
        problems.append(replace(one.problem, students=(student.id,)))
        others[student.id] = student
    for one in lost:
        student = students[one.placed.student, one.placed.campus_id]
        # Of what is no answer by its looks, one is enough, where there is nothing else.
        if _is_answer(one.problem.where) or student.id not in present | {*others}:
            problems.append(replace(one.problem, students=(student.id,)))
            nameless.add(student.id)
            others.setdefault(student.id, student)
    others = {name: one for name, one in sorted(others.items()) if name not in present}
    nameless -= {student for student, _ in unopened} | present
    problems += _reconciled(present, {*others}, roster)
    return Found(
        tuple(submissions),
        tuple(sorted(set(problems))),
        frozenset(unopened),
        frozenset(nameless),
        tuple(others.values()),
    )


def _is_answer(name: str) -> bool:
    return name.casefold().removesuffix(".txt").endswith((".py", ".md", ".ipynb"))


def _nbgrader_times(entries: Iterable[Entry]) -> tuple[dict[tuple[str, ...], float], list[Refused]]:
    """When nbgrader collected each submission, which it writes into a file beside it; and what is no time."""
    times: dict[tuple[str, ...], float] = {}
    wrong = []
    for entry in entries:
        if entry.parts[-1] == _TIME_FILE and len(entry.parts) > 1:
            try:
                text = entry.read()[:100].decode().strip().removesuffix(" UTC")
                read = datetime.fromisoformat(text)
            except (OSError, ValueError):
                what = "is no date and time as nbgrader writes them; the file's own date is used"
                wrong.append(Refused(Problem("timestamp", entry.where, what), whose(entry.parts)))
                continue
            times[entry.parts[:-1]] = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    return times, wrong


def _identify(
    placed: Iterable[Placed], roster: Roster | None, problems: list[Problem]
) -> dict[tuple[str, str], Student]:
    """Give each label and campus number its student: of the roster, else one made from the label."""
    students: dict[tuple[str, str], Student] = {}
    labels: dict[str, set[str]] = defaultdict(set)
    numbers: dict[str, set[str]] = defaultdict(set)
    for one in placed:
        labels[fold(one.student)].add(one.student)
        numbers[one.student].add(one.campus_id)
        students[one.student, one.campus_id] = Student("")
    for label, number in students:
        student = roster.find(Placed(label, "", campus_id=number)) if roster is not None else None
        if student is None:
            name = printable(label)
            # Two people of one name are told apart by the campus system's number.
            identity = f"{name} ({number})" if len(numbers[label]) > 1 else name
            student = Student(identity, campus_id=number)
        students[label, number] = student
    for spellings in labels.values():
        if len(spellings) > 1:
            ids = {students[label, number].id for label in spellings for number in numbers[label]}
            fate = "the roster says they are one" if len(ids) == 1 else "they are graded apart"
            names = " and ".join(sorted(printable(ascii(label)) for label in spellings))
            what = f"differ by case or Unicode form alone; {fate}"
            problems.append(Problem("name-collision", names, what, tuple(sorted(ids))))
    return students


def _reconciled(present: set[str], others: set[str], roster: Roster | None) -> list[Problem]:
    """Compare who handed something in with the roster; of ``others`` nothing could be used."""
    if roster is None:
        return []
    missing = [
        Problem("missing-student", student, "handed in nothing", (student,))
        for student in roster.students
        if student not in present | others
    ]
    graded = [(student, "; graded all the same") for student in present - {*roster.students}]
    listed = [(student, "") for student in others - {*roster.students}]
    unknown = [
        Problem("unknown-student", student, f"is not in the roster{fate}", (student,))
        for student, fate in sorted(graded + listed)
    ]
    return missing + unknown
