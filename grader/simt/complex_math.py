"""Complex numbers: ``complex(...)`` and ``cmath``."""

from __future__ import annotations

import ast
import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt import arithmetic
from grader.simt.arguments import Handler, mapped, pair, refuse_types, scalars
from grader.simt.context import Context, Typed
from grader.simt.mathematics import float_code
from grader.simt.types import Scalar

_PART = {"F": "f", "D": "d"}


def _code(kind: Scalar) -> str:
    if kind.is_complex:
        return kind.code
    return "F" if kind.code == "f" else "D"


def _joined(real: Any, imaginary: Any) -> Any:
    """The complex number of two parts, signs of zeros kept."""
    real, imaginary = np.broadcast_arrays(np.asarray(real, float), np.asarray(imaginary, float))
    return np.stack([real, imaginary], axis=-1).view(np.complex128)[..., 0]


def _each(name: str) -> Callable[..., Any]:
    """A function of ``cmath``, element by element; NumPy's value where Python raises."""
    exact = getattr(cmath, name)
    other = getattr(np, _SAME[name])
    return _pointwise(lambda z: exact(complex(z)), lambda z: other(np.complex128(z)), 1)


def _pointwise(
    exact: Callable[..., complex], other: Callable[..., complex], count: int
) -> Callable[..., Any]:
    def one(*values: Any) -> complex:
        try:
            return complex(exact(*values))
        except (ValueError, OverflowError):
            return complex(other(*values))

    raw = np.frompyfunc(one, count, 1)
    return lambda *values: np.asarray(raw(*values)).astype(np.complex128)


_RECT = _pointwise(
    lambda r, phi: cmath.rect(float(r), float(phi)),
    lambda r, phi: complex(r * np.cos(phi), r * np.sin(phi)),
    2,
)


def make(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``complex(re)`` and ``complex(re, im)``."""
    kinds = scalars(context, node, arguments, min(max(len(arguments), 1), 2))
    if len(kinds) == 1:
        code = "F" if kinds[0].code == "f" else "D"
        return Typed(Scalar(code), arithmetic.convert(arguments[0], code))
    if any(kind.is_complex for kind in kinds):
        refuse_types(context, node, kinds, "float64")
    code = "F" if float_code(*kinds) == "f" else "D"
    runs = [arithmetic.convert(argument, _PART[code]) for argument in arguments]
    return Typed(Scalar(code), lambda fr, m: mapped(_joined, [run(fr, m) for run in runs], code))


def conjugate(value: Typed) -> Typed:
    """``z.conjugate()``."""
    assert isinstance(value.kind, Scalar)
    run, code = value.run, value.kind.code
    return Typed(Scalar(code), lambda fr, m: mapped(np.conjugate, [run(fr, m)], code))


def _function(function: Callable[..., Any], real: bool = False, test: bool = False) -> Handler:
    def handler(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
        code = _code(scalars(context, node, arguments)[0])
        result = "?" if test else _PART[code] if real else code
        run = arithmetic.convert(arguments[0], code)
        return Typed(Scalar(result), lambda fr, m: mapped(function, [run(fr, m)], result))

    return handler


def _log(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    if len(arguments) == 1:
        return _function(np.log)(context, node, arguments)
    kinds = scalars(context, node, arguments, 2)
    code = "F" if all(_code(kind) == "F" for kind in kinds) else "D"
    runs = [arithmetic.convert(argument, code) for argument in arguments]
    return Typed(
        Scalar(code), lambda fr, m: mapped(lambda z, b: np.log(z) / np.log(b), [r(fr, m) for r in runs], code)
    )


def _polar(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    code = _code(scalars(context, node, arguments)[0])
    part, run = _PART[code], arithmetic.convert(arguments[0], code)

    def execute(fr: Any, m: Any) -> Any:
        value = run(fr, m)
        return (mapped(np.abs, [value], part), mapped(np.angle, [value], part))

    return Typed(pair(part, part), execute)


def _rect(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = scalars(context, node, arguments, 2)
    code = "F" if float_code(*kinds) == "f" else "D"
    runs = [arithmetic.convert(argument, _PART[code]) for argument in arguments]
    return Typed(Scalar(code), lambda fr, m: mapped(_RECT, [run(fr, m) for run in runs], code))


# Names of cmath, and NumPy's for the same function.
_SAME = {name: name for name in ["exp", "sqrt", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh"]}
_SAME |= {name: f"arc{name[1:]}" for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh"]}
FUNCTIONS: dict[str, Handler] = {
    **{f"cmath.{name}": _function(_each(name)) for name in _SAME},
    **{f"cmath.{name}": _function(getattr(np, name), test=True) for name in ("isnan", "isinf", "isfinite")},
    "cmath.phase": _function(np.angle, real=True),
    "cmath.log": _log,
    "cmath.polar": _polar,
    "cmath.rect": _rect,
    "complex": make,
}
