"""Named quantities of a rubric, among them those drawn for each student.

A draw is decided by HMAC-SHA-256 with the student's key over the name, so it is the same on every machine
and says nothing about another student's.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.rubric.answers.schema import Given, Givens, GivenValue, Option, Value
from grader.rubric.expressions import ExpressionError, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

Number = int | float


class StudentUnknownError(Exception):
    """A quantity is drawn per student and no student key is known."""


class GivenError(ValueError):
    """A ``given`` entry of the rubric has no value. ``str()`` names it."""


@dataclass(frozen=True, slots=True)
class Quantities:
    """Values by name, for expressions, and how each is written in a sheet."""

    values: Mapping[str, Number]
    written: Mapping[str, str]


def quantities(
    givens: Givens, student: str | None, *, scope: str = "", outer: Quantities | None = None
) -> Quantities:
    """Evaluate ``givens`` in order, each over those before it and over ``outer``.

    ``scope`` (a question's id) keeps equal names in different questions from being drawn alike.

    Raises
    ------
    StudentUnknownError
        There is a draw and ``student`` is None.
    GivenError
        An entry has neither value nor draw, or an expression without a value.
    """
    values: dict[str, Number] = dict(outer.values) if outer else {}
    written: dict[str, str] = dict(outer.written) if outer else {}
    for name, entry in givens.items():
        given = entry if isinstance(entry, Given) else Given(value=entry)
        if given.draw:
            chosen: int | float | Option = given.draw[_drawn(student, scope, name, len(given.draw))]
        elif isinstance(given.value, str):
            chosen = _expression(name, given.value, values)
        elif given.value is not None:
            chosen = given.value
        else:
            raise GivenError(f"given {name}: needs a value or a draw")
        if isinstance(chosen, Option):
            written[name] = chosen.label
            for key, value in chosen.values.items():
                _add(f"{name}_{key}", value, "", values, written)
        else:
            _add(name, chosen, given.unit, values, written)
    return Quantities(values, written)


def is_drawn(entry: GivenValue) -> bool:
    """Whether each student gets a value of their own."""
    return isinstance(entry, Given) and bool(entry.draw)


def _add(name: str, value: Value, unit: str, values: dict[str, Number], written: dict[str, str]) -> None:
    number = _expression(name, value, values) if isinstance(value, str) else value
    values[name] = number
    written[name] = f"{number:.6g}" if isinstance(number, float) else str(number)
    if unit:
        written[name] += f" {unit}"


def _expression(name: str, text: str, values: Mapping[str, Number]) -> Number:
    try:
        return evaluate(text, values)
    except ExpressionError as error:
        raise GivenError(f"given {name}: {error}") from None


def _drawn(student: str | None, scope: str, name: str, count: int) -> int:
    if student is None:
        raise StudentUnknownError(name)
    digest = hmac.new(student.encode(), f"{scope}/{name}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big") % count
