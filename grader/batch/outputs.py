"""Every file of a graded class, by name, drawn from one record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.batch.out_folder import file_label
from grader.records import Report
from grader.reporters import autograder_json, class_page, compiled_table, feedback, grade_tables, junit
from grader.reporters.classroom import ClassRecord, Grade

__all__ = ["outputs"]

#: Bytes. GitLab takes files under 30 MB.
LARGEST_JUNIT = 28_000_000


def outputs(
    record: ClassRecord,
    *,
    held: bool,
    names: bool = False,
    junit_per_student: bool = False,
    junit_strict: bool = False,
) -> Iterator[tuple[str, str]]:
    """Give name and text of each file under the output folder, all but the journal.

    One after the other: the files of a large class together would fill the memory. ``held``: the
    release date is not there yet, so no feedback is written. ``names``: JUnit files carry the students'
    ids in place of their pseudonyms. ``junit_strict``: they keep to the schema of Jenkins's xUnit plugin.
    Times, which differ from run to run, are in none of them.
    """
    record = replace(record, grades=tuple(_without_times(grade) for grade in record.grades))
    yield "grades.csv", grade_tables.grades(record)
    yield "canvas.csv", grade_tables.canvas(record)
    yield "moodle.csv", grade_tables.moodle(record)
    yield "problems.csv", grade_tables.problems(record)
    yield "pending.csv", grade_tables.pending(record)
    yield "report.html", class_page.render(record)
    if record.archs:
        yield "compiled.csv", compiled_table.compilations(record)
    yield "junit.xml", _junit(record.grades, names=names, strict=junit_strict)
    for student, grades in record.by_student().items():
        label = file_label(student.id)
        if not held:
            markdown, html = feedback.pages(record.title, grades)
            yield f"feedback/{label}.md", markdown
            yield f"feedback/{label}.html", html
        if junit_per_student:
            yield f"junit/{label}.xml", _junit(grades, names=names, strict=junit_strict)
        yield from _autograder_files(label, grades, held=held)


def _without_times(grade: Grade) -> Grade:
    if not grade.report.timings:
        return grade
    return replace(grade, report=replace(grade.report, timings=()), view=replace(grade.view, timings=()))


def _autograder_files(label: str, grades: tuple[Grade, ...], *, held: bool) -> Iterator[tuple[str, str]]:
    for grade in grades:
        name = f"{label}/{grade.exercise.name}.json"
        yield f"gradescope/{name}", autograder_json.gradescope(grade, held=held)
        yield f"prairielearn/{name}", autograder_json.prairielearn(grade)


def _junit(grades: Sequence[Grade], *, names: bool, strict: bool) -> str:
    reports = [_for_junit(grade, names=names) for grade in grades]
    return junit.render(reports, strict=strict, most=LARGEST_JUNIT)


def _for_junit(grade: Grade, *, names: bool) -> Report:
    """Give the student's view under the name that the file may carry."""
    who = grade.student.id if names else grade.student.pseudonym
    return replace(grade.view, path=f"{who}/{grade.exercise.file_name}", seconds=0.0)
