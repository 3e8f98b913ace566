"""Every file of a graded class, by name, drawn from one record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.batch.out_folder import file_label
from grader.records import Report
from grader.reporters import autograder_json, class_page, feedback, grade_tables, junit
from grader.reporters.classroom import ClassRecord, Grade

__all__ = ["outputs"]

#: Bytes. GitLab takes files under 30 MB.
LARGEST_JUNIT = 28_000_000


def outputs(
    record: ClassRecord, *, held: bool, names: bool = False, junit_per_student: bool = False
) -> Mapping[str, str]:
    """Give the text of each file under the output folder, all but the journal.

    ``held``: the release date is not there yet, so no feedback is written. ``names``: junit.xml
    carries the students' ids in place of their pseudonyms.
    """
    files = {
        "junit.xml": _class_junit(record.grades, names=names),
        "grades.csv": grade_tables.grades(record),
        "canvas.csv": grade_tables.canvas(record),
        "moodle.csv": grade_tables.moodle(record),
        "problems.csv": grade_tables.problems(record),
        "pending.csv": grade_tables.pending(record),
        "report.html": class_page.render(record),
    }
    for student, grades in record.by_student().items():
        label = file_label(student.id)
        if not held:
            files[f"feedback/{label}.md"] = feedback.markdown(record.title, grades)
            files[f"feedback/{label}.html"] = feedback.html(record.title, grades)
        if junit_per_student:
            files[f"junit/{label}.xml"] = junit.render([_for_junit(grade, names=names) for grade in grades])
        files |= dict(_autograder_files(label, grades, held=held))
    return files


def _autograder_files(label: str, grades: tuple[Grade, ...], *, held: bool) -> Iterator[tuple[str, str]]:
    for grade in grades:
        name = f"{label}/{grade.exercise.name}.json"
        yield f"gradescope/{name}", autograder_json.gradescope(grade, held=held)
        yield f"prairielearn/{name}", autograder_json.prairielearn(grade)


def _class_junit(grades: Sequence[Grade], *, names: bool) -> str:
    """Write the class's JUnit file; one too large for a CI server keeps the verdict of each report alone."""
    reports = [_for_junit(grade, names=names) for grade in grades]
    whole = junit.render(reports)
    if len(whole.encode()) <= LARGEST_JUNIT:
        return whole
    return junit.render([replace(one, families=(), checks=(), questions=()) for one in reports])


def _for_junit(grade: Grade, *, names: bool) -> Report:
    """Give the student's view under the name that the file may carry."""
    who = grade.student.id if names else grade.student.pseudonym
    return replace(grade.view, path=f"{who}/{grade.exercise.file_name}", seconds=0.0)
