"""Loops: uniform ranges, ranges that differ between threads, ``while``."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.simt import affine, arithmetic, expressions, statements, types, values
from grader.simt.affine import Affine
from grader.simt.context import Context, Frame, LoopExits, Run, Typed, join_kinds
from grader.simt.evidence import Site
from grader.simt.machine import Stop
from grader.simt.mask import DEAD, Active, Dead, State, union, without
from grader.simt.types import INT32, INT64, Array, Kind, Scalar, Space, Tuple
from grader.simt.values import Tainted, as_condition
from grader.simt.variables import assign

MAX_PASSES = 6


def _exits(nodes: list[ast.stmt]) -> bool:
    """Whether some statement of a loop's body leaves it before its end."""
    return any(
        isinstance(part, ast.Break | ast.Continue | ast.Return) for node in nodes for part in ast.walk(node)
    )


def _settle(context: Context, prepare: Any, body: list[ast.stmt]) -> tuple[Any, Any, dict[str, Kind]]:
    """Compile a loop's body until the types at its head no longer change.

    ``prepare`` binds what the head binds. Gives its result, the body and the types at the head.
    """
    head = dict(context.kinds)
    assumed: set[str] = set()
    for _ in range(MAX_PASSES):
        context.kinds = dict(head)
        exits = LoopExits(target=dict(head))
        context.exits.append(exits)
        try:
            prepared = prepare()
            compiled = statements.suite(context, body)
        except Stop as stop:
            name = _set_later(stop, body, assumed)
            if name is None:
                raise
            assumed.add(name)
            head[name] = INT64
            continue
        finally:
            context.exits.pop()
        ends = exits.kinds if statements.leaves(body) else [context.kinds, *exits.kinds]
        settled = {name: kind for name, kind in head.items() if name not in assumed}
        for kinds in ends:
            settled = join_kinds(settled, kinds)
        if _alike(settled, head):
            moves = statements.convert_kinds(context, context.kinds, head)
            return prepared, statements.with_moves(compiled, moves), head
        head = {**head, **settled}
        assumed.clear()
    context.unsupported(body[0], "unsettled-types")


def _set_later(stop: Stop, body: list[ast.stmt], assumed: set[str]) -> str | None:
    """A variable read before the statement of the body that sets it, as later iterations may.

    Its type is assumed at first; the pass that follows knows it.
    """
    facts = stop.finding.facts
    name = facts.get("name")
    if facts.get("rule") != "unset-variable" or not isinstance(name, str) or name in assumed:
        return None
    for node in body:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store):
                return name
    return None


def _alike(left: dict[str, Kind], right: dict[str, Kind]) -> bool:
    """Whether variables known at the loop's head keep their types; new ones are fine."""
    return all(name in left and left[name] == kind for name, kind in right.items())


def _after(context: Context, head: dict[str, Kind], start: dict[str, Kind]) -> None:
    """Types after the loop: those of its head, and of variables that only its body sets."""
    merged = dict(head)
    for name, kind in context.kinds.items():
        merged.setdefault(name, types.plain(kind))
    context.kinds = merged


def for_loop(context: Context, node: ast.For) -> list[Any]:
    """``for i in range(...)`` and ``for x in (1, 2, 4)``."""
    iterated = _iterated(context, node)
    if isinstance(iterated, Typed):
        return _over_tuple(context, node, iterated)
    start = dict(context.kinds)
    bounds, kind = iterated
    site = context.site(node.iter)
    if not isinstance(node.target, ast.Name):
        context.unsupported(node.target)
    name = node.target.id
    moves_in: list[Run] = []

    def prepare() -> int:
        context.kinds[name] = kind
        return context.slot(name, kind)

    outer, context.guard = context.guard, context.guard
    slot, body, head = _settle(context, prepare, node.body)
    moves_in = statements.convert_kinds(context, start, head)
    _after(context, head, start)
    context.guard = outer
    orelse = statements.suite(context, node.orelse) if node.orelse else None
    loop = Loop(name, slot, site, body, _exits(node.body), orelse)
    runs = tuple(bounds)

    def execute(fr: Frame, m: Active) -> State:
        for move in moves_in:
            move(fr, m)
        low, high, step = (run(fr, m) for run in runs)
        if type(low) is int and type(high) is int and type(step) is int:
            return loop.uniform(fr, m, low, high, step)
        return loop.divergent(fr, m, low, high, step)

    return [statements.Step(execute, control=True)]


