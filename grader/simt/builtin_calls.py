"""Python's builtin functions and casts, as numba types them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt import arithmetic, types, values, whole_numbers
from grader.simt.arguments import Handler, mapped, parts_of, refuse_types, scalars, with_taint
from grader.simt.context import Context, Typed
from grader.simt.mathematics import float_code
from grader.simt.types import INT64, NONE, Array, Scalar, Text, Tuple
from grader.simt.values import cast, join, strip


def to_type(context: Context, node: ast.Call, arguments: list[Typed], code: str) -> Typed:
    """``float32(x)`` and its siblings."""
    if not arguments and code in "qd?":
        return Typed(Scalar(code), lambda fr, m: values.cast_scalar(0, code))
    kinds = scalars(context, node, arguments)
    if kinds[0].is_complex and code not in "FD":
        refuse_types(context, node, kinds, types.NAMES[code])
    return Typed(Scalar(code), arithmetic.convert(arguments[0], code))


def whole(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``int(x)`` keeps an integer's own width."""
    kinds = scalars(context, node, arguments)
    if kinds[0].is_complex:
        refuse_types(context, node, kinds, "float64")
    code = kinds[0].code if kinds[0].is_int and kinds[0].code != "?" else "q"
    return Typed(Scalar(code, kinds[0].literal), arithmetic.convert(arguments[0], code))


