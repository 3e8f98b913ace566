"""Operators, with numba's typing and NumPy's arithmetic."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import affine, logic, types, values, whole_numbers
from grader.simt.affine import Affine
from grader.simt.context import Context, Run, Typed
from grader.simt.types import Scalar
from grader.simt.values import cast, numeric

NAMES: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Is: "eq",
    ast.IsNot: "ne",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not_",
}

_WHOLE: dict[str, Callable[[Any, Any], Any]] = {
    "add": whole_numbers.int_add,
    "sub": whole_numbers.int_subtract,
    "mul": whole_numbers.int_multiply,
    "floordiv": whole_numbers.int_divide,
    "mod": whole_numbers.int_remainder,
    "and_": whole_numbers.int_and,
    "rshift": whole_numbers.int_shift_right,
    "lshift": whole_numbers.int_shift_left,
    "or_": lambda a, b: a | b if type(a) is type(b) is int else np.bitwise_or(numeric(a), numeric(b)),
    "xor": lambda a, b: a ^ b if type(a) is type(b) is int else np.bitwise_xor(numeric(a), numeric(b)),
}
_FLOAT: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}
_ORDER: dict[str, np.ufunc] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}


def convert(typed: Typed, code: str) -> Run:
    """The closure of ``typed`` with its value converted to a scalar type."""
    run = typed.run
    if isinstance(typed.kind, Scalar) and typed.kind.code == code:
        return run
    if isinstance(typed.kind, Scalar) and typed.kind.literal is not None:
        known = values.cast_scalar(typed.kind.literal, code)
        return lambda fr, m: known
    return lambda fr, m: cast(run(fr, m), code)


def binary(context: Context, node: ast.AST, op: ast.AST, left: Typed, right: Typed) -> Typed:
    """``left op right`` for two scalars."""
    name = NAMES.get(type(op))
    if name is None:
        context.unsupported(node, type(op).__name__)
    if not isinstance(left.kind, Scalar) or not isinstance(right.kind, Scalar):
        context.fail(node, "operand-type", operator=name, got=(left.kind.name, right.kind.name))
    found = types.signature(name, left.kind.code, right.kind.code)
    if found is None:
        context.fail(node, "operand-type", operator=name, got=(left.kind.name, right.kind.name))
    (first, second), result = found
    note_float64(context, node, left, right, result)
    _note_divisor(context, name, right.kind.literal)
    return Typed(Scalar(result), _operation(name, left, right, (first, second), result))


def _note_divisor(context: Context, name: str, divisor: int | None) -> None:
    """Keep the constants that thread numbers may be divided by: the launch's axes split there."""
    if divisor is None or not 0 < divisor < 1 << 20:
        return
    if name in ("floordiv", "mod"):
        context.kernel.divisors.add(divisor)
    elif name == "and_" and divisor & (divisor + 1) == 0:
        context.kernel.divisors.add(divisor + 1)
    elif name == "rshift" and divisor < 11:
        context.kernel.divisors.add(1 << divisor)


def _operation(name: str, left: Typed, right: Typed, codes: tuple[str, str], result: str) -> Run:
    if name in _ORDER:
        return _comparison(name, convert(left, codes[0]), convert(right, codes[1]), codes)
    if name == "pow":
        return _power(left, right, codes, result)
    if result in "?bhiqBHIQ":
        return _whole(name, left, right, codes, result)
    ufunc = _FLOAT[name]
    a, b = convert(left, codes[0]), convert(right, codes[1])
    if codes != (result, result):
        first, second = a, b
        kind = "d" if result == "d" else result
        a = lambda fr, m: cast(first(fr, m), kind)  # noqa: E731
        b = lambda fr, m: cast(second(fr, m), kind)  # noqa: E731
    if result == "d":
        return lambda fr, m: _double(ufunc(a(fr, m), b(fr, m)))
    return lambda fr, m: ufunc(a(fr, m), b(fr, m))


def _double(value: Any) -> Any:
    return float(value) if type(value) is np.float64 else value


