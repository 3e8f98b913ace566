"""Grading a number, with or without a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from grader.rubric.answers.misconceptions import LIBRARY
from grader.rubric.answers.reading import read_number
from grader.rubric.answers.schema import Mistake, NumberQuestion
from grader.rubric.answers.units import Unit, unit_of
from grader.rubric.answers.verdict import AnswerError, Verdict, partly, right, shortened, wrong
from grader.rubric.expressions import ExpressionError, evaluate

Number = int | float
Names = Mapping[str, Number]

MISSING_UNIT_SHARE = 0.5
_BARE = frozenset({"", "x", "times", "fold", "-fold"})
_PREFIXES = "kMGTP"
_BYTE_PREFIX = re.compile(
    r"kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|[kmgtp](?P<mark>i?)(?=b)", re.IGNORECASE
)
_ONE = Unit(1.0, ())


def expected_number(question: NumberQuestion, names: Names) -> Number:
    """The right value in the question's unit. Raises ``ExpressionError`` where the rubric's has none."""
    return evaluate(question.value, names) if isinstance(question.value, str) else question.value


def answered_number(question: NumberQuestion, answer: object) -> Number:
    """What a student's answer is worth in the question's unit. Raises ``AnswerError``."""
    value, spelled = read_number(answer)
    return value * _scale(question, spelled)


def grade_number(question: NumberQuestion, answer: object, names: Names, own: Names | None = None) -> Verdict:
    """Grade one answer.

    ``names`` hold what is given and, where the question ``uses`` earlier parts, their right values;
    ``own`` the same with the student's own results in place of those. Raises ``AnswerError``.
    """
    value, spelled = read_number(answer)
    value *= _scale(question, spelled)
    expected = expected_number(question, names)
    unitless = bool(question.unit) and not spelled and not question.unit_optional
    if _close(question, value, expected):
        return _without_unit(question) if unitless else right(question.explain)
    if own is not None and own != names and _follows(question, value, own):
        note = "This follows from your own earlier result, so it counts in full; correct that one."
        return _without_unit(question) if unitless else right(note)
    for wrong_value, says, credit in mistakes_of(question, names):
        if _close(question, value, wrong_value):
            return partly(credit, says)
    if unitless and _close_with_prefix(question, value, expected):
        return wrong(
            f"A number of this size needs its unit: write it in {question.unit}, with a prefix if you like."
        )
    slip = _unit_slip(question, value, expected, spelled) or _near(value, expected)
    return wrong(slip or question.hint or _size(value, expected))


def mistakes_of(question: NumberQuestion, names: Names) -> Iterator[tuple[Number, str, float]]:
    """Each known mistake of a question: the number it leads to, what to say, the share it still earns."""
    for mistake in question.mistakes:
        try:
            if isinstance(mistake, Mistake):
                value = evaluate(mistake.value, names) if isinstance(mistake.value, str) else mistake.value
                yield value, mistake.says, mistake.credit
            else:
                known = LIBRARY[mistake]
                yield (
                    known.derive(lambda with_names: expected_number(question, with_names), names),
                    known.says,
                    0.0,
                )
        except (ExpressionError, ZeroDivisionError):
            continue


def _scale(question: NumberQuestion, spelled: str) -> float | int:
    """The factor from the unit that was written to the one the question is in."""
    if not question.unit:
        if spelled.lower() in _BARE:
            return 1
        if (have := unit_of(spelled)).measures:
            raise AnswerError(f"a plain number is wanted here, and {shortened(spelled)} is a unit")
        return have.factor
    if not spelled:
        return 1
    want = unit_of(question.unit)
    have = unit_of(spelled)
    if have.measures != want.measures:
        # FLOPS stands for FLOP/s as often as for more than one FLOP.
        if (
            re.fullmatch("[kMGTP]?(?:FLOPS|flops|Flops)", spelled)
            and unit_of(f"{spelled}/s").measures == want.measures
        ):
            have = unit_of(f"{spelled}/s")
        else:
            raise AnswerError(f"{spelled} measures something else than {question.unit}, which is asked for")
    ratio = have.factor / want.factor
    return round(ratio) if ratio >= 1 and math.isclose(ratio, round(ratio), rel_tol=1e-12) else ratio


def _close(question: NumberQuestion, value: Number, expected: Number) -> bool:
    # Slack for rounding in the last bits: 67/3.35 is 20 to a student and 19.999999999999996 in binary.
    room = max(question.absolute, question.relative * abs(expected), 1e-9 * abs(expected))
    return abs(value - expected) <= room


def _follows(question: NumberQuestion, value: Number, own: Names) -> bool:
    try:
        return _close(question, value, expected_number(question, own))
    except ExpressionError:
        return False


def _without_unit(question: NumberQuestion) -> Verdict:
    return partly(MISSING_UNIT_SHARE, f"The number is right in {question.unit}, and its unit is missing.")


def _close_with_prefix(question: NumberQuestion, value: Number, expected: Number) -> bool:
    return any(
        _close(question, value * base**power, expected) for base in (1000, 1024) for power in range(1, 6)
    )


def _unit_slip(question: NumberQuestion, value: Number, expected: Number, spelled: str) -> str:
    """What to say where the number would be right in another unit than the one written with it."""
    if not spelled or not expected:
        return ""
    measures = dict(unit_of(spelled).measures)
    if "bit" in measures:
        if said := _binary_slip(question, value, expected, spelled):
            return said
        if _close(question, value * 8, expected) or _close(question, value / 8, expected):
            return "That is off by a factor of 8: a byte (B) is 8 bits (b)."
    for power in (1, 2, 3):
        for factor in (1000.0**power, 1000.0**-power):
            if _close(question, value * factor, expected):
                return f"The digits are right, the prefix is not: {spelled} is off by 10^{3 * power}."
    return ""


def _binary_slip(question: NumberQuestion, value: Number, expected: Number, spelled: str) -> str:
    """GB written for GiB or the other way round; the two differ by 1.024 for each step of the prefix."""
    found = _BYTE_PREFIX.match(spelled)
    if found is None:
        return ""
    letter = "k" if found[0][0] in "kK" else found[0][0].upper()
    is_binary = "i" in (found["mark"] or "") or "bi" in found[0].lower()
    steps = _PREFIXES.index(letter) + 1
    decimal, binary = f"{letter}B", f"{letter.upper()}iB"
    rule = f"1 {decimal} is 10^{3 * steps} bytes and 1 {binary} is 2^{10 * steps}."
    if is_binary and _close(question, value / 1.024**steps, expected):
        return f"That is the number of {decimal}, and you wrote {binary}: {rule}"
    if not is_binary and _close(question, value * 1.024**steps, expected):
        return f"That is the number of {binary}, and you wrote {decimal}: {rule}"
    return ""


def _near(value: Number, expected: Number) -> str:
    if expected and 0.9 < value / expected < 1.1:
        return "Close, and outside the tolerance: check the rounding of the steps before."
    return ""


def _size(value: Number, expected: Number) -> str:
    if expected and value and (value < 0) != (expected < 0):
        return "The sign is wrong."
    if not value or not expected:
        return "That is not the value asked for."
    return f"That is too {'large' if abs(value) > abs(expected) else 'small'}."
