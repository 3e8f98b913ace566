"""The float16 functions of ``cuda.fp16``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt import arithmetic
from grader.simt.arguments import Handler, mapped, refuse_types, scalars
from grader.simt.context import Context, Typed
from grader.simt.types import Scalar


def _single(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function computed in float32 and rounded once, as the device's library does."""
    return lambda *values: function(*(np.asarray(value, np.float32) for value in values)).astype(np.float16)


def _fused(a: Any, b: Any, c: Any) -> Any:
    """A * b + c with one rounding: the product of two float16 numbers is exact in float64."""
    wide = [np.asarray(value, np.float64) for value in (a, b, c)]
    return (wide[0] * wide[1] + wide[2]).astype(np.float16)


def _handler(function: Callable[..., Any], count: int, code: str = "e") -> Handler:
    def handler(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
        kinds = scalars(context, node, arguments, count)
        if any(kind.is_complex for kind in kinds):
            refuse_types(context, node, kinds, "float16")
        runs = [arithmetic.convert(argument, "e") for argument in arguments]
        return Typed(Scalar(code), lambda fr, m: mapped(function, [run(fr, m) for run in runs], code))

    return handler


_ONE: dict[str, Callable[..., Any]] = {
    "habs": np.abs,
    "hneg": np.negative,
    **{
        f"h{name}": _single(getattr(np, name))
        for name in [
            "sin",
            "cos",
            "exp",
            "exp2",
            "log",
            "log2",
            "log10",
            "sqrt",
            "ceil",
            "floor",
            "rint",
            "trunc",
            "tanh",
        ]
    },
    "hexp10": _single(lambda x: np.power(np.float32(10), x)),
    "hrsqrt": _single(lambda x: 1 / np.sqrt(x)),
    "hrcp": _single(lambda x: 1 / x),
}
_TWO = {
    "hadd": np.add,
    "hsub": np.subtract,
    "hmul": np.multiply,
    "hdiv": np.true_divide,
    "hmax": np.fmax,
    "hmin": np.fmin,
}
_ORDER = {
    "heq": np.equal,
    "hne": np.not_equal,
    "hlt": np.less,
    "hle": np.less_equal,
    "hgt": np.greater,
    "hge": np.greater_equal,
}
FUNCTIONS: dict[str, Handler] = {
    **{f"numba.cuda.fp16.{name}": _handler(function, 1) for name, function in _ONE.items()},
    **{f"numba.cuda.fp16.{name}": _handler(function, 2) for name, function in _TWO.items()},
    **{f"numba.cuda.fp16.{name}": _handler(function, 2, "?") for name, function in _ORDER.items()},
    "numba.cuda.fp16.hfma": _handler(_fused, 3),
}
