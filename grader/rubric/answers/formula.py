"""Grading algebra: two formulas are equal when they agree at many seeded points."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from functools import lru_cache

from grader.rubric.answers.schema import FormulaQuestion
from grader.rubric.answers.verdict import AnswerError, Verdict, partly, right, shortened, wrong
from grader.rubric.expressions import FUNCTIONS, ExpressionError, evaluate, names_in

POINTS = 24
MAX_LENGTH = 300
TOLERANCE = 1e-9

_SPELLINGS = str.maketrans(
    {
        "×": "*",
        "·": "*",
        "⋅": "*",
        "−": "-",
        "–": "-",
        "÷": "/",
        "^": "\0",
        "[": "(",
        "]": ")",
        "{": "(",
        "}": ")",
    }
)
_SUPERSCRIPTS = {"²": "**2", "³": "**3", "⁴": "**4"}
_LEFT_SIDE = re.compile(r"\s*[A-Za-z_]\w*(?:\([^()]*\))?\s*[=≈]\s*")
_IMPLIED = re.compile(
    r"(?<![A-Za-z0-9_.])([0-9]+(?:\.[0-9]+)?)\s*(?=[A-Za-z_(])(?![eE][+-]?[0-9])|\)\s*(?=[A-Za-z0-9_(])"
)
_NAME = re.compile(r"(?<![0-9.])[A-Za-z_]\w*")


def grade_formula(question: FormulaQuestion, answer: object) -> Verdict:
    """Grade one answer. Raises ``AnswerError`` where it is no formula in the question's variables."""
    text = read_formula(answer, tuple(question.variables))
    points = points_of(question)
    if agree(text, question.value, points):
        return right(question.explain)
    for mistake in question.mistakes:
        if agree(text, str(mistake.value), points):
            return partly(mistake.credit, mistake.says)
    if factor := _constant_factor(text, question.value, points):
        return wrong(f"Right but for a constant factor: yours is {factor:.4g} times the formula asked for.")
    if unused := sorted(names_in(question.value) - names_in(text)):
        return wrong(question.hint or f"It has to depend on {' and '.join(unused)}.")
    return wrong(question.hint or "It is not equal to the right formula.")


def points_of(question: FormulaQuestion) -> list[dict[str, float]]:
    """Where formulas are compared: the same points each time, spread evenly in the logarithm."""
    source = random.Random(f"{question.id}/{question.value}")  # noqa: S311 - points, not secrets
    return [
        {name: _drawn(source, *bounds) for name, bounds in sorted(question.variables.items())}
        for _ in range(POINTS)
    ]


def agree(one: str, other: str, points: list[dict[str, float]]) -> bool:
    """Whether two formulas agree at every point. Raises ``AnswerError`` where ``one`` has no value."""
    return all(_equal(_value(one, point), evaluate(other, point)) for point in points)


def read_formula(answer: object, variables: tuple[str, ...]) -> str:
    """``answer`` as an expression over ``variables``.

    Forgiven: ``^`` for a power, ``2N`` and ``2(a+b)`` for products, a left-hand side, other case, other
    underscores, and letters run together (``MNK``) where they split into variables in one way only.

    Raises
    ------
    AnswerError
        It is not a formula, or uses a name that is no variable here.
    """
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise AnswerError("a formula is wanted, written as text")
    if isinstance(answer, int) and answer.bit_length() > MAX_LENGTH:
        raise AnswerError("the number is too large to be read")
    return _read(str(answer)[: MAX_LENGTH + 1], variables)


@lru_cache(maxsize=256)
def _read(written: str, variables: tuple[str, ...]) -> str:
    if len(written) > MAX_LENGTH:
        raise AnswerError(f"more than {MAX_LENGTH} characters are too many for a formula")
    text = written.translate(_SPELLINGS).replace("\0", "**")
    for mark, power in _SUPERSCRIPTS.items():
        text = text.replace(mark, power)
    text = _IMPLIED.sub(lambda found: found[0].rstrip() + "*", _LEFT_SIDE.sub("", text, count=1))
    text = _NAME.sub(lambda found: _variable(found[0], variables), text)
    try:
        unknown = sorted(names_in(text) - set(variables))
    except ExpressionError as error:
        raise AnswerError(f"cannot read {shortened(written)} as a formula: {error}") from None
    if unknown:
        listed = ", ".join(variables)
        raise AnswerError(f"{shortened(unknown[0])} is not a variable here; the variables are {listed}")
    return text


def _variable(name: str, variables: tuple[str, ...]) -> str:
    if name in variables or name in FUNCTIONS:
        return name
    plain = name.replace("_", "").lower()
    same = [variable for variable in variables if variable.replace("_", "").lower() == plain]
    if len(same) == 1:
        return same[0]
    splits = list(_splits(name, variables)) if len(name) <= 12 else []
    return "*".join(splits[0]) if len(splits) == 1 else name


def _splits(text: str, variables: tuple[str, ...]) -> list[list[str]]:
    if not text:
        return [[]]
    heads = [variable for variable in variables if text.startswith(variable)]
    return [[head, *rest] for head in heads for rest in _splits(text[len(head) :], variables)][:2]


def _drawn(source: random.Random, low: float, high: float) -> float:
    if low > 0:
        return math.exp(source.uniform(math.log(low), math.log(high)))
    return source.uniform(low, high)


def _value(text: str, point: Mapping[str, float]) -> float:
    try:
        return evaluate(text, point)
    except ExpressionError as error:
        where = ", ".join(f"{name} = {value:.3g}" for name, value in point.items())
        raise AnswerError(f"the formula has no value at {where}: {error}") from None


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE * TOLERANCE)


def _constant_factor(one: str, other: str, points: list[dict[str, float]]) -> float | None:
    """The factor between two formulas where it is the same, and none of the variables', everywhere."""
    pairs = [(evaluate(one, point), evaluate(other, point)) for point in points]
    if any(right_value == 0 or value == 0 for value, right_value in pairs):
        return None
    ratios = [value / right_value for value, right_value in pairs]
    return ratios[0] if all(_equal(ratio, ratios[0]) for ratio in ratios) else None