def _iterated(context: Context, node: ast.For) -> Any:
    """(start, stop, step) of a range with the index's type, or a typed tuple to walk over."""
    call = node.iter
    if isinstance(call, ast.Call):
        function = expressions.expression(context, call.func)
        if isinstance(function.kind, Space) and function.kind.path in ("range", "numba.prange"):
            return _range(context, call)
    typed = expressions.expression(context, node.iter)
    if isinstance(typed.kind, Tuple):
        return typed
    if isinstance(typed.kind, Array):
        context.unsupported(node.iter, "iteration-over-array")
    context.fail(node.iter, "not-iterable", got=typed.kind.name)


def _range(context: Context, node: ast.Call) -> tuple[list[Run], Scalar]:
    if not 1 <= len(node.args) <= 3 or node.keywords:
        context.fail(node, "argument-count", name="range", got=len(node.args), wanted=3)
    parts = [expressions.expression(context, item) for item in node.args]
    for part in parts:
        if not isinstance(part.kind, Scalar) or part.kind.is_complex:
            context.fail(node, "argument-type", name="range", got=part.kind.name)
    narrow = all(isinstance(p.kind, Scalar) and p.kind.code in "bhi" and p.kind.literal is None for p in parts)
    kind = INT32 if narrow else INT64
    runs = [arithmetic.convert(part, "q") for part in parts]
    if len(runs) == 1:
        runs.insert(0, lambda fr, m: 0)
    if len(runs) == 2:
        runs.append(lambda fr, m: 1)
    return runs, kind


class Loop:
    """A compiled ``for`` loop over a range."""

    __slots__ = ("body", "exits", "name", "orelse", "site", "slot")

    def __init__(self, name: str, slot: int, site: Site, body: Any, exits: bool, orelse: Any) -> None:
        self.name = name
        self.slot = slot
        self.site = site
        self.body = body
        self.exits = exits
        self.orelse = orelse

    def uniform(self, fr: Frame, m: Active, low: int, high: int, step: int) -> State:
        """All threads run the same iterations."""
        if step == 0:
            return m
        mc, slot, body = fr.mc, self.slot, self.body
        pair: list[Any] = [self.name, low]
        mc.loops.append(pair)
        state: State = m
        if self.exits:
            state = self._with_exits(fr, m, range(low, high, step), pair)
        else:
            for index in range(low, high, step):
                mc.spend(self.site)
                pair[1] = index
                if m is None:
                    fr.values[slot], fr.defined[slot] = index, None
                else:
                    assign(fr, slot, index, m)
                body(fr, m)
        mc.loops.pop()
        return self._finish(fr, state)

    def _finish(self, fr: Frame, state: State) -> State:
        if self.orelse is not None and not self.exits and type(state) is not Dead:
            return self.orelse(fr, state)
        return state

    def _with_exits(self, fr: Frame, m: Active, indices: range, pair: list[Any]) -> State:
        mc = fr.mc
        fr.broken.append(DEAD)
        state: State = m
        for index in indices:
            mc.spend(self.site)
            pair[1] = index
            assign(fr, self.slot, index, state)  # type: ignore[arg-type]
            state = one_pass(fr, self.body, state)
            if type(state) is Dead:
                break
        return leave_loop(fr, m, state, self.orelse)

    def divergent(self, fr: Frame, m: Active, low: Any, high: Any, step: Any) -> State:
        """Threads differ in where they start, stop or how far they step."""
        mc = fr.mc
        low, high, step = (_clean(mc, bound, m) for bound in (low, high, step))
        pair: list[Any] = [self.name, low]
        mc.loops.append(pair)
        fr.broken.append(DEAD)
        state: State = m
        value = low
        while True:
            yes, _ = mc.split(state, _below(value, high, step))
            if type(yes) is Dead:
                break
            if yes is not None and yes is not state and yes.origin is None:  # type: ignore[union-attr]
                yes.origin = self.site  # type: ignore[union-attr]
            mc.spend(self.site)
            pair[1] = value
            assign(fr, self.slot, value, yes)  # type: ignore[arg-type]
            state = one_pass(fr, self.body, yes)
            if type(state) is Dead:
                break
            value = values.int_add(value, step)
        mc.loops.pop()
        return leave_loop(fr, m, _unbroken(fr, m), self.orelse)


def _clean(mc: Any, bound: Any, m: Active) -> Any:
    if type(bound) is Tainted:
        mc.trail.reach(bound.taint, m, "trip-count")
        return bound.value
    return bound


def _below(value: Any, high: Any, step: Any) -> Any:
    """Whether an index is still within its range, which may run downwards."""
    if type(step) is int or type(step) is Affine:
        up = affine.compare("gt", step, 0)
        if type(up) is bool:
            return _compare("lt" if up else "gt", value, high)
    step = values.numeric(step)
    up = np.greater(step, 0)
    rising, falling = _compare("lt", value, high), _compare("gt", value, high)
    return np.where(up, rising, falling)


