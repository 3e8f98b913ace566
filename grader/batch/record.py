"""From the gradings of a class to its record, which every writer draws from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader import exercises
from grader.batch.discovery import Submission
from grader.batch.grading import Grading, pseudonyms
from grader.batch.prepare import Batch
from grader.batch.problems import Problem
from grader.batch.similarity import similar
from grader.records import Report
from grader.reporters.classroom import ClassRecord, SimilarGroup
from grader.reporters.style import number

__all__ = ["class_record"]


def class_record(batch: Batch, reports: Sequence[tuple[Submission, Report]], salt: bytes) -> ClassRecord:
    """Give the record of a class. ``salt`` makes the pseudonyms where there is no private key."""
    students = {one.id: one for one in batch.found.others}
    students |= {one.student.id: one.student for one, _ in reports}
    if batch.roster is not None:
        students |= batch.roster.students
    hidden_names = pseudonyms(students, batch.settings.private_key or salt)
    people = {name: replace(one, pseudonym=hidden_names[name]) for name, one in students.items()}
    grading = Grading(
        batch.assignment,
        batch.infos,
        "none" if batch.held else batch.assignment.feedback,
        batch.overrides,
        unopened=batch.found.unopened,
        unnamed=batch.found.unnamed,
    )
    grades = grading.grades(reports, people.values())
    return ClassRecord(
        batch.assignment.title,
        tuple(batch.infos.values()),
        grades,
        tuple(sorted({*batch.problems, *grading.problems, *_generous(batch)})),
        _similar(batch),
        batch.assignment.release,
        _remarks(batch),
        batch.settings.archs,
    )


def _remarks(batch: Batch) -> tuple[str, ...]:
    settings = batch.settings
    remarks = []
    if settings.run == "bare":
        remarks.append("Submissions were also run WITHOUT a sandbox, as --unsafe-no-sandbox asked for.")
    elif settings.run:
        remarks.append("Submissions were also run under numba's simulator, each in a sandbox.")
    if settings.archs:
        bare = "WITHOUT a sandbox, as --unsafe-no-sandbox asked for"
        where = bare if settings.bare else "each in a sandbox"
        archs = ", ".join(settings.archs)
        remarks.append(f"Kernels were also compiled for {archs}, {where}, by {batch.toolkit}.")
    return tuple(remarks)


def _generous(batch: Batch) -> Iterator[Problem]:
    """Overrides with more points than there are: extra credit, or a slip of the pen."""
    for one in batch.overrides:
        blank = batch.blanks[one.exercise]
        parts = {item.id: item.possible for item in blank.questions}
        parts |= {item.name: item.possible for item in blank.checks}
        possible = parts[one.question] if one.question else blank.possible
        if one.points > possible:
            where = "/".join(filter(None, (one.exercise, one.question)))
            what = (
                f"{where}: {number(one.points)} points were given of {number(possible)}; they count as given"
            )
            yield Problem("override", one.student, what)


def _similar(batch: Batch) -> tuple[SimilarGroup, ...]:
    groups: list[SimilarGroup] = []
    for name, bundle in batch.bundles.items():
        if not bundle.file_name.endswith(".py"):
            continue
        last = {one.student.id: one for one in batch.found.submissions if one.exercise == name}
        texts = {}
        for student, one in last.items():
            try:
                texts[student] = one.read().decode("utf-8", "replace")
            except OSError:
                continue
        solution = exercises.find(name, batch.settings.rubrics).solution
        published = solution.read_text(encoding="utf-8") if solution is not None else None
        groups += similar(name, texts, bundle.skeleton, published)
    return tuple(groups)
