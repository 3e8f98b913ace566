"""Grades into nbgrader's gradebook, through nbgrader's own API: no notebook is involved.

Each exercise becomes an assignment of one notebook whose grade cells are its checks and questions;
``nbgrader export`` reads it, on SQLite and on PostgreSQL.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.batch.problems import BatchError
from grader.reporters.classroom import ClassRecord, ExerciseInfo, Grade
from grader.reporters.grade_tables import remark
from grader.reporters.style import number

__all__ = ["check_installed", "remove_student", "with_driver", "write_gradebook"]

_TOTAL = "total"
_MISSING = "--gradebook: nbgrader is not installed; pip install '.[nbgrader]' in Tilegrade's checkout"


def write_gradebook(url: str, record: ClassRecord) -> None:
    """Write a class's grades; what the gradebook has of other assignments stays.

    Raises
    ------
    BatchError
        The extra is not installed, or the database does not answer.
    """
    with _gradebook(url) as book:
        for info in record.exercises:
            _define(book, info)
        for student, grades in record.by_student().items():
            first, _, last = student.name.rpartition(" ")
            names = {"first_name": first or None, "last_name": last or None, "email": student.email or None}
            book.update_or_create_student(student.id, **names)
            for grade in grades:
                if grade.final is not None:
                    _enter(book, grade)
                else:
                    _withdraw(book, grade)


def check_installed() -> None:
    """Raise ``BatchError`` where the extra is not installed."""
    # Not imported: that takes seconds, and a batch may take hours until it needs it.
    if importlib.util.find_spec("nbgrader") is None:
        raise BatchError(_MISSING)


def remove_student(url: str, student: str) -> None:
    """Remove a person and all their grades. Raises ``BatchError`` as above."""
    with _gradebook(url) as book:
        api = importlib.import_module("nbgrader.api")
        try:
            book.remove_student(student)
        except api.MissingEntry:
            return


@contextmanager
def _gradebook(url: str) -> Iterator[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            api = importlib.import_module("nbgrader.api")
    except ImportError:
        raise BatchError(_MISSING) from None
    sqlalchemy = importlib.import_module("sqlalchemy.exc")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _own_programs(), api.Gradebook(with_driver(url)) as book:
                yield book
    except (sqlalchemy.SQLAlchemyError, api.InvalidEntry, ImportError) as error:
        # A URL may hold a password.
        shown = re.sub(r"//[^@/]*@", "//...@", url)
        first = re.sub(r"//[^@/\s]*@", "//...@", str(error).splitlines()[0])
        raise BatchError(
            f"{shown}: the gradebook cannot be written: {first}. The grades are in grades.csv"
        ) from None


def with_driver(url: str) -> str:
    """Name the driver that the extra brings; what a bare ``postgresql://`` means changes with SQLAlchemy."""
    scheme, separator, rest = url.partition("://")
    return f"postgresql+psycopg{separator}{rest}" if scheme in ("postgres", "postgresql") else url


@contextmanager
def _own_programs() -> Iterator[None]:
    """Let nbgrader find ``alembic``, which it starts by name to mark a new database, beside our Python."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), before))
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _define(book: Any, info: ExerciseInfo) -> None:
    book.update_or_create_assignment(info.name)
    book.update_or_create_notebook(info.name, info.name)
    book.update_or_create_grade_cell(_TOTAL, info.name, info.name, max_score=info.possible, cell_type="code")
    book.update_or_create_solution_cell(_TOTAL, info.name, info.name)


def _enter(book: Any, grade: Grade) -> None:
    """Enter one grade: earned points as the cell's score, lateness as nbgrader's own penalty."""
    name, student = grade.exercise.name, grade.student.id
    submission = book.update_or_create_submission(name, student)
    if grade.submitted:
        submission.timestamp = datetime.fromisoformat(grade.submitted).replace(tzinfo=None)
    notebook = book.find_submission_notebook(name, name, student)
    notebook.late_submission_penalty = grade.penalty
    cell = book.find_grade(_TOTAL, name, name, student)
    cell.auto_score = grade.report.points
    cell.manual_score = None
    cell.needs_manual_grade = bool(grade.report.pending)
    comment = book.find_comment(_TOTAL, name, name, student)
    comment.auto_comment = _comment(grade)
    book.db.commit()


def _withdraw(book: Any, grade: Grade) -> None:
    """Take out points that an earlier run entered and that no longer hold; others' submissions stay."""
    name, student = grade.exercise.name, grade.student.id
    api = importlib.import_module("nbgrader.api")
    try:
        cell = book.find_grade(_TOTAL, name, name, student)
    except api.MissingEntry:
        return
    cell.auto_score = cell.manual_score = None
    cell.needs_manual_grade = True
    book.find_submission_notebook(name, name, student).late_submission_penalty = 0
    book.find_comment(_TOTAL, name, name, student).auto_comment = remark(grade)
    book.db.commit()


def _comment(grade: Grade) -> str:
    assert grade.final is not None
    return f"{number(grade.final)} points in the end.\n{remark(grade)}"
