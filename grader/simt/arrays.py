"""Declarations of shared, local and constant arrays."""

from __future__ import annotations

import ast
import math
import re
from typing import Any, NoReturn

import numpy as np

from grader.simt import expressions, shared_memory
from grader.simt.attributes import ELEMENT_TYPES
from grader.simt.context import Context, Typed
from grader.simt.geometry import Chunk
from grader.simt.host import Path
from grader.simt.local import LocalArray
from grader.simt.memory import View
from grader.simt.type_names import code_of_path, code_of_text
from grader.simt.types import CONSTANT_ARRAY, Array, Scalar, Space, Text, Tuple

LOCAL_LIMIT = 65_536
#: Types of elements that numba has and the machine does not follow.
_UNFOLLOWED = re.compile(r"bfloat16|\w+x[1-4]|u?(char|short|int|long|longlong)[1-4]|(float|double)[1-4]")


def shared(context: Context, node: ast.Call) -> Typed:
    """``cuda.shared.array(shape, dtype)``: one array for each block, whatever the place it stands in."""
    shape, code = _declaration(context, node)
    name = context.target_name or "shared"
    kernel = context.kernel
    if shape == (0,):
        return shared_memory.dynamic(context, node, name, code)
    key = len(kernel.shared_bytes)
    kernel.shared_bytes.append(math.prod(shape) * np.dtype(code).itemsize)
    kernel.shared_spans.append(context.program.span(node))

    def make(chunk: Chunk) -> View:
        return shared_memory.static(chunk, shape, name, code, name in kernel.guarded_stores)

    kind = Array(code, len(shape), "shared", key)
    return Typed(kind, lambda fr, m: fr.mc.shared_array(key, make))


def local(context: Context, node: ast.Call) -> Typed:
    """``cuda.local.array(shape, dtype)``: one array for each thread."""
    shape, code = _declaration(context, node)
    name = context.target_name or "local"
    if math.prod(shape) > LOCAL_LIMIT:
        context.unsupported(node, "local-array-size")
    kind = Array(code, len(shape), "local", -1)
    key = id(node)
    context.kernel.local_bytes += math.prod(shape) * np.dtype(code).itemsize

    def execute(fr: Any, m: Any) -> LocalArray:
        array: LocalArray | None = fr.arrays.get(key)
        if array is None:
            array = fr.arrays[key] = LocalArray(name, shape, code)
        return array

    return Typed(kind, execute)


def constant(context: Context, node: ast.Call) -> Typed:
    """``cuda.const.array_like(table)``: the table itself, which kernels only read."""
    if len(node.args) != 1 or node.keywords:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=1)
    typed = expressions.expression(context, node.args[0])
    if not isinstance(typed.kind, Array) or typed.kind.ident != CONSTANT_ARRAY:
        context.fail(node, "non-constant-array", got=ast.unparse(node.args[0]))
    return typed


def _declaration(context: Context, node: ast.Call) -> tuple[tuple[int, ...], str]:
    words = {word.arg: word.value for word in node.keywords}
    unknown = set(words) - {"shape", "dtype", "alignment", None}
    if unknown or len(node.args) > 3 or None in words:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=2)
    shape = node.args[0] if node.args else words.get("shape")
    dtype = node.args[1] if len(node.args) > 1 else words.get("dtype")
    if shape is None or dtype is None:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=2)
    return _shape(context, shape), dtype_code(context, dtype)


def _shape(context: Context, node: ast.expr) -> tuple[int, ...]:
    """A shape that numba can tell at compile time; anything else is refused as numba refuses it."""
    items = node.elts if isinstance(node, ast.Tuple) else None
    if items is not None:
        return tuple(_extent(context, item) for item in items)
    if isinstance(node, ast.List):
        _refuse(context, node)
    typed = expressions.expression(context, _folded(node))
    if isinstance(typed.kind, Tuple) and not typed.kind.is_list:
        extents = []
        for kind in typed.kind.items:
            if not isinstance(kind, Scalar) or kind.literal is None:
                _refuse(context, node)
            extents.append(_positive(context, node, kind.literal))
        return tuple(extents)
    return (_extent(context, node),)


def _extent(context: Context, node: ast.expr) -> int:
    folded = _folded(node)
    if isinstance(folded, ast.BinOp | ast.Call | ast.List):
        _refuse(context, node)
    typed = expressions.expression(context, folded)
    if not isinstance(typed.kind, Scalar) or typed.kind.literal is None or typed.kind.code == "?":
        _refuse(context, node)
    return _positive(context, node, typed.kind.literal)


def _positive(context: Context, node: ast.expr, extent: int) -> int:
    if extent < 0:
        context.fail(node, "negative-extent", got=extent)
    return extent


def _folded(node: ast.expr) -> ast.expr:
    """Arithmetic on literals alone, which Python's own compiler folds: ``16 + 1``."""
    if not isinstance(node, ast.BinOp):
        return node
    if any(not isinstance(part, _LITERAL) for part in ast.walk(node)):
        return node
    from grader.simt.host import HostError, Interpreter

    try:
        return ast.copy_location(ast.Constant(Interpreter(({},)).value(node)), node)
    except HostError:
        return node


_LITERAL = (ast.BinOp, ast.Constant, ast.operator, ast.UnaryOp, ast.unaryop)


def _refuse(context: Context, node: ast.expr) -> NoReturn:
    context.stop(
        node, "non-constant-shared-shape", expression=ast.unparse(node), reason=_reason(context, node)
    )


def _reason(context: Context, node: ast.expr) -> str:
    """Why numba cannot tell the shape: the kind of the first part that it cannot tell."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    for part in parts:
        match part:
            case ast.BinOp() | ast.UnaryOp():
                if not isinstance(_folded(part), ast.Constant):
                    return "arithmetic"
            case ast.Call():
                return "call"
            case ast.List():
                return "list"
            case ast.Attribute() | ast.Subscript():
                return "attribute"
            case ast.Name() if part.id in context.parameters:
                return "argument"
            case ast.Name() if part.id in context.locals:
                return "runtime-value"
    return "runtime-value"


def dtype_code(context: Context, node: ast.expr) -> str:
    """The scalar type that a dtype argument names."""
    kind = expressions.expression(context, node).kind
    code = None
    if isinstance(kind, Text):
        code = code_of_text(kind.value)
    elif isinstance(kind, Space):
        path = kind.path.replace(ELEMENT_TYPES, "numpy.")
        code = code_of_path(path)
        foreign = path.partition(".")[0] not in ("numba", "numpy", path)
        if code is None and (foreign or _UNFOLLOWED.fullmatch(path.rpartition(".")[2])):
            context.unsupported(node, path)
    return code or context.fail(node, "dtype", got=ast.unparse(node))


__all__ = ["Any", "Path", "constant", "dtype_code", "local", "shared"]
