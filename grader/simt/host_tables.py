"""What host code may compute with: operators, builtins, tables of plain values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt.host_functions import MATH, TYPES, TooLargeError

MAX_BITS = 4096


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


def _power(base: Any, exponent: Any, *modulus: Any) -> Any:
    if not modulus and isinstance(exponent, int) and abs(exponent) > MAX_BITS:
        raise TooLargeError
    return pow(base, exponent, *modulus)


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
    np.ndarray: frozenset(
        {"astype", "tolist", "item", "sum", "prod", "min", "max", "mean", "any", "all", "argmax", "argmin"}
        | {"reshape", "ravel", "flatten", "copy", "transpose", "round", "cumsum"}
    ),
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
    "pow": _power,
    "complex": complex,
    "ord": ord,
    "chr": chr,
    "hex": hex,
    "bin": bin,
    "oct": oct,
    **MATH,
    **{f"numpy.{name}": getattr(np, name) for name in TYPES},
    **{f"numba.{name}": getattr(np, name) for name in TYPES if name not in ("bool_", "single", "half")},
}
