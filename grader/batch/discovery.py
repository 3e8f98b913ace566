"""Find the submissions of a class, whatever layout they came in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from grader.batch.archives import expand
from grader.batch.layouts import Catalogue, Placed, fold, place, whose
from grader.batch.problems import BatchError, Problem, printable
from grader.batch.roster import Roster
from grader.batch.tree import LARGEST_ARCHIVE, Entry, archive_stem, walk
from grader.reporters.classroom import Student

__all__ = ["Found", "Submission", "discover"]

_WRAPPERS = {"submitted", "submissions", "submission"}
_NOT_OPENED = {"archive-refused", "link", "not-a-file", "too-deep", "unreadable"}
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
    where the file's name does not tell it.
    """

    submissions: tuple[Submission, ...]
    problems: tuple[Problem, ...]
    unopened: frozenset[tuple[str, str]] = frozenset()


def discover(root: Path, catalogue: Catalogue, roster: Roster | None, zone: tzinfo = UTC) -> Found:
    """Find the submissions in a folder or an archive; ``zone`` is that of the times in zip archives.

    Raises
    ------
    BatchError
        Nothing there, or nothing that can be read at all.
    """
    problems: list[Problem] = list(roster.problems) if roster is not None else []
    entries: list[Entry] = []
    for item in _items(root, zone):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            entries.append(item)
    unopened = _unopened(problems, catalogue, roster)
    times = _nbgrader_times(entries, problems)
    placed: list[tuple[Entry, Placed]] = []
    for entry in entries:
        where = place(entry.parts, catalogue)
        if where is not None:
            placed.append((entry, where))
        elif len(entry.parts) == 1 and catalogue.named(entry.parts[0]) is not None:
            what = f"names no student; call it STUDENT_{entry.where}, or put it into a folder of that name"
            problems.append(Problem("nameless-file", entry.where, what))
        elif entry.parts[-1] != _TIME_FILE and _is_answer(entry.parts[-1]):
            known = ", ".join(sorted(catalogue.files))
            problems.append(
                Problem("unknown-file", entry.where, f"names no exercise; the exercises are {known}")
            )
    students = _identify([where for _, where in placed], roster, problems)
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
    problems += _reconciled(submissions, roster)
    return Found(tuple(submissions), tuple(sorted(set(problems))), unopened)


def _items(root: Path, zone: tzinfo) -> Iterator[Entry | Problem]:
    if root.is_file():
        if archive_stem(root.name) is None:
            raise BatchError(f"{root}: name a folder of submissions, or a zip or tar archive")
        found: Iterable[Entry | Problem] = expand(_archive(root), (root.name,), strip=True, zone=zone)
    elif root.is_dir():
        found = _opened(walk(root), zone)
    else:
        raise BatchError(f"{root}: there is no such folder")
    items = list(found)
    unwrapped = root.name.casefold() in _WRAPPERS
    tops = {item.parts[0] for item in items if isinstance(item, Entry)}
    stem = archive_stem(root.name) if root.is_file() else None
    wrapped = (
        not unwrapped
        and len(tops) == 1
        and (next(iter(tops)).casefold() in _WRAPPERS or next(iter(tops)) == stem)
    )
    # nbgrader keeps released, source and feedback folders beside submitted/.
    course = (
        not unwrapped and "submitted" in tops and bool(tops & {"release", "source", "autograded", "feedback"})
    )
    for item in items:
        if isinstance(item, Entry) and (wrapped or course):
            if (wrapped or item.parts[0] == "submitted") and len(item.parts) > 1:
                yield replace(item, parts=item.parts[1:])
            continue
        yield item


def _archive(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_ARCHIVE:
            raise BatchError(
                f"{path}: an archive of more than {LARGEST_ARCHIVE >> 20} MiB; unpack it yourself first"
            )
        return path.read_bytes()
    except OSError as error:
        raise BatchError(f"{path}: cannot be read: {error.strerror}") from None


def _opened(items: Iterable[Entry | Problem], zone: tzinfo) -> Iterator[Entry | Problem]:
    """Replace each archive of a folder by what it holds."""
    for item in items:
        if isinstance(item, Problem) or archive_stem(item.parts[-1]) is None:
            yield item
            continue
        try:
            data = item.read()
        except OSError as error:
            yield Problem("unreadable", item.where, f"cannot be read: {error.strerror or error}")
            continue
        if len(data) > LARGEST_ARCHIVE:
            yield Problem("archive-refused", item.where, f"more than {LARGEST_ARCHIVE >> 20} MiB")
        else:
            yield from expand(data, item.parts, zone=zone)


def _is_answer(name: str) -> bool:
    return name.casefold().removesuffix(".txt").endswith((".py", ".md", ".ipynb"))


def _unopened(
    problems: Iterable[Problem], catalogue: Catalogue, roster: Roster | None
) -> frozenset[tuple[str, str]]:
    """Whose hand-ins could not be opened: their students shall not read that they handed in nothing."""
    found = set()
    for one in problems:
        if one.kind not in _NOT_OPENED:
            continue
        parts = tuple(one.where.split("/"))
        if parts[0].casefold() in _WRAPPERS and len(parts) > 1:
            parts = parts[1:]
        placed = place(parts, catalogue) or whose(parts)
        student = roster.find(placed) if roster is not None else None
        found.add((student.id if student is not None else printable(placed.student), placed.exercise))
    return frozenset(found)


def _nbgrader_times(entries: Iterable[Entry], problems: list[Problem]) -> dict[tuple[str, ...], float]:
    """When nbgrader collected each submission, which it writes into a file beside it."""
    times: dict[tuple[str, ...], float] = {}
    for entry in entries:
        if entry.parts[-1] == _TIME_FILE and len(entry.parts) > 1:
            try:
                text = entry.read()[:100].decode().strip().removesuffix(" UTC")
                read = datetime.fromisoformat(text)
            except (OSError, ValueError):
                what = "is no date and time as nbgrader writes them; the file's own date is used"
                problems.append(Problem("timestamp", entry.where, what))
                continue
            times[entry.parts[:-1]] = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    return times


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
            problems.append(Problem("name-collision", names, f"differ by case or Unicode form alone; {fate}"))
    return students


def _reconciled(submissions: list[Submission], roster: Roster | None) -> list[Problem]:
    if roster is None:
        return []
    present = {one.student.id for one in submissions}
    missing = [
        Problem("missing-student", student, "handed in nothing")
        for student in roster.students
        if student not in present
    ]
    unknown = [
        Problem("unknown-student", student, "is not in the roster; graded all the same")
        for student in sorted(present - set(roster.students))
    ]
    return missing + unknown
