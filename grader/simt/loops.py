"""Loops: uniform ranges, ranges that differ between threads, ``while``."""

from __future__ import annotations

import ast
from typing import Any

from grader.simt import arithmetic, assignments, expressions, iteration, starred, statements, types
from grader.simt.arguments import parts_of
from grader.simt.context import Context, Frame, LoopExits, Run, Typed, join_kinds
from grader.simt.decided import decided
from grader.simt.evidence import Site
from grader.simt.joins import convert_kinds, leaves, with_moves
from grader.simt.lone_plan import lone_plan
from grader.simt.lone_while import counted
from grader.simt.loop_runs import Loop, run_while
from grader.simt.mask import Active, Dead, State
from grader.simt.steps import Step
from grader.simt.sweep_build import plan_of
from grader.simt.types import INT32, INT64, Kind, Scalar, Tuple
from grader.simt.uniform import is_uniform_everywhere
from grader.simt.zero_steps import ending_zero_steps, may_step_by_zero

MAX_PASSES = 6


def _exits(context: Context, nodes: list[ast.stmt]) -> bool:
    """Whether some statement of a loop's body may leave it before its end."""
    return any(
        isinstance(part, ast.Break | ast.Continue | ast.Return | ast.Raise | ast.Assert)
        or may_step_by_zero(context, part)
        for node in nodes
        for part in ast.walk(node)
    )


def _settle(context: Context, prepare: Any, body: list[ast.stmt]) -> tuple[Any, Any, dict[str, Kind]]:
    """Compile a loop's body until the types at its head no longer change.

    ``prepare`` binds what the head binds. Gives its result, the body and the types at the head.
    """
    head = dict(context.kinds)
    for _ in range(MAX_PASSES):
        context.kinds = dict(head)
        exits = LoopExits(target=dict(head))
        context.exits.append(exits)
        prepared = prepare()
        compiled = statements.suite(context, body)
        context.exits.pop()
        ends = exits.kinds if leaves(body) else [context.kinds, *exits.kinds]
        settled = dict(head)
        for kinds in ends:
            settled = join_kinds(settled, kinds)
        if _alike(settled, head):
            moves = convert_kinds(context, context.kinds, head)
            return prepared, with_moves(compiled, moves), head
        head = {**head, **settled}
    return context.unsupported(body[0], "unsettled-types")


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
    if node not in context.made:
        context.made[node] = iteration.over_positions(
            context, node, _exits(context, node.body) or bool(node.orelse)
        )
    walked = context.made[node]
    if walked is not None:
        return [step for part in walked for step in statements.statement(context, part)]
    iterated = _iterated(context, node)
    if isinstance(iterated, Typed):
        return _over_tuple(context, node, iterated)
    start = dict(context.kinds)
    bounds, kind = iterated
    site = context.site(node.iter)
    site.ends = True
    if not isinstance(node.target, ast.Name):
        context.unsupported(node.target)
    name = node.target.id
    moves_in: list[Run] = []

    def prepare() -> int:
        context.kinds[name] = context.earlier[name] = kind
        return context.slot(name, kind)

    steady, exits = context.steady, _exits(context, node.body)
    context.steady = steady and not exits and is_uniform_everywhere(context, node.iter)
    slot, body, head = _settle(context, prepare, node.body)
    context.steady = steady
    plan = None if exits else plan_of(context, node, name, head)
    lone = None if exits or plan else lone_plan(context, node, name, head)
    moves_in = convert_kinds(context, start, head)
    _after(context, head, start)
    orelse = statements.suite(context, node.orelse) if node.orelse else None
    loop = Loop(name, slot, site, body, exits, orelse, plan, lone)
    runs, is_device = tuple(bounds), context.is_device

    def execute(fr: Frame, m: Active) -> State:
        for move in moves_in:
            move(fr, m)
        low, high, step = (run(fr, m) for run in runs)
        if type(step) is not int or step == 0:
            stepping = ending_zero_steps(fr, m, step, site, is_device)
            if isinstance(stepping, Dead):
                return stepping
            m = stepping
        if type(low) is int and type(high) is int and type(step) is int:
            return loop.uniform(fr, m, low, high, step)
        return loop.divergent(fr, m, low, high, step)

    return [Step(execute, control=True)]


