"""Accesses of several neighbouring elements at a flat offset, and operands that are register tiles.

The functions of ``grader.gpu.ptx`` name an element by its array and its offset in C order. Each
element of a wide access is read and written as any other, so that bounds, races and undefined values
are found; for the counters it is one request of 4, 8 or 16 bytes a lane.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.records import Finding, Slot
from grader.simt import access, affine, arithmetic, expressions
from grader.simt.affine import Affine
from grader.simt.context import Context, Run
from grader.simt.evidence import Entry, Site, count, loops_at
from grader.simt.local import LocalArray
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active
from grader.simt.memory import View, c_strides
from grader.simt.types import CONSTANT_ARRAY, NAMES, Array, Scalar
from grader.simt.values import Value, strip

CODES_OF_BITS = {16: "hHe", 32: "iIf"}


@dataclass(frozen=True, slots=True)
class Operand:
    """An array and an offset among a call's arguments, compiled; ``wide`` is the site of the request."""

    array: Run
    offset: Run
    code: str
    site: Site
    wide: Site

    @property
    def bytes(self) -> int:
        """Size of one request."""
        return self.wide.itemsize

    def flat(self, fr: Any, m: Any) -> View:
        """The array as one dimension of flat memory."""
        array = self.array(fr, m)
        view: View = array.spread(fr.mc) if isinstance(array, LocalArray) else array
        if view.strides != c_strides(view.shape) and view.size > 1:
            facts = {"rule": "argument-type", "name": view.name, "got": "strided array", "wanted": "C"}
            raise Stop(Finding("type-error", "error", self.site.span, facts=facts))
        known: View | None = fr.mc.flattened.get(id(view))
        if known is None:
            known = View(view.buffer, view.base, (view.size,), (1,), view.name, view.code, view)
            fr.mc.flattened[id(view)] = known
        return known


def operand(
    context: Context, node: ast.Call, at: int, codes: str, request: int, store: bool = False
) -> Operand:
    """Compile arguments ``at`` and ``at + 1``: an array whose element type is among ``codes``, an offset.

    ``request`` is how many bytes of it a lane moves in one go.
    """
    typed = expressions.expression(context, node.args[at])
    kind, name = typed.kind, ast.unparse(node.func)
    wanted = ", ".join(NAMES[code] for code in codes)
    if not isinstance(kind, Array) or kind.code not in codes:
        context.fail(node.args[at], "argument-type", name=name, got=kind.name, wanted=f"array({wanted})")
    if store:
        _check_store(context, node, at, kind)
    label = context.alias(ast.unparse(node.args[at]))
    size = np.dtype(kind.code).itemsize
    # The same array may stand for both operands of a call: the places are told apart by their number.
    site = context.site(node, f"{label}@{at}", kind.space, size)
    wide = context.site(node, f"{label}@{at} wide", kind.space, request)
    site.array = wide.array = label
    site.is_store = wide.is_store = store
    offset = scalar(context, node, node.args[at + 1])
    return Operand(typed.run, offset, kind.code, site, wide)


def _check_store(context: Context, node: ast.Call, at: int, kind: Array) -> None:
    if kind.ident == CONSTANT_ARRAY:
        context.fail(node.args[at], "readonly-array", name=ast.unparse(node.args[at]))
    if kind.space == "global":
        context.kernel.stores.add(kind.ident)
    if kind.space == "shared" and context.guard is not None:
        context.kernel.guarded_stores.add(context.alias(ast.unparse(node.args[at])))


def scalar(context: Context, node: ast.Call, item: ast.expr) -> Run:
    """An argument that is a whole number, or becomes one as a C cast makes it."""
    typed = expressions.expression(context, item)
    if not isinstance(typed.kind, Scalar) or typed.kind.is_complex:
        name = ast.unparse(node.func)
        context.fail(item, "argument-type", name=name, got=typed.kind.name, wanted="int64")
    return typed.run if typed.kind.is_int and typed.kind.code != "?" else arithmetic.convert(typed, "q")


def arity(context: Context, node: ast.Call, wanted: int) -> None:
    """Refuse another number of arguments."""
    name = ast.unparse(node.func)
    if node.keywords:
        context.unsupported(node, f"{name}-keywords")
    if len(node.args) != wanted:
        context.fail(node, "argument-count", name=name, got=len(node.args), wanted=wanted)


def shifted(offset: Value, by: int) -> Value:
    """An offset and a constant."""
    if type(offset) is int or type(offset) is Affine:
        return affine.add(offset, by)
    return np.add(offset, np.int64(by))


