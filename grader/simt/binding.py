"""Arguments of a launch: their types, and how a kernel's frame holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.simt import values
from grader.simt.kernel import Compiled
from grader.simt.machine import Machine
from grader.simt.memory import Buffer, View, code_of, global_view
from grader.simt.race import Log
from grader.simt.race_grid import GridShadow
from grader.simt.signature import convert_argument
from grader.simt.types import ANY_ARRAY, BOOL, FLOAT64, INT64, NONE, Array, Kind, Scalar, Tuple

DTYPES = "?bhilqBHILQefdFD"


def kind_of(arg: Any, position: int) -> Kind:
    """The type that numba gives an argument; :class:`ValueError` for one that no kernel takes."""
    if isinstance(arg, np.ndarray):
        return _array_kind(arg, position)
    if isinstance(arg, bool | np.bool_):
        return BOOL
    if isinstance(arg, np.generic):
        if arg.dtype.char not in DTYPES:
            raise ValueError(f"argument {position} is a {arg.dtype}, which no kernel takes")
        return Scalar(code_of(arg.dtype))
    if isinstance(arg, int):
        if not -(2**63) <= arg < 2**64:
            raise ValueError(f"argument {position} is {arg}, which no integer of a kernel holds")
        return INT64 if arg < 2**63 else Scalar("Q")
    if isinstance(arg, float):
        return FLOAT64
    if isinstance(arg, complex):
        return Scalar("D")
    if isinstance(arg, tuple):
        fields = tuple(getattr(arg, "_fields", ()))
        return Tuple(tuple(kind_of(item, position) for item in arg), fields=fields)
    if arg is None:
        return NONE
    raise ValueError(f"argument {position} is a {type(arg).__name__}, which no kernel takes")


def _array_kind(arg: np.ndarray[Any, Any], position: int) -> Array:
    if arg.dtype.hasobject or arg.dtype.char not in DTYPES:
        raise ValueError(f"argument {position} has dtype {arg.dtype}, which no kernel takes")
    if any(stride % arg.itemsize for stride in arg.strides) and arg.size > 1:
        raise ValueError(f"argument {position} has strides that are no multiples of its element size")
    return Array(code_of(arg.dtype), arg.ndim, "global", position)


def bind(compiled: Compiled, machine: Machine, args: Sequence[Any]) -> list[Any]:
    """Arguments as the frame holds them; buffers that the kernel writes get their shadows."""
    buffers: dict[int, Buffer] = {}
    views: list[View] = []
    stores = compiled.kernel.stores

    def held(arg: Any, kind: Kind, name: str, position: int) -> Any:
        if isinstance(arg, np.ndarray):
            if isinstance(kind, Array) and kind.code != code_of(arg.dtype):
                arg = arg.view(kind.code)
            view = global_view(arg, name, position, buffers)
            view.name = name
            if position in stores or ANY_ARRAY in stores:
                view.buffer.shadowed = True
            views.append(view)
            return view
        if isinstance(arg, tuple) and isinstance(kind, Tuple):
            return tuple(held(item, part, name, position) for item, part in zip(arg, kind.items, strict=True))
        return None if arg is None else convert_argument(kind, _number(arg))

    bound = [
        held(arg, kind, name, position)
        for position, (arg, kind, name) in enumerate(
            zip(args, compiled.kinds, compiled.parameters, strict=True)
        )
    ]
    _shadow(machine, views)
    return bound


def _number(arg: Any) -> Any:
    kind = kind_of(arg, 0)
    assert isinstance(kind, Scalar)
    return values.cast_scalar(arg, kind.code)


def _shadow(machine: Machine, views: list[View]) -> None:
    seen: set[int] = set()
    for view in views:
        if id(view.buffer) in seen:
            continue
        seen.add(id(view.buffer))
        machine.global_buffers.append(view.buffer)
        if view.buffer.shadowed:
            view.buffer.log = Log(view.buffer)
            machine.written[id(view.buffer)] = np.zeros(view.buffer.words, bool)
            machine.grids[id(view.buffer)] = GridShadow(view.buffer)
