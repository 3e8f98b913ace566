"""Asynchronous copies to shared memory: ``cp.async``, its groups and the wait for them.

A copy counts as a write by the thread that starts it, where it starts it and again where it waits for
it; in between the words hold nothing defined. So a read before the wait is a read of an undefined
word, and one after the wait that no barrier orders is a race.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import access, expressions, wide
from grader.simt.context import Context, Typed
from grader.simt.evidence import Site
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active, Dead, State
from grader.simt.memory import View
from grader.simt.tally import LOAD, STORE
from grader.simt.types import NAMES, NONE, Array, Scalar
from grader.simt.values import Value, cast_scalar, select, strip
from grader.simt.variables import settled

_ELEMENTS = "bhiqBHIQefd"


@dataclass(eq=False, slots=True)
class Copy:
    """One element's copy by the threads of ``mask``; ``group`` is -1 where it is in no group yet."""

    view: View
    offset: Value
    value: Value
    site: Site
    mask: Active
    group: Any = -1


class Copies:
    """The copies of a chunk that are under way, and how many groups each thread has closed."""

    def __init__(self) -> None:
        self.waiting: list[Copy] = []
        self.closed: Any = 0

    def commit(self, m: Active) -> None:
        """Close a group for the threads of ``m``."""
        for copy in self.waiting:
            copy.group = advanced(m, copy.group, lambda group: np.where(group < 0, self.closed, group))
        self.closed = advanced(m, self.closed, lambda closed: closed + 1)

    def wait(self, mc: Machine, m: Active, groups: int) -> None:
        """Let all but the latest ``groups`` groups of the threads of ``m`` arrive."""
        still = []
        for copy in self.waiting:
            done: Any = (np.asarray(copy.group) >= 0) & (copy.group < self.closed - groups)
            if m is not None:
                done = done & m.array
            arrived, rest = split(mc, copy.mask, done)
            if not isinstance(arrived, Dead):
                access.store(mc, arrived, copy.view, [copy.offset], copy.value, copy.site, counted=False)
            if not isinstance(rest, Dead):
                copy.mask = rest
                still.append(copy)
        self.waiting = still
        mc.trail.under_way = {copy.view.name: copy.site for copy in still}


def advanced(m: Active, old: Any, change: Callable[[Any], Any]) -> Any:
    """A count that each thread keeps, changed for those of ``m``."""
    new = change(old)
    return new if m is None else np.where(m.array, new, old)


def split(mc: Machine, active: Active, condition: Any) -> tuple[State, State]:
    """Split a mask by a condition, which may be one answer for all threads."""
    if condition.size == 1:
        return mc.split(active, bool(condition.ravel()[0]))
    rank = len(mc.chunk.shape) - condition.ndim
    return mc.split(active, condition.reshape((1,) * rank + condition.shape))


def copying(request: int) -> Callable[[Context, ast.Call], Typed]:
    """The handler of ``cp_async_<request>_bytes(shared, s, array, i, count)``."""

    def handler(context: Context, node: ast.Call) -> Typed:
        wide.arity(context, node, 5)
        target = wide.operand(context, node, 0, _ELEMENTS, request, store=True)
        source = wide.operand(context, node, 2, _ELEMENTS, request)
        _check_types(context, node, request, target, source)
        wanted = wide.scalar(context, node, node.args[4])
        elements = request // np.dtype(target.code).itemsize

        def execute(fr: Any, m: Any) -> None:
            at, start, count = target.offset(fr, m), source.offset(fr, m), wanted(fr, m)
            _check_count(fr.mc, m, count, elements, target.wide)
            values = _read(fr, m, source, start, count, elements)
            _start(fr, m, target, at, values)

        return Typed(NONE, execute)

    return handler


def _check_types(
    context: Context, node: ast.Call, request: int, target: wide.Operand, source: wide.Operand
) -> None:
    name = ast.unparse(node.func)
    if target.code != source.code or request % np.dtype(target.code).itemsize:
        got = (f"array({NAMES[target.code]})", f"array({NAMES[source.code]})")
        context.fail(node, "argument-type", name=name, got=got, wanted=f"array({NAMES[target.code]})")
    for at, space in ((0, "shared"), (2, "global")):
        kind = expressions.expression(context, node.args[at]).kind
        if isinstance(kind, Array) and kind.space != space:
            # The device takes whatever address it is given for one of that memory.
            context.unsupported(node, f"{name}-of-{kind.space}-memory")


def _check_count(mc: Machine, m: Active, count: Value, elements: int, site: Site) -> None:
    """Stop where a thread asks for fewer than none or more than all: what it gets is undefined."""
    plain = np.asarray(strip(count))
    bad = (plain < 0) | (plain > elements)
    if m is not None:
        bad = bad & m.array
    if bad.any():
        facts = {"construct": "copy-count"}
        raise Stop(Finding("unsupported-construct", "error", site.span, facts=facts))


def _read(fr: Any, m: Active, source: wide.Operand, start: Value, count: Value, elements: int) -> list[Value]:
    """What will arrive: the first ``count`` elements of the source, zeros after them."""
    mc, view = fr.mc, source.flat(fr, m)
    zero = cast_scalar(0, source.code)
    values = []
    for e in range(elements):
        some, none = split(mc, m, np.asarray(strip(count)) > e)
        if isinstance(some, Dead):
            values.append(zero)
            continue
        if e == 0:
            wide.check_alignment(mc, some, view, start, source)
            wide.tally(fr, some, source, start, LOAD)
        value = settled(access.load(mc, some, view, [wide.shifted(start, e)], source.site, counted=False))
        if not isinstance(none, Dead):
            taken = np.ones((1,) * len(mc.chunk.shape), bool) if some is None else some.array
            value = select(taken, value, zero)
        values.append(value)
    return values


def _start(fr: Any, m: Active, target: wide.Operand, at: Value, values: list[Value]) -> None:
    mc, view = fr.mc, target.flat(fr, m)
    if mc.copies is None:
        mc.copies = Copies()
    wide.check_alignment(mc, m, view, at, target)
    wide.tally(fr, m, target, at, STORE)
    # A guard has left its threads out where the copy began; where it arrives there is no guard.
    arrival = replace(target.site, guard=None)
    mc.trail.under_way[view.name] = arrival
    for e, value in enumerate(values):
        offset = wide.shifted(at, e)
        access.store(mc, m, view, [offset], value, target.site, counted=False, under_way=True)
        mc.copies.waiting.append(Copy(view, offset, value, arrival, m))


def commit(context: Context, node: ast.Call) -> Typed:
    """``cp_async_commit()``."""
    wide.arity(context, node, 0)

    def execute(fr: Any, m: Any) -> None:
        if fr.mc.copies is None:
            fr.mc.copies = Copies()
        fr.mc.copies.commit(m)

    return Typed(NONE, execute)


def wait(context: Context, node: ast.Call) -> Typed:
    """``cp_async_wait(groups)``, where ``groups`` is known to the compiler."""
    wide.arity(context, node, 1)
    kind = expressions.expression(context, node.args[0]).kind
    if not isinstance(kind, Scalar) or kind.literal is None or kind.literal < 0:
        got = kind.name if not isinstance(kind, Scalar) or kind.literal is None else str(kind.literal)
        context.fail(node.args[0], "argument-type", name=ast.unparse(node.func), got=got, wanted="constant")
    groups = kind.literal

    def execute(fr: Any, m: Any) -> None:
        if fr.mc.copies is not None:
            fr.mc.copies.wait(fr.mc, m, groups)

    return Typed(NONE, execute)


__all__ = ["Copies", "advanced", "commit", "copying", "split", "wait"]
