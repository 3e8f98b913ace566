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


def _rounded(function: Callable[[Any], Any], exact: Callable[[Any], int]) -> Callable[[Any], Any]:
    """NumPy's rounding: elementwise for an array, a float for a number."""
    return lambda value: function(value) if isinstance(value, np.ndarray) else float(exact(value))


def _text(value: Any = "") -> str:
    if not isinstance(value, str) and not is_number(value):
        raise NotImplementedError
    return str(value)


#: Functions that walk through their arguments, so that an iterator is used up by them.
WALKING = frozenset(
    {"tuple", "list", "set", "frozenset", "dict", "sum", "min", "max", "any", "all"}
    | {"sorted", "enumerate", "zip", "reversed"}
)
#: Functions whose result is an iterator.
ITERATORS = frozenset({"enumerate", "zip", "reversed"})
#: Methods of plain values that the interpreter may call.
METHODS: dict[type, frozenset[str]] = {
    dict: frozenset({"items", "keys", "values", "get", "pop", "setdefault", "update", "copy", "clear"}),
    list: frozenset(
        {"append", "extend", "insert", "pop", "remove", "reverse", "sort", "index", "count", "copy", "clear"}
    ),
    tuple: frozenset({"index", "count"}),
    set: frozenset({"add", "discard", "remove", "update", "copy", "union", "intersection", "difference"}),
    str: frozenset({"upper", "lower", "strip", "split", "join", "startswith", "endswith"}),
    int: frozenset({"bit_length"}),
    float: frozenset({"is_integer"}),
    np.ndarray: frozenset({"astype", "tolist", "item", "sum", "prod", "min", "max"}),
}
#: Those that make their owner longer.
GROWING = frozenset({"append", "extend", "insert", "update", "add", "setdefault"})


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
    "any": any,
    "all": all,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "str": _text,
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
    "numpy.ceil": _rounded(np.ceil, math.ceil),
    "numpy.floor": _rounded(np.floor, math.floor),
}
