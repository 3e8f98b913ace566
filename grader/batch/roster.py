"""The class list: who should have handed in, and which name in the submissions is whom."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.layouts import Placed, fold
from grader.batch.problems import BatchError, Problem, printable
from grader.batch.tables import Row, Table, read_table
from grader.reporters.classroom import Student

__all__ = ["Roster", "Student", "read_roster"]

#: What each field's column may be called; where several are there, the first that a row fills in counts.
_COLUMNS = {
    "id": ("id", "student_id", "student id", "id number", "login", "username", "student", "email",
           "email address", "e-mail"),
    "name": ("name", "full name", "student name"),
    "first": ("first name", "given name"),
    "last": ("last name", "surname", "family name"),
    "email": ("email", "email address", "e-mail"),
    "section": ("section", "group", "groups"),
    "campus_id": ("campus_id", "campus id", "canvas_id", "moodle_id", "lms_id", "identifier"),
    "extension": ("extension", "extensions"),
    "login": ("login", "username"),
}  # fmt: skip
#: The same for the gradebook that Canvas exports, where ID is Canvas's own number of a student.
_CANVAS = {
    "id": ("sis user id", "sis login id", "id"),
    "name": ("student",),
    "email": ("email", "sis login id"),
    "section": ("section",),
    "campus_id": ("id",),
    "extension": ("extension", "extensions"),
    "login": ("sis login id",),
}
#: Rows of a gradebook that are nobody.
_NOBODY = {"points possible", "student, test", "test student"}


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
    """Read a table with a header that names at least ``id``; campus systems' own headings are understood.

    Raises
    ------
    BatchError
        The file cannot be read, is no CSV of UTF-8, or has no column of ids.
    """
    table = read_table(path, "roster")
    columns = _columns(path, table)
    students, problems = _students(path, table, columns)
    return Roster(students, tuple(problems), _keys(students.values()))


def _columns(path: Path, table: Table) -> dict[str, tuple[int, ...]]:
    headings = [heading.strip().casefold() for heading in table.headings]
    known = _CANVAS if {"student", "id"} <= {*headings} and "sis login id" in headings else _COLUMNS
    found = {
        field: tuple(headings.index(name) for name in names if name in headings)
        for field, names in known.items()
    }
    if not found["id"]:
        seen = ", ".join(printable(heading) for heading in headings) or "nothing"
        raise BatchError(f"{path}:{table.line}: the roster needs a column 'id'; its first line names {seen}")
    return found


def _students(
    path: Path, table: Table, columns: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, Student], list[Problem]]:
    students: dict[str, Student] = {}
    problems: list[Problem] = []
    folded: dict[str, str] = {}
    for row in table.rows:
        cells = {field: _cell(row, at) for field, at in columns.items()}
        student = _student(cells)
        where = f"{path.name}:{row.line}"
        if student.name.casefold() in _NOBODY:
            continue
        if not student.id:
            problems.append(Problem("roster", where, "this row has no id and is left out"))
        elif fold(student.id) in folded:
            what = f"{student.id} stands twice in the roster; the first row counts"
            problems.append(Problem("duplicate-student", where, what, (folded[fold(student.id)],)))
        else:
            folded[fold(student.id)] = student.id
            students[student.id] = student
    return students, problems


def _cell(row: Row, columns: tuple[int, ...]) -> str:
    filled = (row.cells[at].strip() for at in columns if at < len(row.cells))
    return printable(next((text for text in filled if text), ""))


def _student(cells: dict[str, str]) -> Student:
    first, last = cells.pop("first", ""), cells.pop("last", "")
    cells["name"] = cells["name"] or f"{first} {last}".strip()
    # Moodle's grading worksheet calls a student "Participant 77".
    cells["campus_id"] = cells["campus_id"].removeprefix("Participant ")
    if "@" not in cells["email"]:
        cells["email"] = ""
    return Student(**cells)


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
