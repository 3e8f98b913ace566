"""Complex numbers: ``complex(...)`` and ``cmath``."""

from __future__ import annotations

import ast
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
    return Typed(Scalar(code), lambda fr, m: mapped(lambda a, b: a + 1j * b, [run(fr, m) for run in runs], code))


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
    return Typed(Scalar(code), lambda fr, m: mapped(lambda z, b: np.log(z) / np.log(b), [r(fr, m) for r in runs], code))


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
    return Typed(
        Scalar(code),
        lambda fr, m: mapped(lambda r, phi: r * np.cos(phi) + 1j * (r * np.sin(phi)), [r(fr, m) for r in runs], code),
    )


_SAME = {name: name for name in ["exp", "sqrt", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh"]}
_SAME |= {name: f"arc{name[1:]}" for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh"]}
FUNCTIONS: dict[str, Handler] = {
    **{f"cmath.{name}": _function(getattr(np, other)) for name, other in _SAME.items()},
    **{f"cmath.{name}": _function(getattr(np, name), test=True) for name in ("isnan", "isinf", "isfinite")},
    "cmath.phase": _function(np.angle, real=True),
    "cmath.log": _log,
    "cmath.polar": _polar,
    "cmath.rect": _rect,
    "complex": make,
}