def _compare(operator: str, a: Any, b: Any) -> Any:
    if type(a) in (int, Affine) and type(b) in (int, Affine):
        return affine.compare(operator, a, b)
    ufunc = np.less if operator == "lt" else np.greater
    return ufunc(values.numeric(a), values.numeric(b))


def one_pass(fr: Frame, body: Any, m: State) -> State:
    """One iteration; the threads that continue rejoin at its end."""
    fr.continued.append(DEAD)
    state = body(fr, m)
    return union(state, fr.continued.pop(), m)  # type: ignore[arg-type]


def _unbroken(fr: Frame, m: Active) -> State:
    """The threads that ran a divergent loop to its end."""
    return without(without(m, fr.left), fr.broken[-1])


def leave_loop(fr: Frame, m: Active, state: State, orelse: Any) -> State:
    """The threads that go on after a loop: those that finished it (through its ``else``) or broke out."""
    broken = fr.broken.pop()
    if orelse is not None and type(state) is not Dead:
        state = orelse(fr, state)
    after = union(state, broken, m)
    return m if _whole(fr, m, after) else after


def _whole(fr: Frame, m: Active, state: State) -> bool:
    return state is m


def while_loop(context: Context, node: ast.While) -> list[Any]:
    """``while test:``; a test that differs between threads narrows the mask."""
    start = dict(context.kinds)
    holder: list[Any] = []

    def prepare() -> Any:
        holder[:] = [expressions.expression(context, node.test)]
        context.guard, holder[1:] = node.test, [context.guard]
        return holder[0]

    outer = context.guard
    test, body, head = _settle(context, prepare, node.body)
    context.guard = outer
    moves_in = statements.convert_kinds(context, start, head)
    _after(context, head, start)
    orelse = statements.suite(context, node.orelse) if node.orelse else None
    condition, site = test.run, context.site(node.test)
    site.waits = _waits(node)

    def execute(fr: Frame, m: Active) -> State:
        for move in moves_in:
            move(fr, m)
        return _run_while(fr, m, condition, site, body, orelse)

    return [statements.Step(execute, control=True)]


def _waits(node: ast.While) -> bool:
    """Whether memory alone decides when the loop ends: it may wait for a store of another thread.

    Such a loop that runs out of fuel is no endless loop for certain: lockstep starves it.
    """
    tests = [node.test]
    if isinstance(node.test, ast.Constant):
        tests = [part.test for part in ast.walk(node) if isinstance(part, ast.If) and statements.leaves(part.body)]
    return any(isinstance(part, ast.Subscript) or _is_atomic(part) for test in tests for part in ast.walk(test))


def _is_atomic(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "atomic" in ast.unparse(node.func)


def _run_while(fr: Frame, m: Active, condition: Run, site: Site, body: Any, orelse: Any) -> State:
    mc = fr.mc
    fr.broken.append(DEAD)
    state: State = m
    passes: list[Any] = ["while", 0]
    mc.loops.append(passes)
    while type(state) is not Dead:
        chosen = as_condition(condition(fr, state))  # type: ignore[arg-type]
        if type(chosen) is bool:
            if not chosen:
                break
            yes: State = state
        else:
            yes, _ = mc.split(state, expressions.decide(fr, chosen, state))
            if type(yes) is Dead:
                break
            if yes is not None and yes is not state and yes.origin is None:  # type: ignore[union-attr]
                yes.origin = site  # type: ignore[union-attr]
        mc.spend(site)
        state = one_pass(fr, body, yes)
        passes[1] += 1
    mc.loops.pop()
    return leave_loop(fr, m, _unbroken(fr, m), orelse)


def _over_tuple(context: Context, node: ast.For, typed: Typed) -> list[Any]:
    """A loop over a literal tuple or list: unrolled, as its items may differ in type."""
    assert isinstance(typed.kind, Tuple)
    if _exits(node.body) or node.orelse:
        context.unsupported(node, "break-in-tuple-loop")
    run, steps = typed.run, []
    site = context.site(node.iter)
    name = node.target.id if isinstance(node.target, ast.Name) else "item"
    for position, kind in enumerate(typed.kind.items):
        item = Typed(types.plain(kind), lambda fr, m, at=position: run(fr, m)[at])
        bound = statements.bind(context, node.target, item, node.iter)
        body = statements.suite(context, node.body)
        steps.append(statements.Step(_unrolled(name, position, bound, body, site), control=True))
    return steps


def _unrolled(name: str, position: int, bound: Run, body: Any, site: Site) -> Any:
    def execute(fr: Frame, m: Active) -> State:
        fr.mc.spend(site)
        fr.mc.loops.append([name, position])
        bound(fr, m)
        state: State = body(fr, m)
        fr.mc.loops.pop()
        return state

    return execute
