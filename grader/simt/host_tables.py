"""What host code may compute with: operators, builtins, tables of plain values."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np


def is_number(value: object) -> bool:
    """Whether host arithmetic takes the value."""
    return isinstance(value, int | float | complex | np.generic)


def is_plain(value: object) -> bool:
    """Whether the value is a number, or a sequence or text."""
    return is_number(value) or isinstance(value, tuple | list | str)


def _refuse() -> Any:
    raise TypeError("formatting")


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b if is_number(a) else _refuse(),
    ast.Pow: lambda a, b: a**b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: lambda a: -a,
    ast.UAdd: lambda a: +a,
    ast.Invert: lambda a: ~a,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


TABLES: dict[str, Callable[..., Any]] = {
    f"numpy.{name}": getattr(np, name)
    for name in ("array", "asarray", "zeros", "ones", "full", "arange", "eye", "linspace")
}


BUILTINS: dict[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "abs": abs,
    "min": min,
    "max": max,
    "len": len,
    "round": round,
    "range": range,
    "tuple": tuple,
    "list": list,
    "sum": sum,
    "divmod": divmod,
    "sorted": sorted,
    "reversed": lambda items: list(reversed(items)),
    "enumerate": lambda items: list(enumerate(items)),
    "zip": lambda *parts: list(zip(*parts, strict=False)),
    **{
        f"math.{name}": getattr(math, name)
        for name in ("ceil", "floor", "sqrt", "log2", "log", "exp", "gcd", "trunc", "prod", "isqrt", "fabs")
    },
    **{
        f"{module}.{name}": getattr(np, name)
        for module in ("numpy", "numba")
        for name in (
            [
                "int8",
                "int16",
                "int32",
                "int64",
                "uint8",
                "uint16",
                "uint32",
                "uint64",
                "float16",
                "float32",
                "float64",
            ]
        )
    },
    "numpy.ceil": lambda value: float(math.ceil(value)),
    "numpy.floor": lambda value: float(math.floor(value)),
}
