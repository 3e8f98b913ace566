"""One student's grade as Gradescope's and PrairieLearn's ``results.json``."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from grader.records import Report
from grader.reporters.classroom import Grade
from grader.reporters.compiled_text import compiled_properties
from grader.reporters.grade_tables import remark
from grader.reporters.tables import family_title, shapes_right

__all__ = ["gradescope", "prairielearn"]


def gradescope(grade: Grade, *, held: bool = False) -> str:
    """Write a grade for Gradescope. ``held``: visible once the instructor publishes the grades."""
    visibility = "after_published" if held else "visible"
    document: dict[str, Any] = {
        "output": remark(grade),
        "output_format": "text",
        "visibility": visibility,
        "tests": [
            {**test, "output_format": "text", "visibility": visibility}
            for test in _tests(grade.view, "score", "max_score")
        ],
    }
    if figures := dict(compiled_properties(grade.view)):
        document["extra_data"] = figures
    if grade.final is not None:
        document["score"] = grade.final
    elif not document["tests"]:
        # Gradescope refuses a result without a score and without tests; no points are given for none.
        document["score"] = 0.0
    return _text(document)


def prairielearn(grade: Grade) -> str:
    """Write a grade for PrairieLearn; what has no points, not judged or not there, uses up no attempt."""
    view = grade.view
    if grade.final is None:
        why = view.reason or "the submission could not be judged"
        return _text({"gradable": False, "format_errors": [why]})
    share = grade.final / view.possible if view.possible else 0.0
    return _text(
        {
            "gradable": True,
            "score": round(max(0.0, min(share, 1.0)), 6),
            "output": remark(grade),
            "tests": _tests(view, "points", "max_points"),
        }
    )


def _tests(view: Report, points: str, possible: str) -> list[dict[str, Any]]:
    tests = [
        {
            "name": f"check {one.name}",
            points: one.points,
            possible: one.possible,
            "status": "passed" if one.passed else "failed",
            "output": one.detail,
        }
        for one in view.checks
    ]
    tests += [
        {
            "name": f"shapes {family_title(one.name)}",
            points: 0,
            possible: 0,
            "status": "passed" if one.passed == one.total else "failed",
            "output": shapes_right(one),
        }
        for one in view.families
    ]
    tests += [
        {
            "name": f"question {one.id}",
            points: one.points,
            possible: one.possible,
            "status": "passed" if one.status == "right" else "failed",
            "output": one.message or one.status,
        }
        for one in view.questions
    ]
    return tests


def _text(document: dict[str, Any]) -> str:
    # Laid out by msgspec: the standard library's own indenting is ten times slower.
    return msgspec.json.format(json.dumps(document, ensure_ascii=True, allow_nan=False), indent=2) + "\n"
