"""The compiled form of values that are known before a kernel runs: numbers, tuples, tables, functions."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.simt.access import scalar
from grader.simt.context import Context, Typed
from grader.simt.host import Function, Path
from grader.simt.memory import code_of, global_view
from grader.simt.types import (
    BOOL,
    CONSTANT_ARRAY,
    FLOAT64,
    NONE,
    Array,
    Device,
    Scalar,
    Space,
    Text,
    Tuple,
    literal,
)


def constant_typed(context: Context, node: ast.AST, value: Any) -> Typed:
    """The compiled form of a host value: a number, a tuple, a module path or a device function."""
    if isinstance(value, bool):
        return Typed(BOOL, lambda fr, m: value)
    if isinstance(value, int):
        return Typed(literal(value), lambda fr, m: value)
    if isinstance(value, float):
        return Typed(FLOAT64, lambda fr, m: value)
    if isinstance(value, complex):
        return Typed(Scalar("D"), lambda fr, m: np.complex128(value))
    if isinstance(value, np.float16):
        # numba has a type for it and no code: the compiler refuses the constant that numba writes.
        context.fail(node, "half-precision-constant", name=ast.unparse(node))
    if isinstance(value, np.generic):
        code = code_of(value.dtype)
        plain = scalar(value, code)
        return Typed(Scalar(code), lambda fr, m: plain)
    if isinstance(value, Path):
        return Typed(Space(value.name), lambda fr, m: None)
    if isinstance(value, Function):
        context.kernel.devices.append(value)
        return Typed(Device(len(context.kernel.devices) - 1, value.node.name), lambda fr, m: None)
    if isinstance(value, str):
        return Typed(Text(value), lambda fr, m: value)
    if value is None:
        return Typed(NONE, lambda fr, m: None)
    if isinstance(value, list):
        # numba types a list of the module and cannot make a constant of it.
        context.fail(node, "unsupported-python")
    if isinstance(value, tuple):
        parts = [constant_typed(context, node, item) for item in value]
        kinds = Tuple(tuple(part.kind for part in parts))
        runs = [part.run for part in parts]
        return Typed(kinds, lambda fr, m: tuple([run(fr, m) for run in runs]))
    if isinstance(value, np.ndarray):
        if value.dtype.char not in "?bhilqBHILQefdFD":
            context.unsupported(node, "array-of-records" if value.dtype.fields else f"array of {value.dtype}")
        return _constant_array(context, node, value)
    return context.unsupported(node, type(value).__name__)


def _constant_array(context: Context, node: ast.AST, value: Any) -> Typed:
    """A NumPy array of the module, which numba copies into the kernel as a constant."""
    name = node.id if isinstance(node, ast.Name) else "table"
    view = global_view(value, name, CONSTANT_ARRAY, {})
    return Typed(Array(view.code, value.ndim, "global", CONSTANT_ARRAY), lambda fr, m: view)
