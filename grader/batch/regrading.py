"""Grading again: which gradings are forgotten, and what stood in the grades before."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from grader.batch.journal import Journal
from grader.batch.prepare import Batch
from grader.batch.problems import BatchError, printable
from grader.batch.task import read_report
from grader.records import Outcome, Report
from grader.reporters.classroom import ClassRecord

__all__ = ["forget_graded", "forget_person", "note_grades", "written_before"]

_NOTE = "grades"


def forget_graded(batch: Batch, journal: Journal) -> None:
    """Forget the gradings that are to be made again. Raises ``BatchError`` for one whom nobody knows."""
    settings = batch.settings
    students = {one.student.id for one in batch.found.submissions} | {one.id for one in batch.found.others}
    if batch.roster is not None:
        students |= batch.roster.students.keys()
    _known("student", settings.regrade_students, students)
    _known("exercise", settings.regrade_exercises, batch.bundles)
    journal.forget(
        {
            key
            for (student, exercise, _), key in journal.keys_of().items()
            if (not settings.regrade_students or student in settings.regrade_students)
            and (not settings.regrade_exercises or exercise in settings.regrade_exercises)
        }
    )


def _known(what: str, wanted: Iterable[str], known: Collection[str]) -> None:
    for name in wanted:
        if name not in known:
            some = ", ".join(sorted(known)[:8]) + (", ..." if len(known) > 8 else "")
            raise BatchError(f"there is no {what} {printable(name)!r} in this batch; there are {some}")


def note_grades(journal: Journal, record: ClassRecord) -> None:
    """Keep what the class's files now say of each submission, people's points among it."""
    written: dict[str, dict[str, tuple[str, float, str]]] = {}
    for grade in record.grades:
        if grade.handed_in or grade.overrides:
            report = grade.report
            said = (report.outcome.value, report.points, report.reason)
            written.setdefault(grade.student.id, {})[grade.exercise.name] = said
    journal.note(_NOTE, json.dumps(written))


def written_before(batch: Batch, journal: Journal) -> dict[tuple[str, str], Report]:
    """Give what the class's files said when they were last written, by student and exercise.

    Where that was not kept, it is what the journal has of those who handed one file in.
    """
    noted = journal.noted(_NOTE)
    if noted is None:
        return _graded_once(journal)
    return {
        (student, exercise): replace(
            batch.blanks[exercise], outcome=Outcome(outcome), points=points, reason=reason
        )
        for student, exercises in json.loads(noted).items()
        for exercise, (outcome, points, reason) in exercises.items()
        if exercise in batch.blanks
    }


def forget_person(journal: Journal, student: str) -> None:
    """Take a student out of what was kept."""
    noted: Mapping[str, object] = json.loads(journal.noted(_NOTE) or "{}")
    if student in noted:
        journal.note(_NOTE, json.dumps({name: said for name, said in noted.items() if name != student}))


def _graded_once(journal: Journal) -> dict[tuple[str, str], Report]:
    found: dict[tuple[str, str], list[bytes]] = {}
    for (student, exercise, _), key in journal.keys_of().items():
        text = journal.report(key)
        if text is not None:
            found.setdefault((student, exercise), []).append(text)
    return {whose: read_report(texts[0]) for whose, texts in found.items() if len(texts) == 1}
