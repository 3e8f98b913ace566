"""Attributes: the builtin index variables, shapes of arrays, parts of numbers, constants of modules."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.simt import expressions, whole_numbers
from grader.simt.arguments import mapped
from grader.simt.constants import constant_typed
from grader.simt.context import Context, Run, Typed
from grader.simt.cuda_names import misspelt
from grader.simt.global_names import HOST_ONLY
from grader.simt.host_values import path_value
from grader.simt.local import LocalArray
from grader.simt.memory import View
from grader.simt.types import INT32, INT64, NAMES, Array, Scalar, Space, Tuple
from grader.simt.values import cast_scalar

DIMS = {"x": 0, "y": 1, "z": 2}
INDEX_PATHS = ("numba.cuda.threadIdx", "numba.cuda.blockIdx", "numba.cuda.blockDim", "numba.cuda.gridDim")
#: Where the paths of arrays' own ``dtype`` lie.
ELEMENT_TYPES = "numpy.dtype."
# What numba compiles of arrays and the machine does not follow.
_UNFOLLOWED_WORDS = "all any argmax argmin ctypes fill flat imag item mean prod real std sum var view"
_UNFOLLOWED = frozenset(_UNFOLLOWED_WORDS.split())
# What numba-cuda (0.30) has no code for: most of it makes new arrays, for which kernels have no memory.
_REFUSED_WORDS = (
    "argsort astype conj conjugate copy cumprod cumsum flags flatten max min nonzero ravel repeat sort take"
)
_REFUSED = frozenset(_REFUSED_WORDS.split())


def attribute(context: Context, node: ast.Attribute) -> Typed:
    """``cuda.threadIdx.x``, ``A.shape``, ``math.pi``, a named tuple's field and the like."""
    owner = expressions.expression(context, node.value)
    kind = owner.kind
    if isinstance(kind, Space):
        return _of_path(context, node, kind.path)
    if isinstance(kind, Array):
        return _of_array(context, node, owner, kind)
    if isinstance(kind, Scalar) and kind.code != "?" and node.attr in ("real", "imag"):
        return _of_number(owner, kind, node.attr)
    if isinstance(kind, Tuple) and node.attr in kind.fields:
        at, run = kind.fields.index(node.attr), owner.run
        return Typed(kind.items[at], lambda fr, m: run(fr, m)[at])
    if isinstance(kind, Scalar) and node.attr == "item":
        context.unsupported(node, "number-item")
    return context.fail(node, "unknown-attribute", name=node.attr, got=kind.name)


def _of_path(context: Context, node: ast.Attribute, path: str) -> Typed:
    full = f"{path}.{node.attr}"
    if path.startswith(ELEMENT_TYPES):
        return _of_element_type(context, node, path.removeprefix(ELEMENT_TYPES))
    if path in INDEX_PATHS:
        if node.attr not in DIMS:
            context.fail(node, "unknown-attribute", name=node.attr, got=path)
        return Typed(INT32, index_run(path.rsplit(".", 1)[1], DIMS[node.attr]))
    near = misspelt(path, node.attr)
    if near is not None:
        context.fail(node, "unknown-attribute", name=node.attr, got=path, wanted=near)
    if (path == "numba.cuda" and node.attr in HOST_ONLY) or full == "numba.prange":
        context.fail(node, "unknown-attribute", name=node.attr, got=path)
    if path == "numpy" and not hasattr(np, node.attr):
        context.fail(node, "unknown-attribute", name=node.attr, got=path)
    if full == "numba.cuda.warpsize":
        return Typed(INT32, lambda fr, m: fr.mc.tally.warp)
    if full == "numba.cuda.laneid":
        return Typed(INT32, lambda fr, m: lane(fr))
    return constant_typed(context, node, path_value(full))


def _of_element_type(context: Context, node: ast.Attribute, name: str) -> Typed:
    """``A.dtype.type`` can be called, where ``A.dtype`` only names the type of an array's elements."""
    if node.attr == "type":
        return Typed(Space(f"numba.{name}"), lambda fr, m: None)
    if node.attr == "kind":
        context.unsupported(node, "dtype-kind")
    return context.fail(node, "unknown-attribute", name=node.attr, got=f"dtype({name})")


def lane(fr: Any) -> Any:
    """A thread's number within its warp."""
    return whole_numbers.int_remainder(fr.mc.chunk.lane_number, fr.mc.tally.warp)


def index_run(name: str, dim: int) -> Run:
    """The closure of one component of an index variable."""
    if name == "threadIdx":
        return lambda fr, m: fr.mc.chunk.index(False, dim)
    if name == "blockIdx":
        return lambda fr, m: fr.mc.chunk.index(True, dim)
    if name == "blockDim":
        return lambda fr, m: fr.mc.geometry.block[dim]
    return lambda fr, m: fr.mc.geometry.grid[dim]


def _of_array(context: Context, node: ast.Attribute, owner: Typed, kind: Array) -> Typed:
    run = owner.run
    match node.attr:
        case "shape":
            return Typed(Tuple((INT64,) * kind.ndim), lambda fr, m: tuple(run(fr, m).shape))
        case "size":
            return Typed(INT64, lambda fr, m: run(fr, m).size)
        case "ndim":
            return constant_typed(context, node, kind.ndim)
        case "itemsize":
            return constant_typed(context, node, np.dtype(kind.code).itemsize)
        case "strides":
            size = np.dtype(kind.code).itemsize
            strides = Tuple((INT64,) * kind.ndim)
            return Typed(strides, lambda fr, m: tuple([s * size for s in flat_view(fr, run(fr, m)).strides]))
        case "dtype":
            return Typed(Space(f"{ELEMENT_TYPES}{NAMES[kind.code]}"), lambda fr, m: None)
        case "nbytes":
            size = np.dtype(kind.code).itemsize
            return Typed(INT64, lambda fr, m: run(fr, m).size * size)
        case "T":
            return Typed(kind, lambda fr, m: transposed(flat_view(fr, run(fr, m))))
    if node.attr in _REFUSED:
        array = ast.unparse(node.value)
        wanted = f"{array}.reshape(-1)" if node.attr in ("ravel", "flatten") else ""
        context.fail(node, "array-method", name=f"{array}.{node.attr}", wanted=wanted)
    if node.attr in _UNFOLLOWED:
        context.unsupported(node, f"array-{node.attr}")
    return context.fail(node, "unknown-attribute", name=node.attr, got=kind.name)


def flat_view(fr: Any, array: Any) -> Any:
    """The array as a view of flat memory; a local array kept element by element is laid out for it."""
    return array.spread(fr.mc) if isinstance(array, LocalArray) else array


def transposed(view: Any) -> Any:
    """The array with its axes in the opposite order."""
    return View(view.buffer, view.base, view.shape[::-1], view.strides[::-1], view.name, view.code)


def _of_number(owner: Typed, kind: Scalar, attr: str) -> Typed:
    run = owner.run
    if not kind.is_complex:
        return owner if attr == "real" else Typed(Scalar(kind.code), lambda fr, m: cast_scalar(0, kind.code))
    code = "f" if kind.code == "F" else "d"
    take = np.real if attr == "real" else np.imag
    return Typed(Scalar(code), lambda fr, m: mapped(take, [run(fr, m)], code))
