"""The one evaluator of arithmetic written as text: shapes, formulas, expected values.

A text such as ``"2.5*TILE"`` or ``"ceil(N / TILE)"`` is parsed with ``ast``; the tree is walked node by
node and only what is listed here is accepted. Nothing is compiled or executed. Length, depth, digits
and the size of every intermediate value are bounded, so a hostile text costs milliseconds.

The language: numbers, names, ``+ - * / // % **``, unary ``+ -``, parentheses, and calls of
``abs ceil floor min max sqrt log2 round``. There are no attributes, subscripts, comparisons or strings.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

__all__ = ["FUNCTIONS", "ExpressionError", "evaluate", "names_in"]

Number = int | float

MAX_LENGTH = 500
MAX_DEPTH = 40
MAX_DIGITS = 40
MAX_BITS = 512
MAX_EXPONENT = 64

_ALLOWED_TEXT = re.compile(r"[A-Za-z0-9_+\-*/%(),. \t\n]*")
# A number run together with a name: Python would warn and read "1if x" as two words.
_GLUED = re.compile(r"(?<![A-Za-z0-9_.])[0-9][0-9_.]*(?![eE][+-]?[0-9])[A-Za-z][A-Za-z0-9_]*")
_LONG_DIGITS = re.compile(rf"[0-9_]{{{MAX_DIGITS + 1},}}")


class ExpressionError(ValueError):
    """The text is not an expression of the language, or has no finite value. ``str()`` is one line."""


def evaluate(text: str, names: Mapping[str, Number]) -> Number:
    """The value of ``text`` with each name replaced by its value in ``names``.

    Whole numbers stay ``int`` through ``+ - * // % **`` and ``ceil``, ``floor``, ``min``, ``max``;
    ``/`` gives a ``float``, as in Python. The result is always finite.

    Raises
    ------
    ExpressionError
        Not in the language, an unknown name, division by zero, or too large.
    """
    return _value(_parsed(text), names)


def names_in(text: str) -> frozenset[str]:
    """The variables that ``text`` uses. Raises ``ExpressionError`` as ``evaluate`` does."""
    return frozenset(
        node.id for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name) and node.id not in FUNCTIONS
    )


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression has {len(text)} characters; at most {MAX_LENGTH} are read")
    if not text.strip():
        raise ExpressionError("the expression is empty")
    allowed = _ALLOWED_TEXT.match(text)
    if allowed is not None and allowed.end() < len(text):
        raise ExpressionError(_refused_character(text[allowed.end()]))
    if _LONG_DIGITS.search(text):
        raise ExpressionError(f"a number in the expression has more than {MAX_DIGITS} digits")
    if glued := _GLUED.search(text):
        raise ExpressionError(f"{_short(glued.group())} is not a number or a name; write * between factors")
    line = " ".join(text.split())
    try:
        tree = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ExpressionError(f"cannot read {_short(text)} as an expression") from None
    _check(tree, line, MAX_DEPTH)
    return tree


def _refused_character(character: str) -> str:
    if character == "^":
        return "'^' is not read as a power; write **"
    if character in "<>=!":
        return f"{character!r} is not allowed: an expression has no comparison"
    return f"the character {character!r} is not allowed in an expression"


def _check(node: ast.expr, line: str, depth: int) -> None:
    """Refuse every node outside the language, before any value is computed."""
    if depth == 0:
        raise ExpressionError(f"the expression is nested more than {MAX_DEPTH} deep")
    match node:
        case ast.Constant(value=True | False | None as value):
            raise ExpressionError(f"{value} is not a number")
        case ast.Constant(value=int() | float()) | ast.Name():
            return
        case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
            _check(operand, line, depth - 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, line, depth - 1)
            _check(right, line, depth - 1)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS:
                known = ", ".join(sorted(FUNCTIONS))
                raise ExpressionError(f"{name}() is not a function here; the functions are {known}")
            for argument in args:
                _check(argument, line, depth - 1)
        case _:
            raise ExpressionError(
                f"{_short(line[node.col_offset : node.end_col_offset])} is not allowed in an expression"
            )


def _value(node: ast.expr, names: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value):
            return _bounded(value)
        case ast.Name(id=name):
            return _named(name, names)
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, names)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _apply(_OPERATORS[type(op)], _value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _apply(FUNCTIONS[name], *(_value(argument, names) for argument in args))
    raise ExpressionError("not an expression")


def _named(name: str, names: Mapping[str, Number]) -> Number:
    if name in names:
        return _bounded(names[name])
    if name in FUNCTIONS:
        raise ExpressionError(f"{name} is a function; write {name}(...)")
    known = ", ".join(sorted(names))
    raise ExpressionError(f"{name!r} is not a name here" + (f"; the names are {known}" if known else ""))


def _apply(function: Callable[..., Number | complex], *values: Number) -> Number:
    try:
        result = function(*values)
    except ZeroDivisionError:
        raise ExpressionError("the expression divides by zero") from None
    except OverflowError:
        raise ExpressionError("a value in the expression is too large") from None
    except TypeError:
        raise ExpressionError("a function is called with the wrong number of values") from None
    except ValueError:
        raise ExpressionError("a value in the expression is outside the function's domain") from None
    if isinstance(result, complex):
        raise ExpressionError("the expression has no real value")
    return _bounded(result)


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ExpressionError("a value in the expression is not finite")
    elif value.bit_length() > MAX_BITS:
        raise ExpressionError("a value in the expression is too large")
    return value


def _power(base: Number, exponent: Number) -> Number | complex:
    # An integer power is computed exactly only where its size is known to be small beforehand.
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if base.bit_length() * exponent > MAX_BITS or exponent > MAX_EXPONENT:
            raise OverflowError
        return int(base**exponent)
    power: float | complex = float(base) ** float(exponent)
    return power


def _round(value: Number) -> int:
    return math.floor(value + 0.5)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number | complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}

FUNCTIONS: Mapping[str, Callable[..., Number | complex]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": _round,
    "sqrt": math.sqrt,
}
