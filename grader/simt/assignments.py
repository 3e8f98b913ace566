"""Assignments to names, tuples of names and elements."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from grader.simt import arithmetic, expressions, subscripts, types
from grader.simt.arguments import parts_of
from grader.simt.context import Context, Frame, Run, Typed
from grader.simt.evidence import Entry, Site, count, loops_at
from grader.simt.mask import Active
from grader.simt.steps import Step, counted
from grader.simt.types import NONE, Array, Device, Scalar, Space, Text, Tuple
from grader.simt.values import cast, strip
from grader.simt.variables import assign

_INTEGERS = "?bhiqBHIQ"


def assignment(context: Context, node: ast.Assign) -> list[Step]:
    """``a = b = value``."""
    first = node.targets[0]
    context.target_name = first.id if isinstance(first, ast.Name) else ""
    value = expressions.expression(context, node.value)
    context.target_name = ""
    if len(node.targets) == 1:
        return [counted(context, node, bind(context, first, value, node.value))]
    slot = context.slot(f"=value{len(context.slots)}", value.kind)
    run = value.run
    again = Typed(value.kind, lambda fr, m: fr.values[slot])
    steps = [Step(lambda fr, m: assign(fr, slot, run(fr, m), m))]
    return steps + [Step(bind(context, target, again, node.value)) for target in reversed(node.targets)]


def annotated(context: Context, node: ast.AnnAssign) -> list[Step]:
    """``a: int = value``; the annotation means nothing to numba."""
    if node.value is None:
        return []
    value = expressions.expression(context, node.value)
    return [counted(context, node, bind(context, node.target, value, node.value))]


def bind(context: Context, target: ast.expr, value: Typed, source: ast.expr) -> Run:
    """Compile the assignment of a value to a name, a tuple of names or an element."""
    if isinstance(target, ast.Name):
        return _bind_name(context, target.id, value, source)
    if isinstance(target, ast.Tuple | ast.List):
        return _bind_tuple(context, target, value, source)
    if isinstance(target, ast.Subscript):
        return _bind_element(context, target, value, source)
    return context.unsupported(target)


def _bind_name(context: Context, name: str, value: Typed, source: ast.expr) -> Run:
    context.kinds[name] = context.earlier[name] = value.kind
    if isinstance(value.kind, Scalar) and value.kind.code == "d":
        context.origins[name] = source
    if value.kind == NONE:
        # ``None``, or what a call gives that only does something.
        context.statics[(name, NONE)] = Typed(NONE, lambda fr, m: None)
        return value.run
    if isinstance(value.kind, Space | Device | Text):
        context.statics[(name, value.kind)] = value
        return lambda fr, m: None
    slot, run = context.slot(name, value.kind), value.run
    return lambda fr, m: assign(fr, slot, run(fr, m), m)


def _bind_tuple(context: Context, target: ast.Tuple | ast.List, value: Typed, source: ast.expr) -> Run:
    if not isinstance(value.kind, Tuple) or len(value.kind.items) != len(target.elts):
        got = len(value.kind.items) if isinstance(value.kind, Tuple) else value.kind.name
        context.fail(target, "unpack-count", got=got, wanted=len(target.elts))
    slot = context.slot(f"=unpacked{len(context.slots)}", value.kind)
    run = value.run
    items = parts_of(Typed(value.kind, lambda fr, m: fr.values[slot]))
    parts = [bind(context, item, part, source) for item, part in zip(target.elts, items, strict=True)]

    def execute(fr: Frame, m: Active) -> None:
        assign(fr, slot, run(fr, m), None)
        for part in parts:
            part(fr, m)

    return execute


def _bind_element(context: Context, target: ast.Subscript, value: Typed, source: ast.expr) -> Run:
    element = ast.dump(target)
    in_place = _reads_what_it_stores(target, (source, context.guard))
    target = subscripts.fused(context, target)
    owner = expressions.expression(context, target.value)
    if isinstance(owner.kind, Tuple):
        context.fail(target, "immutable-tuple", name=ast.unparse(target.value))
    if not isinstance(owner.kind, Array):
        context.fail(target, "not-indexable", got=owner.kind.name)
    place = subscripts.array_target(context, target, owner)
    if place.cut is not None and isinstance(value.kind, Array):
        context.fail(target, "array-assignment", name=ast.unparse(target))
    if place.cut is not None and isinstance(value.kind, Tuple):
        context.unsupported(target, "tuple-in-slice")
    if not isinstance(value.kind, Scalar) or (value.kind.is_complex and place.code not in "FD"):
        context.fail(target, "element-type", got=value.kind.name, wanted=types.NAMES[place.code])
    if place.ident == types.CONSTANT_ARRAY:
        context.fail(target, "readonly-array", name=ast.unparse(target.value))
    if place.space == "global":
        context.kernel.stores.add(place.ident)
    place.site.is_store, place.site.in_place = True, in_place
    place.site.covered = context.guard is not None and element in context.covered
    if place.space == "shared" and context.guard is not None and not place.site.covered:
        context.kernel.guarded_stores.add(place.site.array)
    run = arithmetic.convert(value, place.code)
    if value.kind.is_float and place.code in _INTEGERS:
        run = _lossy(context, place.site, value, place.code)
    return place.store(run) if place.cut is None else place.cut.fill(run, place.site)


def _reads_what_it_stores(target: ast.Subscript, sources: Iterable[ast.AST | None]) -> bool:
    """Whether a store's value, or the condition it stands under, is read from the array it goes to."""
    array = _base(target)
    return any(
        isinstance(one, ast.Subscript) and _base(one) == array
        for source in sources
        if source is not None
        for one in ast.walk(source)
        if one is not target
    )


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.dump(node)


