"""A student's own worksheet: a template's placeholders filled from the student's key.

The template of ``rubrics/NAME.yaml`` is ``rubrics/NAME.md``, with ``{{student}}`` once in an answer block and
``{{NAME}}`` for each quantity of the rubric's ``given``. Grading the sheet takes the key from it, so it draws
the same numbers again.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.rubric.answers.parameters import quantities
from grader.rubric.load import load
from grader.rubric.worksheet import is_student_key

__all__ = ["EXAMPLE", "NotPersonalError", "StudentKeyError", "UnknownPlaceholderError", "fill", "worksheet"]

# The key of the sheet that ships with the exercises, and of its published solution.
EXAMPLE = "example"

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class NotPersonalError(LookupError):
    """The exercise has no numbers of a student's own. ``str()`` is its rubric's path."""


class StudentKeyError(ValueError):
    """A student key that a sheet cannot hold. ``str()`` is the key."""


class UnknownPlaceholderError(LookupError):
    """A template asks for a quantity that the rubric does not give. ``str()`` is its name."""


def worksheet(rubric: Path | str, student: str) -> str:
    """The worksheet of one student for the exercise whose rubric lies at ``rubric``.

    Raises
    ------
    RubricError
        The rubric cannot be used.
    NotPersonalError
        It has no template.
    StudentKeyError
        ``student`` is not 1 to 64 letters, digits and ``. _ @ + -``, beginning with a letter or digit.
    """
    if not is_student_key(student):
        raise StudentKeyError(student)
    template = Path(rubric).with_suffix(".md")
    if not template.is_file():
        raise NotPersonalError(str(rubric))
    given = quantities(load(rubric).given, student)
    return fill(template.read_text(encoding="utf-8"), {**given.written, "student": student})


def fill(template: str, written: dict[str, str]) -> str:
    """``template`` with each ``{{name}}`` replaced. Raises ``UnknownPlaceholderError``."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in written:
            raise UnknownPlaceholderError(found[1])
        return written[found[1]]

    return _PLACEHOLDER.sub(value, template)
