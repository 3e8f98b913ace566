"""Points that a person gives, in a CSV that outlives every regrading."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from grader.batch.layouts import fold
from grader.batch.problems import BatchError, printable
from grader.batch.tables import read_table
from grader.records import Outcome, Report
from grader.reporters.classroom import Override

__all__ = ["apply", "read_overrides", "student_of"]

_COLUMNS = ("student", "question", "points", "reason", "grader")


def read_overrides(path: Path, exercises: Mapping[str, Report]) -> tuple[Override, ...]:
    """Read ``student,question,points,reason,grader``.

    ``question`` is ``EXERCISE``, ``EXERCISE/QUESTION`` or, where one exercise alone has it, ``QUESTION``;
    a check's name does as well. A row without points is one that nobody has filled in yet.
    ``exercises`` gives, for each exercise, a report with its checks and questions.

    Raises
    ------
    BatchError
        The file cannot be read, or a row names what is not there: its line.
    """
    table = read_table(path, "overrides")
    headings = [heading.strip().casefold() for heading in table.headings]
    if missing := [name for name in _COLUMNS if name not in headings]:
        needed = f"the overrides need a column {missing[0]!r}; all are {', '.join(_COLUMNS)}"
        raise BatchError(f"{path}:{table.line}: {needed}")
    found: dict[tuple[str, str, str], Override] = {}
    for row in table.rows:
        at = {name: headings.index(name) for name in _COLUMNS}
        cells = {
            name: row.cells[index].strip() if index < len(row.cells) else "" for name, index in at.items()
        }
        if not cells["points"]:
            continue
        one = _override(f"{path}:{row.line}", cells, exercises)
        found[fold(one.student), one.exercise, one.question] = one
    return tuple(found.values())


def student_of(cell: str) -> str:
    """Give the student's id of a cell, without the apostrophe that keeps a spreadsheet from computing it."""
    return cell.strip().removeprefix("'")


def _override(where: str, cells: Mapping[str, str], exercises: Mapping[str, Report]) -> Override:
    exercise, question = _target(where, cells["question"], exercises)
    try:
        points = float(cells["points"].replace(",", "."))
    except ValueError:
        points = math.nan
    if not math.isfinite(points) or points < 0:
        raise BatchError(f"{where}: {printable(cells['points'])!r} is no number of points")
    if not cells["reason"]:
        raise BatchError(f"{where}: an override needs a reason, which the student gets to read")
    student = student_of(cells["student"])
    return Override(
        student, exercise, question, points, printable(cells["reason"]), printable(cells["grader"])
    )


def _target(where: str, written: str, exercises: Mapping[str, Report]) -> tuple[str, str]:
    name, _, question = written.partition("/")
    if name in exercises and (not question or question in _parts(exercises[name])):
        return name, question
    fitting = [exercise for exercise, report in exercises.items() if written in _parts(report)]
    if len(fitting) == 1:
        return fitting[0], written
    why = "several exercises have it; write EXERCISE/QUESTION" if fitting else "there is none of that name"
    raise BatchError(f"{where}: question {printable(written)!r}: {why}")


def _parts(report: Report) -> set[str]:
    return {one.id for one in report.questions} | {one.name for one in report.checks}


def apply(report: Report, overrides: Iterable[Override]) -> Report:
    """Give a report with a person's points in place of the grader's."""
    for one in overrides:
        if not one.question:
            report = replace(report, points=one.points, pending=0.0)
            continue
        before = report
        questions = tuple(
            replace(
                item,
                points=one.points,
                pending=0.0,
                status=_status(one.points, item.possible),
                message=one.reason,
            )
            if item.id == one.question
            else item
            for item in report.questions
        )
        checks = tuple(
            replace(item, points=one.points, passed=one.points >= item.possible, detail=one.reason)
            if item.name == one.question
            else item
            for item in report.checks
        )
        change = _sum(checks, questions) - _sum(before.checks, before.questions)
        pending = round(sum(item.pending for item in questions), 2)
        report = replace(
            report,
            checks=checks,
            questions=questions,
            points=round(report.points + change, 2),
            pending=pending,
        )
    if report.outcome is Outcome.PASS and any(item.status == "wrong" for item in report.questions):
        report = replace(report, outcome=Outcome.FAIL, reason="a person judged an answer wrong")
    return report


def _status(points: float, possible: float) -> Literal["right", "partly right", "wrong"]:
    return "right" if points >= possible else "partly right" if points > 0 else "wrong"


def _sum(checks: Iterable[object], questions: Iterable[object]) -> float:
    return float(sum(getattr(item, "points") for item in (*checks, *questions)))  # noqa: B009
