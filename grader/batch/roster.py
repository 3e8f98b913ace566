"""The class list: who should have handed in, and which name in the submissions is whom."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.layouts import Placed, fold
from grader.batch.problems import BatchError, Problem, printable
from grader.reporters.classroom import Student

__all__ = ["Roster", "Student", "read_roster"]

_COLUMNS = {
    "id": ("id", "student", "student_id", "student id", "id number", "login", "sis user id", "username"),
    "name": ("name", "full name", "student name"),
    "email": ("email", "email address", "e-mail"),
    "section": ("section", "group"),
    "campus_id": ("campus_id", "campus id", "canvas_id", "moodle_id", "lms_id"),
    "extension": ("extension", "extensions"),
}
MOST_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Roster:
    """The students by id, in the order of the file, and what is wrong with the file's rows."""

    students: Mapping[str, Student] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    _keys: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def find(self, placed: Placed) -> Student | None:
        """Give the one student that a placed file belongs to; None where none or several fit."""
        for key in (fold(placed.student), f"#{placed.campus_id}", _squeezed(placed.student)):
            fitting = self._keys.get(key, frozenset())
            if len(fitting) == 1:
                return self.students[next(iter(fitting))]
        return None


def read_roster(path: Path) -> Roster:
    """Read a CSV with a header that names at least ``id``; campus systems' own headings are understood.

    Raises
    ------
    BatchError
        The file cannot be read, is no CSV of UTF-8, or has no column of ids.
    """
    try:
        text = path.read_bytes()[:MOST_BYTES].decode("utf-8-sig")
    except OSError as error:
        raise BatchError(f"{path}: the roster cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BatchError(f"{path}: the roster is not UTF-8; save it as CSV UTF-8") from None
    dialect = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect, strict=True))
    except csv.Error as error:
        raise BatchError(f"{path}: the roster is not CSV: {error}") from None
    columns = _columns(path, rows[0] if rows else [])
    students, problems = _students(path, rows[1:], columns)
    return Roster(students, tuple(problems), _keys(students.values()))


def _columns(path: Path, header: list[str]) -> dict[str, int]:
    headings = [heading.strip().casefold() for heading in header]
    found = {
        key: headings.index(name)
        for key, names in _COLUMNS.items()
        for name in reversed(names)
        if name in headings
    }
    if "id" not in found:
        seen = ", ".join(printable(heading) for heading in headings) or "nothing"
        raise BatchError(f"{path}:1: the roster needs a column 'id'; its first line names {seen}")
    return found


def _students(
    path: Path, rows: list[list[str]], columns: Mapping[str, int]
) -> tuple[dict[str, Student], list[Problem]]:
    students: dict[str, Student] = {}
    problems: list[Problem] = []
    folded: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        cells = {key: printable(row[at].strip()) if at < len(row) else "" for key, at in columns.items()}
        if not any(cells.values()):
            continue
        where = f"{path.name}:{number}"
        if not cells["id"]:
            problems.append(Problem("roster", where, "this row has no id and is left out"))
        elif fold(cells["id"]) in folded:
            what = f"{cells['id']} stands twice in the roster; the first row counts"
            problems.append(Problem("duplicate-student", where, what))
        else:
            folded[fold(cells["id"])] = cells["id"]
            students[cells["id"]] = Student(**cells)
    return students, problems


def _keys(students: Iterable[Student]) -> dict[str, frozenset[str]]:
    pairs: Counter[tuple[str, str]] = Counter()
    for student in students:
        words = student.name.replace(",", " ").split()
        spellings = {fold(student.id), fold(student.email), fold(student.email.partition("@")[0])}
        spellings |= {fold(student.name), _squeezed(" ".join(words)), _squeezed(" ".join(words[::-1]))}
        spellings |= {_squeezed(" ".join([*words[-1:], *words[:-1]])), _squeezed(student.id)}
        spellings.add(f"#{student.campus_id or student.id}")
        for spelling in spellings - {"", "#"}:
            pairs[spelling, student.id] += 1
    keys: dict[str, set[str]] = {}
    for spelling, identity in pairs:
        keys.setdefault(spelling, set()).add(identity)
    # An id is an id, whatever other people's names look like.
    for _, identity in pairs:
        keys[fold(identity)] = {identity}
    return {key: frozenset(ids) for key, ids in keys.items()}


def _squeezed(text: str) -> str:
    """Canvas writes ``Ada Lovelace`` as ``lovelaceada``: letters and digits alone count."""
    return re.sub(r"[\W_]+", "", fold(text))
