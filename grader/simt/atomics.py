"""Atomic read-modify-write operations, in the fixed order of threads."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt import access, arithmetic, expressions, subscripts
from grader.simt.context import Context, Typed
from grader.simt.evidence import Site
from grader.simt.mask import Active
from grader.simt.memory import View
from grader.simt.race import ATOMIC, WRITE
from grader.simt.tally import STORE
from grader.simt.types import Array, Scalar, Space
from grader.simt.values import Value, strip

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "max": np.maximum,
    "min": np.minimum,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, new: new,
    "inc": lambda old, limit: np.where(old >= limit, 0, old + 1),
    "dec": lambda old, limit: np.where((old == 0) | (old > limit), limit, old - 1),
    "cas": lambda old, new: new,
    "compare_and_swap": lambda old, new: new,
}


def atomic(context: Context, node: ast.Call) -> Typed:
    """``cuda.atomic.add(array, index, value)`` and its siblings; gives the old value."""
    path = expressions.expression(context, node.func).kind
    name = path.path.rsplit(".", 1)[1] if isinstance(path, Space) else ""
    wanted = {"cas": 4, "compare_and_swap": 3}.get(name, 3)
    if len(node.args) != wanted or node.keywords:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=wanted)
    array = expressions.expression(context, node.args[0])
    if not isinstance(array.kind, Array):
        context.fail(node, "argument-type", name=ast.unparse(node.func), got=array.kind.name)
    context.kernel.stores.add(array.kind.ident)
    index = ast.Constant(0) if name == "compare_and_swap" else node.args[1]
    place = ast.Subscript(node.args[0], ast.copy_location(index, node), ast.Load())
    target = subscripts.array_target(context, ast.copy_location(place, node), array)
    code = array.kind.code
    values = [arithmetic.convert(_scalar(context, item), code) for item in node.args[wanted - 1 :]]
    if name in ("cas", "compare_and_swap"):
        old = node.args[1] if name == "compare_and_swap" else node.args[2]
        values.insert(0, arithmetic.convert(_scalar(context, old), code))
    run, dims, site = array.run, target.dims, target.site

    def execute(fr: Any, m: Any) -> Any:
        operands = [value(fr, m) for value in values]
        return update(fr, m, run(fr, m), [dim(fr, m) for dim in dims], operands, site, name)

    return Typed(Scalar(code), execute)


def _scalar(context: Context, node: ast.expr) -> Typed:
    typed = expressions.expression(context, node)
    if not isinstance(typed.kind, Scalar):
        context.fail(node, "argument-type", name="atomic", got=typed.kind.name)
    return typed


def update(
    fr: Any, m: Active, view: View, dims: list[Value], operands: list[Value], site: Site, name: str
) -> Value:
    """Apply one atomic operation for each active thread, lowest thread first."""
    mc = fr.mc
    address, valid, clean = access.locate(mc, m, view, dims, site, WRITE)
    buffer = view.buffer
    if buffer.shadowed:
        buffer.log.add(ATOMIC, site, view, address, clean, m, valid, mc.loops, operands[-1])
    mc.tally.access(site, STORE, address, m, valid)
    shape = mc.chunk.shape
    where = np.ones(shape, bool) if m is None else np.broadcast_to(m.array, shape)
    if valid is not None:
        where = where & valid
    spread = np.broadcast_to(address.array() if hasattr(address, "array") else address, shape)[where]
    given = [np.broadcast_to(np.asarray(strip(value)), shape)[where] for value in operands]
    old = _apply(buffer.data, spread, given, name)
    result = np.zeros(shape, buffer.data.dtype)
    result[where] = old
    if buffer.space == "global":
        mc.written[id(buffer)][spread] = True
    elif buffer.taint is not None:
        buffer.taint[spread] = 0
    return result


def _apply(data: Any, words: Any, given: list[Any], name: str) -> Any:
    """Update word by word in order; returns each thread's old value."""
    old = np.empty(len(words), data.dtype)
    operation = OPERATIONS[name]
    compare = given[0] if len(given) > 1 else None
    for position, word in enumerate(words):
        before = data[word]
        old[position] = before
        if compare is None or before == compare[position]:
            data[word] = operation(before, given[-1][position])
    return old
