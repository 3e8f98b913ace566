"""Reading one number and its unit from what a student wrote.

``549.8 GB``, ``549,755,813,888 B``, ``5.498 x 10^11 bytes``, ``2*4096^3 FLOP``, ``1/4 FLOP per byte``,
``T >= 80`` and ``0,25`` are all read; a value that is not one finite number is refused with its reason.
"""

from __future__ import annotations

import math
import re

from grader.rubric.answers.verdict import AnswerError, shortened
from grader.rubric.expressions import ExpressionError, evaluate

Number = int | float

MAX_LENGTH = 120
MAX_BITS = 512

_SPELLINGS = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "−": "-", "–": "-", "÷": "/", "\u00a0": " ", "\u202f": " "}
)
_SUPERSCRIPT = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_PLAIN_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

_LEAD_IN = re.compile(
    r"(?:about|approx\w*\.?|ca\.?|roughly|[~≈=]|[A-Za-z_]\w*\s*(?:>=|≥|=|≈))\s*", re.IGNORECASE
)
_OPEN_BOUND = re.compile(r"[A-Za-z_]*\s*[<>≤]")
_REMARK = re.compile(r"\s*\([^()]*[A-Za-z][^()]*\)\s*$")
_TIMES = re.compile(r"(?<=[0-9])\s*[xX]\s*(?=[0-9])")
_NUMBER = re.compile(r"(?:[0-9.,_'()+*/^ \-]|(?<=[0-9.])[eE](?=[+-]?[0-9]))+")
_GROUPED = re.compile(r"(?<![0-9.])[1-9][0-9]{0,2}(?:([,' _])[0-9]{3})(?:\1[0-9]{3})*(?![0-9])")
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_LITERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_DECIMAL = re.compile(r"[+-]?0[xXbBoO][0-9A-Fa-f]")
_NOT_FINITE = re.compile(r"[+-]?\.?(?:nan|inf(?:inity)?)", re.IGNORECASE)


def read_number(answer: object) -> tuple[Number, str]:
    """The value of ``answer`` and the unit written behind it ("" for none).

    Raises
    ------
    AnswerError
        ``answer`` is not one finite number.
    """
    if isinstance(answer, bool) or not isinstance(answer, int | float | str):
        raise AnswerError(f"one number is wanted, not {_described(answer)}")
    if not isinstance(answer, str):
        return _finite(answer), ""
    if len(answer) > MAX_LENGTH:
        raise AnswerError(f"{len(answer)} characters are too many for one number")
    text = _tidied(answer)
    if _NOT_FINITE.fullmatch(text):
        raise AnswerError(f"{shortened(answer)} is not a finite number")
    if _OPEN_BOUND.match(text):
        raise AnswerError("a bound is no number here; write the number alone")
    if (
        _NOT_DECIMAL.match(answer.strip())
        or not (found := _NUMBER.match(text))
        or not re.search("[0-9]", found[0])
    ):
        raise AnswerError(f"cannot read {shortened(answer)} as a number")
    number, unit = found[0].strip(), text[found.end() :].strip()
    if unit and number.endswith("/"):
        number, unit = number[:-1], f"1/{unit}"
    return _evaluated(number, answer), unit


def _tidied(answer: str) -> str:
    text = answer.translate(_SPELLINGS)
    text = _SUPERSCRIPT.sub(lambda found: "^" + found[0].translate(_PLAIN_DIGITS), text).strip()
    text = _REMARK.sub("", text).strip().rstrip(".")
    while (lead := _LEAD_IN.match(text)) and lead.end() < len(text):
        text = text[lead.end() :]
    return _TIMES.sub("*", text.replace("**", "^"))


def _evaluated(number: str, answer: str) -> Number:
    number = _GROUPED.sub(lambda found: found[0].replace(found[1], ""), number)
    number = _DECIMAL_COMMA.sub(".", number)
    if _LITERAL.fullmatch(number) and len(number) <= 40:
        return _finite(float(number) if re.search(r"[.eE]", number) else int(number))
    try:
        return evaluate(number.replace("^", "**"), {})
    except ExpressionError as error:
        raise AnswerError(f"cannot read {shortened(answer)} as a number: {error}") from None


def _finite(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise AnswerError("the answer is not a finite number")
    elif value.bit_length() > MAX_BITS:
        raise AnswerError("the number is too large to be read")
    return value


def _described(answer: object) -> str:
    if isinstance(answer, bool):
        return "true or false"
    if isinstance(answer, list | tuple | set | frozenset):
        return "a list"
    return "a table of keys and values" if isinstance(answer, dict) else f"a {type(answer).__name__}"