def floating(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``float(x)`` keeps a float's own width."""
    kinds = scalars(context, node, arguments)
    if kinds[0].is_complex or kinds[0].code == "?":
        refuse_types(context, node, kinds, "float64")
    code = kinds[0].code if kinds[0].is_float else "d"
    return Typed(Scalar(code), arithmetic.convert(arguments[0], code))


def boolean(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``bool(x)``."""
    scalars(context, node, arguments)
    run = arguments[0].run
    return Typed(types.BOOL, lambda fr, m: values.as_condition(run(fr, m)))


def extreme(least: bool) -> Handler:
    """``min`` or ``max`` of two or more numbers, or of a tuple of numbers."""
    integers = whole_numbers.int_minimum if least else whole_numbers.int_maximum
    ufunc = np.fmin if least else np.fmax

    def handler(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
        of_tuple = len(arguments) == 1 and isinstance(arguments[0].kind, Tuple)
        if of_tuple:
            arguments = parts_of(arguments[0])
        if len(arguments) < 2:
            context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(arguments), wanted=2)
        kinds = scalars(context, node, arguments, len(arguments))
        kind = types.plain(kinds[0])
        for other in kinds[1:]:
            kind = types.unify(kind, types.plain(other))
        assert isinstance(kind, Scalar)
        bools = sum(each.code == "?" for each in kinds)
        paired = bools == len(kinds) and (of_tuple or bools == 2)
        if kind.is_complex or (bools and not paired):
            refuse_types(context, node, kinds, "float64")
        runs = [arithmetic.convert(argument, kind.code) for argument in arguments]
        return Typed(kind, _fold(runs, kind.code, integers if kind.is_int else ufunc, min if least else max))

    return handler


def _fold(runs: list[Any], code: str, combine: Callable[[Any, Any], Any], plain: Callable[..., Any]) -> Any:
    def execute(fr: Any, m: Any) -> Any:
        result = runs[0](fr, m)
        for run in runs[1:]:
            other = run(fr, m)
            known = isinstance(result, float) and isinstance(other, float)
            if known and not math.isnan(result) and not math.isnan(other):
                result = plain(result, other)
            else:
                result = combine(result, other)
        return float(result) if type(result) is np.float64 else result

    return execute


def length(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``len`` of a tuple, of constant text or of an array's first axis."""
    kind = arguments[0].kind if len(arguments) == 1 else NONE
    if isinstance(kind, Tuple | Text):
        count = len(kind.items if isinstance(kind, Tuple) else kind.value)
        return Typed(types.literal(count), lambda fr, m: count)
    if not isinstance(kind, Array):
        context.fail(node, "argument-type", name="len", got=kind.name)
    run = arguments[0].run
    return Typed(INT64, lambda fr, m: run(fr, m).shape[0])


def rounded(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``round(x)`` gives an integer; ``round(x, digits)`` a float, halves to even."""
    kinds = scalars(context, node, arguments, min(max(len(arguments), 1), 2))
    if any(kind.is_complex for kind in kinds):
        refuse_types(context, node, kinds, "float64")
    code = float_code(kinds[0]) if not kinds[0].is_int else "f" if kinds[0].code in "?bhB" else "d"
    run = arithmetic.convert(arguments[0], code)
    if len(arguments) == 1:
        return Typed(INT64, lambda fr, m: cast(with_taint(np.rint, run(fr, m)), "q"))
    digits = arithmetic.convert(arguments[1], "q")
    return Typed(Scalar(code), lambda fr, m: mapped(_round_digits, [run(fr, m), digits(fr, m)], code))


def _round_digits(value: Any, digits: Any) -> Any:
    """Scale in float64, round, scale back; a value whose scaled form overflows stays as it is."""
    x, n = np.asarray(value, np.float64), np.asarray(digits, np.int64)
    first = np.power(10.0, np.minimum(np.abs(n), 308).astype(float) - np.where(n > 22, 22.0, 0.0))
    second = np.where(n > 22, 1e22, 1.0)
    up = n >= 0
    scaled = np.where(up, x * first * second, x / first)
    near = np.rint(scaled)
    back = np.where(up, near / second / first, near * first)
    return np.where(np.isfinite(scaled), back, x)


def power(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``pow(a, b)`` is ``a ** b``."""
    scalars(context, node, arguments, 2)
    return arithmetic.binary(context, node, ast.Pow(), arguments[0], arguments[1])


def quotient_and_rest(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``divmod(a, b)``."""
    scalars(context, node, arguments, 2)
    parts = [arithmetic.binary(context, node, op, *arguments) for op in (ast.FloorDiv(), ast.Mod())]
    quotient, rest = parts[0].run, parts[1].run
    return Typed(Tuple((parts[0].kind, parts[1].kind)), lambda fr, m: (quotient(fr, m), rest(fr, m)))


def total(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``sum`` of a tuple."""
    if len(arguments) != 1 or not isinstance(arguments[0].kind, Tuple):
        context.unsupported(node, "sum")
    result = Typed(types.literal(0), lambda fr, m: 0)
    for part in parts_of(arguments[0]):
        result = arithmetic.binary(context, node, ast.Add(), result, part)
    return result


def as_tuple(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``tuple(t)`` of a tuple is the tuple."""
    if len(arguments) != 1 or not isinstance(arguments[0].kind, Tuple):
        context.unsupported(node, "tuple")
    return Typed(Tuple(arguments[0].kind.items), arguments[0].run)


def fused(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``cuda.fma(a, b, c)``; the sum is rounded apart from the product where float64 cannot hold it."""
    code = float_code(*scalars(context, node, arguments, 3))
    runs = [arithmetic.convert(argument, code) for argument in arguments]

    def compute(a: Any, b: Any, c: Any) -> Any:
        if code == "d":
            return np.add(np.multiply(a, b), c)
        return np.float64(a) * np.float64(b) + np.float64(c)

    return Typed(Scalar(code), lambda fr, m: mapped(compute, [run(fr, m) for run in runs], code))


def chosen(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``cuda.selp(condition, a, b)``: both are evaluated."""
    kinds = scalars(context, node, arguments, 3)
    kind = types.unify(types.plain(kinds[1]), types.plain(kinds[2]))
    assert isinstance(kind, Scalar)
    condition = arguments[0].run
    yes, no = (arithmetic.convert(argument, kind.code) for argument in arguments[1:])

    def execute(fr: Any, m: Any) -> Any:
        decided = values.as_condition(condition(fr, m))
        a, b = yes(fr, m), no(fr, m)
        if type(decided) is bool:
            return a if decided else b
        return join(values.select(strip(decided), a, b), decided)

    return Typed(kind, execute)


def nothing(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """A call without effect on what the machine models: fences and pauses."""
    return Typed(NONE, lambda fr, m: None)