def _lossy(context: Context, site: Site, value: Typed, code: str) -> Run:
    """A float stored in an integer array: report the first fraction that is lost."""
    raw, kind = value.run, value.kind
    assert isinstance(kind, Scalar)
    facts = {"from_type": kind.name, "to_type": types.NAMES[code]}

    def execute(fr: Frame, m: Active) -> Any:
        number = raw(fr, m)
        result = cast(number, code)
        plain_number = strip(number)
        lost = plain_number != strip(result)
        if lost is not False:
            _note_loss(fr, m, site, lost, facts)
        return result

    return execute


def _note_loss(fr: Frame, m: Active, site: Site, lost: Any, facts: dict[str, Any]) -> None:
    mc = fr.mc
    mask = np.asarray(lost).reshape((1,) * (len(mc.chunk.shape) - np.ndim(lost)) + np.shape(lost))
    if m is not None:
        mask = mask & m.array
    if not mask.any() or mc.ledger.seen("precision-loss", site.ident, threads=count(mask, mc.chunk)):
        return
    flat = int(np.argmax(np.broadcast_to(mask, mc.chunk.shape)))
    entry = Entry("precision-loss", "warning", site.span)
    entry.threads, entry.loops = (mc.chunk.thread(flat),), loops_at(mc.loops, mc.chunk, flat)
    entry.counts, entry.facts = {"threads": count(mask, mc.chunk)}, dict(facts)
    mc.ledger.add(("precision-loss", site.ident), entry)


def augmented(context: Context, node: ast.AugAssign) -> list[Step]:
    """``x op= y``: an element's own read and write share a number, so that races see an update."""
    target: Any = node.target
    if isinstance(target, ast.Subscript):
        target = subscripts.fused(context, target)
    number = context.kernel.statements
    context.update = number
    loaded = expressions.expression(context, _as_load(target))
    context.update = -1
    operand = expressions.expression(context, node.value)
    kinds = (loaded.kind, operand.kind)
    if isinstance(node.op, ast.Div) and all(isinstance(kind, Scalar) and kind.is_int for kind in kinds):
        # numba types the result of this operator alone as whole, and cannot store the quotient in it.
        context.fail(node, "in-place-division", name=ast.unparse(target))
    value = arithmetic.binary(context, node, node.op, loaded, operand)
    context.update = number
    run = bind(context, target, value, node)  # type: ignore[arg-type]
    context.update = -1
    return [counted(context, node, run)]


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    return node
