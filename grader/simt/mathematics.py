"""``math``, with the types that numba-cuda gives its functions."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt import arithmetic, types
from grader.simt.arguments import mapped, pair, refuse_types, scalars
from grader.simt.context import Context, Typed
from grader.simt.types import Array, Scalar
from grader.simt.values import cast, join, strip

# Functions that have a version for float16; the others compute it in float32.
HALF = frozenset(
    ["ceil", "cos", "exp", "exp2", "fabs", "floor", "log", "log10", "log2", "sin", "sqrt", "tanh", "trunc"]
)


def _each(function: Callable[..., float], count: int = 1) -> Callable[..., Any]:
    """A function of Python floats, element by element; an argument outside its domain gives NaN."""

    def one(*arguments: Any) -> float:
        try:
            return function(*(float(argument) for argument in arguments))
        except (ValueError, OverflowError):
            return math.nan

    raw = np.frompyfunc(one, count, 1)
    return lambda *arguments: np.asarray(raw(*arguments), float)


_NAMED = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh ceil floor trunc "
    "cbrt degrees radians"
)
UNARY: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _NAMED.split()},
    **{name: getattr(np, f"arc{name[1:]}") for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh"]},
    "fabs": np.abs,
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "gamma": _each(math.gamma),
    "lgamma": _each(math.lgamma),
}
_TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
_BINARY: dict[str, Callable[..., Any]] = {
    "pow": np.power,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "remainder": _each(math.remainder, 2),
}


def call(context: Context, node: ast.Call, arguments: list[Typed], name: str) -> Typed | None:
    """A call of ``math.name`` on numbers; None where it is no function that kernels know."""
    if any(isinstance(argument.kind, Array) for argument in arguments):
        context.unsupported(node, "function-of-arrays")
    if name in UNARY:
        return _unary(context, node, arguments, UNARY[name], name in HALF)
    if name in _TESTS:
        return _test(context, node, arguments, _TESTS[name])
    if name in _BINARY:
        return _binary(context, node, arguments, name)
    special = _SPECIAL.get(name)
    return special(context, node, arguments) if special else None


def _real(context: Context, node: ast.Call, kinds: list[Scalar]) -> None:
    if any(kind.is_complex for kind in kinds):
        refuse_types(context, node, kinds, "float64")


def float_code(*kinds: Scalar) -> str:
    """The float type in which a function of these types is computed: float64 for whole numbers."""
    if all(kind.is_int for kind in kinds):
        return "d"
    code = kinds[0].code
    for kind in kinds[1:]:
        found = types.signature("add", code, kind.code)
        code = found[1] if found else "d"
    return "f" if code == "e" else code


def _unary(context: Context, node: ast.Call, arguments: list[Typed], function: Any, half: bool) -> Typed:
    kinds = scalars(context, node, arguments)
    _real(context, node, kinds)
    code = "e" if half and kinds[0].code == "e" else float_code(kinds[0])
    run = arithmetic.convert(arguments[0], code)
    return Typed(Scalar(code), lambda fr, m: mapped(function, [run(fr, m)], code))


def _test(context: Context, node: ast.Call, arguments: list[Typed], function: Any) -> Typed:
    kinds = scalars(context, node, arguments)
    _real(context, node, kinds)
    run = arithmetic.convert(arguments[0], float_code(kinds[0]))
    return Typed(types.BOOL, lambda fr, m: mapped(function, [run(fr, m)], "?"))


def _binary(context: Context, node: ast.Call, arguments: list[Typed], name: str) -> Typed:
    kinds = scalars(context, node, arguments, 2)
    _real(context, node, kinds)
    code = float_code(*kinds)
    if name == "pow" and kinds[1].code in "bhi" and kinds[1].literal is None:
        # C's pow has versions of a float and an int: the float's own type remains.
        code = "f" if kinds[0].code in "?bhBef" else "d"
    runs = [arithmetic.convert(argument, code) for argument in arguments]
    function = _BINARY[name]
    return Typed(Scalar(code), lambda fr, m: mapped(function, [run(fr, m) for run in runs], code))


def absolute(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``abs(x)`` in the type of ``x``; of a complex number in its parts' type."""
    kinds = scalars(context, node, arguments)
    code = {"F": "f", "D": "d", "?": "b"}.get(kinds[0].code, kinds[0].code)
    run = arithmetic.convert(arguments[0], "b") if code == "b" else arguments[0].run

    def execute(fr: Any, m: Any) -> Any:
        value = run(fr, m)
        if type(value) is int:
            return cast(abs(value), code)
        return abs(value) if type(value) is float else join(np.abs(strip(value)), value)

    return Typed(Scalar(code), execute)


def _modf(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = scalars(context, node, arguments)
    code = "f" if kinds[0].code == "f" else "d"
    run = arithmetic.convert(arguments[0], code)

    def execute(fr: Any, m: Any) -> Any:
        value = run(fr, m)
        fraction, whole = np.modf(strip(value))
        return (join(cast(fraction, code), value), join(cast(whole, code), value))

    return Typed(pair(code, code), execute)


def _frexp(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = scalars(context, node, arguments)
    code = "f" if kinds[0].code in "?bhBef" else "d"
    run = arithmetic.convert(arguments[0], code)

    def execute(fr: Any, m: Any) -> Any:
        value = run(fr, m)
        mantissa, exponent = np.frexp(strip(value))
        return (join(cast(mantissa, code), value), join(cast(exponent, "i"), value))

    return Typed(pair(code, "i"), execute)


def _ldexp(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = scalars(context, node, arguments, 2)
    code = "f" if kinds[0].code in "?bhBef" else "d"
    a, b = arithmetic.convert(arguments[0], code), arithmetic.convert(arguments[1], "i")

    def execute(fr: Any, m: Any) -> Any:
        return mapped(lambda x, n: np.ldexp(x, np.asarray(n, np.int32)), [a(fr, m), b(fr, m)], code)

    return Typed(Scalar(code), execute)


_SPECIAL = {"modf": _modf, "frexp": _frexp, "ldexp": _ldexp}