def _whole(name: str, left: Typed, right: Typed, codes: tuple[str, str], result: str) -> Run:
    function = _WHOLE[name]
    if result == "?":
        a, b = convert(left, "?"), convert(right, "?")
        logic = {"and_": np.logical_and, "or_": np.logical_or, "xor": np.logical_xor}[name]
        return lambda fr, m: _plain_bool(logic(a(fr, m), b(fr, m)))
    a = convert(left, result)
    b = convert(right, "q" if name in ("lshift", "rshift") else result)
    if result == "q":
        return lambda fr, m: function(a(fr, m), b(fr, m))
    return lambda fr, m: cast(function(a(fr, m), b(fr, m)), result)


def _plain_bool(value: Any) -> Any:
    return bool(value) if type(value) is np.bool_ else value


def _power(left: Typed, right: Typed, codes: tuple[str, str], result: str) -> Run:
    """Powers: whole exponents by multiplication in the base's own type, as the device does."""
    a, b = convert(left, codes[0]), convert(right, codes[1])

    def run(fr: Any, m: Any) -> Any:
        base, exponent = a(fr, m), b(fr, m)
        if type(exponent) is int and 0 <= exponent <= 16 and result != "Q":
            total: Any = cast(1, result)
            multiply = whole_numbers.int_multiply if result == "q" else np.multiply
            for _ in range(exponent):
                total = multiply(total, cast(base, result))
            return _double(total)
        wide = "d" if result in "qQ" else result
        return cast(np.power(cast(base, wide), cast(exponent, wide)), result)

    return run


def _comparison(name: str, a: Run, b: Run, codes: tuple[str, str]) -> Run:
    ufunc = _ORDER[name]
    whole = codes[0] in "?bhiqBHIQ" and codes[1] in "?bhiqBHIQ"

    def run(fr: Any, m: Any) -> Any:
        left, right = a(fr, m), b(fr, m)
        if whole and type(left) in _LINEAR and type(right) in _LINEAR:
            return affine.compare(name, left, right)
        return _plain_bool(ufunc(numeric(left), numeric(right)))

    return run


_LINEAR = frozenset({int, bool, Affine})


def unary(context: Context, node: ast.UnaryOp, operand: Typed) -> Typed:
    """``-x``, ``+x``, ``~x`` and ``not x``."""
    name = NAMES[type(node.op)]
    run = operand.run
    if name == "not_":
        return logic.negation(operand)
    if not isinstance(operand.kind, Scalar):
        context.fail(node, "operand-type", operator=name, got=(operand.kind.name,))
    if operand.kind.literal is not None and name in ("neg", "pos"):
        known = -operand.kind.literal if name == "neg" else operand.kind.literal
        return Typed(types.literal(known), lambda fr, m: known)
    found = types.signature(name, operand.kind.code)
    if found is None:
        context.fail(node, "operand-type", operator=name, got=(operand.kind.name,))
    (own,), code = found
    run = convert(operand, code)
    if name == "pos":
        return Typed(Scalar(code), run)
    # numba negates and inverts integers as they are, and widens what comes out: -uint8(2) is 254.
    own = code if own == "?" else own
    if name == "invert":
        flip = np.logical_not if code == "?" else np.invert
        return Typed(Scalar(code), lambda fr, m: cast(cast(_invert(run(fr, m), flip, code), own), code))
    if code in "qQ":
        return Typed(
            Scalar(code), lambda fr, m: cast(cast(whole_numbers.int_subtract(0, run(fr, m)), own), code)
        )
    return Typed(Scalar(code), lambda fr, m: _double(np.negative(run(fr, m))))


def _invert(value: Any, ufunc: np.ufunc, code: str) -> Any:
    if type(value) is int:
        return cast(~value, code)
    return _plain_bool(ufunc(numeric(value)))


def note_float64(context: Context, node: ast.AST, left: Typed, right: Typed, result: str) -> None:
    """Note float32 arithmetic that a float64 operand widened."""
    if result != "d":
        return
    codes = {side.kind.code for side in (left, right) if isinstance(side.kind, Scalar)}
    if "f" not in codes and "e" not in codes:
        return
    span = context.program.span(node)
    origin = variable = None
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in context.origins:
            kind = context.kinds.get(part.id)
            if isinstance(kind, Scalar) and kind.code == "d":
                origin, variable = context.program.span(context.origins[part.id]), part.id
                break
    facts = {"variable": variable, "dtype": "float64"}
    context.note(("float64", span), Finding("float64-arithmetic", "note", span, origin, facts=facts))
