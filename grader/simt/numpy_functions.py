"""NumPy's functions of numbers: those that numba-cuda (0.30) compiles in a kernel, and the types they give.

It types all of NumPy's functions of numbers and has machine code for some: not for ``np.ceil``,
``np.sqrt`` or ``np.add``, whose kernels end in a ``KeyError``, and for none on float16.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.simt import arithmetic, types
from grader.simt.arguments import mapped, refuse_types, scalars
from grader.simt.context import Context, Typed
from grader.simt.cuda_names import MEMBERS
from grader.simt.mathematics import UNARY
from grader.simt.types import Array, Scalar

# NumPy's spellings of functions that math names otherwise.
_MATH_NAMES = {
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "deg2rad": "radians",
    "rad2deg": "degrees",
}
_UNARY = {
    name: UNARY[_MATH_NAMES.get(name, name)]
    for name in (
        *("log", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "degrees", "radians"),
        *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
        *_MATH_NAMES,
    )
}
_BINARY: dict[str, Any] = {
    "arctan2": np.arctan2,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "divide": np.divide,
    "true_divide": np.divide,
}
# Extremes that pass a NaN on (fmin, fmax do not).
_EXTREMES = {"minimum": np.minimum, "maximum": np.maximum, "fmin": np.fmin, "fmax": np.fmax}
#: What numba compiles and the machine does not follow.
_UNFOLLOWED_WORDS = (
    "bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
    "bitwise_xor conj conjugate equal greater greater_equal invert left_shift less less_equal "
    "logical_and logical_not logical_or logical_xor not_equal right_shift"
)
_UNFOLLOWED = frozenset(_UNFOLLOWED_WORDS.split())
#: How kernels write what numba has no NumPy function for; the functions of ``math`` have their own names.
_INSTEAD = {
    "abs": "abs",
    "absolute": "abs",
    "add": "+",
    "subtract": "-",
    "negative": "-",
    "multiply": "*",
    "square": "*",
    "floor_divide": "//",
    "mod": "%",
    "remainder": "%",
    "power": "**",
    "pow": "**",
    "float_power": "**",
    "rint": "round",
}


def call(context: Context, node: ast.Call, arguments: list[Typed], name: str) -> Typed | None:
    """A call of ``numpy.name`` on numbers; None where it is no function of numbers."""
    if any(isinstance(argument.kind, Array) for argument in arguments):
        context.unsupported(node, "function-of-arrays")
    if name not in _UNFOLLOWED and name not in (*_UNARY, *_BINARY, *_EXTREMES, "isnan"):
        if not isinstance(getattr(np, name, None), np.ufunc):
            return None
        known = f"math.{name}" if name in MEMBERS["math"] else ""
        wanted = _INSTEAD.get(name, known)
        context.fail(node, "numpy-function", name=ast.unparse(node.func), wanted=wanted)
    if name in _UNFOLLOWED:
        return None
    kinds = scalars(context, node, arguments, 1 if name in (*_UNARY, "isnan") else 2)
    if any(kind.code == "e" for kind in kinds):
        refuse_types(context, node, kinds, "float32")
    code = _common(kinds)
    if name == "isnan":
        run = arithmetic.convert(arguments[0], code)
        return Typed(types.BOOL, lambda fr, m: mapped(np.isnan, [run(fr, m)], "?"))
    if name in _EXTREMES:
        return _computed(arguments, _EXTREMES[name], code)
    if any(kind.is_complex for kind in kinds):
        context.unsupported(node, "complex-function")
    function = _UNARY[name] if name in _UNARY else _BINARY[name]
    return _computed(arguments, function, code if any(kind.is_float for kind in kinds) else _float_of(kinds))


def _computed(arguments: list[Typed], function: Any, code: str) -> Typed:
    runs = [arithmetic.convert(argument, code) for argument in arguments]
    return Typed(Scalar(code), lambda fr, m: mapped(function, [run(fr, m) for run in runs], code))


def _common(kinds: list[Scalar]) -> str:
    """The first of NumPy's types that holds all; numba lets every whole number into a float32."""
    codes = ["q" if kind.literal is not None else kind.code for kind in kinds]
    inexact = [code for code in codes if code in "fdFD"]
    if inexact:
        return np.result_type(*inexact).char
    # NumPy has two characters for the integers of eight bytes.
    return _CHARS[np.result_type(*codes).str[1:]]


def _float_of(kinds: list[Scalar]) -> str:
    """The float type that a function of whole numbers is computed in."""
    return "f" if all(kind.literal is None and kind.code in "?bhBH" for kind in kinds) else "d"


_CHARS = {np.dtype(code).str[1:]: code for code in "?bhiqBHIQd"}
