"""Bit intrinsics: ``cuda.popc``, ``clz``, ``ffs``, ``brev`` and ``int.bit_count``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt import arithmetic, values
from grader.simt.arguments import Handler, refuse_types, scalars, with_taint
from grader.simt.context import Context, Typed
from grader.simt.types import Scalar

Bitwise = Callable[[int, int], int]


def leading_zeros(value: int, width: int) -> int:
    """Zero bits above the highest set one."""
    return width - value.bit_length()


def reversed_bits(value: int, width: int) -> int:
    """The bits in the opposite order."""
    return int(format(value, f"0{width}b")[::-1], 2)


def first_set(value: int, width: int) -> int:
    """The position of the lowest set bit, counted from 1; 0 where there is none."""
    return (value & -value).bit_length()


def population(value: int, width: int) -> int:
    """The number of set bits."""
    return value.bit_count()


def intrinsic(function: Bitwise, operand: str = "", result: str = "") -> Handler:
    """A function of one whole number's bits.

    ``operand`` and ``result`` are the type codes that numba converts to and gives; empty for the
    argument's own. 64-bit unsigned arguments keep their width everywhere.
    """

    def handler(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
        kinds = scalars(context, node, arguments)
        if not kinds[0].is_int:
            refuse_types(context, node, kinds, "int")
        own = kinds[0].code if kinds[0].code != "?" else "b"
        taken = "Q" if own == "Q" else operand or own
        given = result or taken
        return Typed(Scalar(given), _each(arithmetic.convert(arguments[0], taken), function, taken, given))

    return handler


def _each(run: Any, function: Bitwise, taken: str, given: str) -> Any:
    width = np.dtype(taken).itemsize * 8
    low = (1 << width) - 1
    each = np.frompyfunc(lambda x: function(int(x) & low, width), 1, 1)

    def execute(fr: Any, m: Any) -> Any:
        value = run(fr, m)
        if type(value) is int:
            return values.wrap(function(value & low, width), given)
        return with_taint(lambda x: each(x).astype(given), value)

    return execute


def bit_count(value: Typed) -> Typed:
    """``x.bit_count()`` of a whole number."""
    assert isinstance(value.kind, Scalar)
    code = "Q" if value.kind.code in "BHIQ" else "q"
    return Typed(Scalar(code), _each(value.run, population, value.kind.code, code))


INTRINSICS: dict[str, Handler] = {
    "numba.cuda.popc": intrinsic(population),
    "numba.cuda.clz": intrinsic(leading_zeros),
    "numba.cuda.ffs": intrinsic(first_set, "", "I"),
    "numba.cuda.brev": intrinsic(reversed_bits, "I", ""),
}