def _iterated(context: Context, node: ast.For) -> Any:
    """(start, stop, step) of a range with the index's type, or a typed tuple to walk over."""
    if isinstance(node.iter, ast.Call) and iteration.path_of(context, node.iter) in iteration.RANGES:
        return _range(context, node.iter)
    typed = expressions.sequence(context, node.iter)
    if isinstance(typed.kind, Tuple):
        return typed
    return context.fail(node.iter, "not-iterable", got=typed.kind.name)


def _range(context: Context, node: ast.Call) -> tuple[list[Run], Scalar]:
    if not 1 <= len(node.args) <= 3 or node.keywords:
        context.fail(node, "argument-count", name="range", got=len(node.args), wanted=3)
    node = starred.spread(context, node)
    parts = [expressions.expression(context, item) for item in node.args]
    for part in parts:
        if not isinstance(part.kind, Scalar) or part.kind.is_complex:
            context.fail(node, "argument-type", name="range", got=part.kind.name)
    narrow = all(
        isinstance(p.kind, Scalar) and p.kind.code in "bhi" and p.kind.literal is None for p in parts
    )
    kind = INT32 if narrow else INT64
    runs = [arithmetic.convert(part, "q") for part in parts]
    if len(runs) == 1:
        runs.insert(0, lambda fr, m: 0)
    if len(runs) == 2:
        runs.append(lambda fr, m: 1)
    return runs, kind


def while_loop(context: Context, node: ast.While) -> list[Any]:
    """``while test:``; a test that differs between threads narrows the mask."""
    if decided(context, node.test) is False:
        return [step for part in node.orelse for step in statements.statement(context, part)]
    start = dict(context.kinds)
    holder: list[Any] = []

    def prepare() -> Any:
        holder[:] = [expressions.expression(context, node.test)]
        context.guard, holder[1:] = node.test, [context.guard]
        return holder[0]

    outer, steady = context.guard, context.steady
    context.steady = False
    test, body, head = _settle(context, prepare, node.body)
    context.guard, context.steady = outer, steady
    moves_in = convert_kinds(context, start, head)
    _after(context, head, start)
    orelse = statements.suite(context, node.orelse) if node.orelse else None
    condition, site = test.run, context.site(node.test)
    site.waits = _waits(node)
    lone = None if site.waits or _exits(context, node.body) else counted(context, node, head, body, site)

    def execute(fr: Frame, m: Active) -> State:
        for move in moves_in:
            move(fr, m)
        return run_while(fr, m, condition, site, body, orelse, lone)

    return [Step(execute, control=True)]


def _waits(node: ast.While) -> bool:
    """Whether memory alone decides when the loop ends: it may wait for a store of another thread.

    Such a loop that runs out of fuel is no endless loop for certain: lockstep starves it.
    """
    tests = [node.test]
    if isinstance(node.test, ast.Constant):
        tests = [part.test for part in ast.walk(node) if isinstance(part, ast.If) and leaves(part.body)]
    return any(
        isinstance(part, ast.Subscript) or _is_atomic(part) for test in tests for part in ast.walk(test)
    )


def _is_atomic(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "atomic" in ast.unparse(node.func)


def _over_tuple(context: Context, node: ast.For, typed: Typed) -> list[Any]:
    """A loop over a literal tuple or list: unrolled, as its items may differ in type."""
    assert isinstance(typed.kind, Tuple)
    steps = []
    site = context.site(node.iter)
    site.ends = True
    name = node.target.id if isinstance(node.target, ast.Name) else "item"
    for position, part in enumerate(parts_of(typed)):
        item = Typed(types.plain(part.kind), part.run)
        bound = assignments.bind(context, node.target, item, node.iter)
        body = statements.suite(context, node.body)
        steps.append(Step(_unrolled(name, position, bound, body, site), control=True))
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
