"""A class's grades as the tables that people and campus systems read."""

from __future__ import annotations

from collections.abc import Sequence

from grader.reporters import csv_text
from grader.reporters.classroom import ClassRecord, Grade, Student
from grader.reporters.compiled_text import compiled_lines
from grader.reporters.style import number
from grader.reporters.tables import family_title, shapes_right

__all__ = ["absent", "canvas", "grades", "moodle", "pending", "problems"]


def grades(record: ClassRecord) -> str:
    """Write grades.csv: a row for each student and exercise, for the instructor."""
    header = [
        "student",
        "name",
        "email",
        "section",
        "pseudonym",
        "exercise",
        "outcome",
        "status",
        "points",
        "possible",
        "pending",
        "late_seconds",
        "penalty",
        "final",
        "cause",
        "reason",
        "attempts",
        "submitted",
        "path",
        "override",
    ]
    return csv_text.render(header, (_grade_row(grade) for grade in record.grades))


def _grade_row(grade: Grade) -> list[csv_text.Cell]:
    report, student = grade.report, grade.student
    cause = report.diagnostics[0].name if report.diagnostics and report.outcome.value != "PASS" else ""
    return [
        student.id,
        student.name,
        student.email,
        student.section,
        student.pseudonym,
        grade.exercise.name,
        grade.outcome,
        report.status if grade.handed_in else "",
        report.points if grade.handed_in else None,
        float(report.possible),
        report.pending or None,
        grade.late_seconds or None,
        grade.penalty or None,
        grade.final,
        cause,
        report.reason,
        grade.attempts or None,
        grade.submitted,
        grade.path,
        "; ".join(f"{one.question or 'all'}: {number(one.points)} ({one.reason})" for one in grade.overrides),
    ]


def canvas(record: ClassRecord) -> str:
    """Write what Canvas's gradebook imports: a column for each exercise, points possible in the second line.

    A student without a number has an empty cell, which leaves Canvas's own as it is.
    """
    titles = [info.title for info in record.exercises]
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles]
    possible: list[csv_text.Cell] = ["    Points Possible", "", "", "", ""]
    possible += [float(info.possible) for info in record.exercises]
    rows: list[list[csv_text.Cell]] = [possible]
    for student, mine in record.by_student().items():
        login = student.login or student.email.partition("@")[0] or student.id
        row: list[csv_text.Cell] = [
            student.name or student.id,
            student.campus_id,
            student.id,
            login,
            student.section,
        ]
        rows.append(row + _finals(record, mine))
    return csv_text.render(header, rows)


def moodle(record: ClassRecord) -> str:
    """Write what Moodle's gradebook imports: for each exercise its points and the feedback as text."""
    header = ["ID number", "Email address"]
    for info in record.exercises:
        header += [info.title, f"{info.title} feedback"]
    rows: list[list[csv_text.Cell]] = []
    for student, mine in record.by_student().items():
        row: list[csv_text.Cell] = [student.id, student.email]
        finals = _finals(record, mine)
        for info, final in zip(record.exercises, finals, strict=True):
            row += [final, next((remark(grade) for grade in mine if grade.exercise == info), "")]
        rows.append(row)
    return csv_text.render(header, rows)


def _finals(record: ClassRecord, mine: Sequence[Grade]) -> list[csv_text.Cell]:
    by_exercise = {grade.exercise.name: grade.final for grade in mine}
    return [by_exercise.get(info.name) for info in record.exercises]


def remark(grade: Grade) -> str:
    """Write a grade in a few lines of plain text, from the student's view alone."""
    view = grade.view
    if not grade.handed_in:
        return "\n".join((absent(grade), *view.notes))
    lines = [f"{view.outcome.value}: {number(view.points)} of {number(view.possible)} points"]
    if view.pending:
        lines[0] += f", {number(view.pending)} pending"
    if view.reason:
        lines.append(view.reason)
    lines += [f"{one.name}: {number(one.points)} of {number(one.possible)}" for one in view.checks]
    failed = [family for family in view.families if family.passed < family.total]
    lines += [f"shapes {family_title(one.name)}: {shapes_right(one)}" for one in failed]
    for question in view.questions:
        said = f": {question.message}" if question.message and question.status != "right" else ""
        lines.append(f"{question.id}: {number(question.points)} of {number(question.possible)}{said}")
    return "\n".join([*lines, *compiled_lines(view), *view.notes])


def absent(grade: Grade) -> str:
    """Say in a line why there is no grading, and which points a person gave all the same."""
    why = f"{grade.view.reason[:1].upper()}{grade.view.reason[1:]}."
    if grade.final is None:
        return why
    return f"{why} {number(grade.final)} of {number(grade.exercise.possible)} points."


def pending(record: ClassRecord) -> str:
    """Write the worksheet of answers that wait for a person: filled in, its rows are overrides."""
    rows: list[list[csv_text.Cell]] = []
    for grade in record.grades:
        done = {one.question for one in grade.overrides}
        for question in grade.report.questions:
            if question.pending and question.id not in done and "" not in done:
                name = f"{grade.exercise.name}/{question.id}"
                where = grade.path if question.line is None else f"{grade.path}:{question.line}"
                rows.append(
                    [grade.student.id, name, None, "", "", float(question.possible), question.title, where]
                )
    header = ["student", "question", "points", "reason", "grader", "possible", "title", "where"]
    return csv_text.render(header, rows)


def problems(record: ClassRecord) -> str:
    """Write what an instructor has to look at beside the grades."""
    return csv_text.render(
        ["kind", "where", "what"], ([one.kind, one.where, one.what] for one in record.problems)
    )


def name_of(student: Student) -> str:
    """Give how a person is called in a file for the instructor."""
    return f"{student.name} ({student.id})" if student.name and student.name != student.id else student.id
