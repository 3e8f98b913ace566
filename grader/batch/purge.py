"""Removing a person: from the journal, from the overrides and, by writing anew, from every file."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

from grader.batch.journal import Journal
from grader.batch.layouts import fold
from grader.batch.out_folder import CLASS_FILES, OWN_FOLDERS, OutFolder, file_label
from grader.batch.overrides import student_of
from grader.batch.prepare import Batch
from grader.batch.problems import BatchError
from grader.batch.regrading import forget_person
from grader.batch.tables import read_table

__all__ = ["leave_out_purged", "purge", "purge_mark", "purged_marks"]


def purge_mark(student: str) -> str:
    """Give what is kept of a purged person: enough to know the id again when it is seen."""
    return hashlib.sha256(b"tilegrade purge\0" + fold(student).encode("utf-8", "surrogatepass")).hexdigest()


def purged_marks(journal: Journal) -> set[str]:
    """Give the marks of everybody who was purged."""
    return set(json.loads(journal.noted("purged") or "[]"))


def leave_out_purged(batch: Batch, journal: Journal) -> None:
    """Whoever was purged stays out, though the submissions may still lie in the folder."""
    batch.purged = purged_marks(journal)
    if not batch.purged:
        return

    def stays(student: str) -> bool:
        return purge_mark(student) not in batch.purged

    if batch.roster is not None:
        staying = {name: one for name, one in batch.roster.students.items() if stays(name)}
        batch.roster = replace(batch.roster, students=staying)
    found = batch.found
    batch.found = replace(
        found,
        submissions=tuple(one for one in found.submissions if stays(one.student.id)),
        unopened=frozenset(one for one in found.unopened if stays(one[0])),
        unnamed=frozenset(filter(stays, found.unnamed)),
        others=tuple(one for one in found.others if stays(one.id)),
    )
    batch.problems = [one for one in batch.problems if all(map(stays, one.students))]
    batch.overrides = tuple(one for one in batch.overrides if stays(one.student))


def purge(out: Path, student: str) -> int:
    """Remove a student from a batch's folder; give how many submissions the journal had.

    The class's files are removed with the person in them: the next batch writes them without.

    Raises
    ------
    BatchError
        No batch made the folder, another one is writing it, or nobody there has that id.
    """
    if not (out / "journal.sqlite3").is_file():
        raise BatchError(f"{out}: no batch wrote this folder")
    folder = OutFolder(out)
    with folder.locked():
        folder.clear_scratch()
        journal = Journal(out / "journal.sqlite3")
        try:
            known = {name for name, _, _ in journal.keys_of()}
            label = file_label(student)
            own = [f"{label}{suffix}" for suffix in ("", ".md", ".html", ".xml")]
            files = [
                path for folder_ in OWN_FOLDERS for name in own if (path := out / folder_ / name).exists()
            ]
            if student not in known and not files:
                raise BatchError(f"{out}: nobody here has the id {student!r}; grades.csv lists the ids")
            journal.note("purged", json.dumps(sorted(purged_marks(journal) | {purge_mark(student)})))
            forget_person(journal, student)
            count = journal.purge(student)
        finally:
            journal.close()
        for path in files:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name in CLASS_FILES:
            with contextlib.suppress(FileNotFoundError):
                (out / name).unlink()
        _without(out / "overrides.csv", student)
    return count


def _without(path: Path, student: str) -> None:
    """Take a student's rows out of the overrides."""
    if not path.is_file():
        return
    table = read_table(path, "overrides")
    headings = [heading.strip().casefold() for heading in table.headings]
    at = headings.index("student") if "student" in headings else 0
    kept = [
        row.cells
        for row in table.rows
        if len(row.cells) <= at or fold(student_of(row.cells[at])) != fold(student)
    ]
    out = io.StringIO()
    csv.writer(out, delimiter=table.delimiter, lineterminator="\n").writerows([table.headings, *kept])
    temporary = path.with_name(".overrides.csv.new")
    temporary.write_text(out.getvalue(), encoding="utf-8-sig")
    temporary.chmod(0o600)
    temporary.replace(path)
