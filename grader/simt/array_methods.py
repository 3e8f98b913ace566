"""Methods of arrays that give another view of the same memory."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import arithmetic, expressions
from grader.simt.access import refuse
from grader.simt.arguments import parts_of
from grader.simt.attributes import flat_view, transposed
from grader.simt.context import Context, Typed
from grader.simt.memory import View, c_strides
from grader.simt.types import Array, Scalar, Tuple

METHODS = ("transpose", "reshape")


def method(context: Context, node: ast.Call, owner: Typed, name: str) -> Typed:
    """``A.transpose()`` and ``A.reshape(...)``."""
    assert isinstance(owner.kind, Array)
    if node.keywords:
        context.unsupported(node, f"array-{name}")
    if name != "reshape" and node.args:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=0)
    run = owner.run
    if name == "transpose":
        return Typed(owner.kind, lambda fr, m: transposed(flat_view(fr, run(fr, m))))
    return _reshaped(context, node, owner, _extents(context, node))


def _extents(context: Context, node: ast.Call) -> list[Any]:
    """The new shape: an extent known to the compiler, or the closure of one."""
    given = [expressions.expression(context, item) for item in node.args]
    if len(given) == 1 and isinstance(given[0].kind, Tuple):
        given = parts_of(given[0])
    extents: list[Any] = []
    for item in given:
        if not isinstance(item.kind, Scalar) or not item.kind.is_int:
            context.fail(node, "argument-type", name=ast.unparse(node.func), got=item.kind.name, wanted="int")
        extents.append(arithmetic.convert(item, "q"))
    return extents


def _contiguous(view: View) -> bool:
    """Whether the elements lie one after another; axes of one element do not matter."""
    steps = zip(view.shape, view.strides, c_strides(view.shape), strict=True)
    return view.size == 0 or all(size == 1 or have == want for size, have, want in steps)


def _reshaped(context: Context, node: ast.Call, owner: Typed, extents: list[Any]) -> Typed:
    assert isinstance(owner.kind, Array)
    kind = Array(owner.kind.code, len(extents), owner.kind.space, owner.kind.ident)
    run, site = owner.run, context.site(node)

    def execute(fr: Any, m: Any) -> View:
        view = flat_view(fr, run(fr, m))
        shape = [extent if isinstance(extent, int) else extent(fr, m) for extent in extents]
        known = int(np.prod([size for size in shape if type(size) is int and size >= 0]))
        if shape.count(-1) == 1 and known:
            shape[shape.index(-1)] = view.size // known
        whole = all(type(size) is int and size >= 0 for size in shape) and int(np.prod(shape)) == view.size
        if not whole or not _contiguous(view):
            facts = {"construct": "array-reshape"}
            raise refuse(Finding("unsupported-construct", "error", site.span, facts=facts))
        return View(view.buffer, view.base, tuple(shape), c_strides(tuple(shape)), view.name, view.code)

    return Typed(kind, execute)