def load(fr: Any, m: Active, operand: Operand, offset: Value, elements: int) -> list[Value]:
    """The elements from ``offset`` on, for each thread."""
    array = operand.array(fr, m)
    if isinstance(array, LocalArray):
        found = _cells(array, offset, elements)
        if found is not None:
            return [array.load(fr.mc, m, index, operand.site) for index in found]
    view = operand.flat(fr, m)
    check_alignment(fr.mc, m, view, offset, operand)
    return [
        access.load(fr.mc, m, view, [shifted(offset, e)], operand.site, counted=False)
        for e in range(elements)
    ]


def store(fr: Any, m: Active, operand: Operand, offset: Value, values: list[Value]) -> None:
    """Write elements from ``offset`` on, for each thread."""
    array = operand.array(fr, m)
    if isinstance(array, LocalArray):
        found = _cells(array, offset, len(values))
        if found is not None:
            for index, value in zip(found, values, strict=True):
                array.store(fr.mc, m, index, value, operand.site)
            return
    view = operand.flat(fr, m)
    check_alignment(fr.mc, m, view, offset, operand)
    for e, value in enumerate(values):
        access.store(fr.mc, m, view, [shifted(offset, e)], value, operand.site, counted=False)


def _cells(array: LocalArray, offset: Value, elements: int) -> list[list[int]] | None:
    """The indices of a register tile's elements, where the offset is one number for all threads."""
    if array.view is not None or type(offset) is not int or not 0 <= offset <= array.size - elements:
        return None
    return [
        [int(part) for part in np.unravel_index(offset + e, array.shape)] if array.shape else []
        for e in range(elements)
    ]


def tally(fr: Any, m: Active, operand: Operand, offset: Value, kind: str) -> None:
    """Count one request of a lane's whole width."""
    if operand.site.space == "local":
        return
    view = operand.flat(fr, m)
    elements = operand.bytes // np.dtype(view.code).itemsize
    word = _local_word(view, offset)
    address: Any
    if type(word) is int:
        address = word // elements
    elif type(word) is Affine and word.base % elements == 0 and not any(c % elements for c in word.coefs):
        address = Affine(word.base // elements, tuple(c // elements for c in word.coefs), word.extents)
    else:
        address = (word.array() if type(word) is Affine else np.asarray(word)) // elements
    fr.mc.tally.access(operand.wide, kind, address, m, None)


def _local_word(view: View, offset: Value) -> Value:
    """The word within the allocation: for shared memory, within the block's own part."""
    start = view.base if type(view.base) is int else view.base.base  # type: ignore[union-attr]
    return shifted(strip(offset) if type(offset) is not Affine else offset, start)


def check_alignment(mc: Machine, m: Active, view: View, offset: Value, operand: Operand) -> None:
    """Report an address that is no multiple of the request's bytes: a device stops at it."""
    elements = operand.bytes // np.dtype(view.code).itemsize
    if elements <= 1 or view.buffer.space == "local":
        return
    word = _local_word(view, offset)
    if type(word) is int:
        odd = np.full((1,) * len(mc.chunk.shape), bool(word % elements))
    elif type(word) is Affine and not any(c % elements for c in (word.base, *word.coefs)):
        return
    else:
        spread = word.array() if type(word) is Affine else np.asarray(word)
        odd = (spread % elements != 0).reshape((1,) * (len(mc.chunk.shape) - spread.ndim) + spread.shape)
    if m is not None:
        odd = odd & m.array
    if not odd.any():
        return
    threads = count(odd, mc.chunk)
    if mc.ledger.seen("misaligned-access", operand.wide.ident, threads=threads):
        return
    flat = int(np.argmax(np.broadcast_to(odd, mc.chunk.shape)))
    at = int(mc.chunk.at(strip(offset), flat))  # type: ignore[call-overload]
    entry = Entry("misaligned-access", "error", operand.wide.span, operand.wide.guard)
    entry.threads, entry.loops = (mc.chunk.thread(flat),), loops_at(mc.loops, mc.chunk, flat)
    index = view.index_of(at) if 0 <= at < view.size else (at,)
    entry.slot = Slot(view.name, view.buffer.space, index)  # type: ignore[arg-type]
    entry.counts = {"threads": threads}
    entry.facts = {"bytes": operand.bytes, "elements": elements, "offset": at}
    mc.ledger.add(("misaligned-access", operand.wide.ident), entry)
