"""Branches and jumps: ``if``, ``return``, ``break``, ``continue``, ``raise``, ``assert``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from grader.records import Finding
from grader.simt import expressions, statements, texts
from grader.simt.context import Context, Frame, LoopExits, Run, join_kinds
from grader.simt.decided import decided
from grader.simt.evidence import Site
from grader.simt.joins import convert_kinds, leaves, with_moves
from grader.simt.machine import Stop
from grader.simt.mask import DEAD, Active, Dead, Mask, State, union
from grader.simt.steps import Body, Step, straight
from grader.simt.types import NONE, plain
from grader.simt.values import as_condition


def branch(context: Context, node: ast.If) -> list[Step]:
    """``if``: each side runs for the threads that take it."""
    taken = decided(context, node.test)
    if taken is not None:
        return [
            step
            for part in (node.body if taken else node.orelse)
            for step in statements.statement(context, part)
        ]
    test = expressions.expression(context, node.test)
    condition, site = test.run, context.site(node.test)
    start = dict(context.kinds)
    outer, context.guard = context.guard, node.test
    covered = context.covered
    if outer is None:
        steady = context.steady and not context.is_device
        context.covered = _covered(node) if steady else frozenset()
    body = statements.suite(context, node.body)
    after_body, context.kinds = context.kinds, dict(start)
    orelse = statements.suite(context, node.orelse) if node.orelse else None
    after_else = context.kinds
    context.guard, context.covered = outer, covered
    if leaves(node.body):
        context.kinds = after_else
    elif leaves(node.orelse):
        context.kinds = after_body
    else:
        context.kinds = join_kinds(after_body, after_else)
        body = with_moves(body, convert_kinds(context, after_body, context.kinds))
        moves = convert_kinds(context, after_else, context.kinds)
        if moves:
            orelse = with_moves(orelse or straight([]), moves)
    return [Step(_branch(condition, site, body, orelse), control=True)]


def _covered(node: ast.If) -> frozenset[str]:
    """The elements that both sides store, whichever way a thread goes: no thread skips one of them."""
    parts = list(ast.walk(node))
    if any(
        isinstance(part, ast.Break | ast.Continue | ast.Return | ast.Raise | ast.Assert) for part in parts
    ):
        return frozenset()
    names = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return frozenset(ast.dump(one) for one in _stored(node).values() if not names & _names(one))


def _stored(node: ast.If) -> dict[str, ast.expr]:
    sides = []
    for side in (node.body, node.orelse):
        found: dict[str, ast.expr] = {}
        for part in side:
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Subscript):
                found[ast.dump(part.targets[0])] = part.targets[0]
            elif isinstance(part, ast.If):
                found |= _stored(part)
        sides.append(found)
    return {key: sides[0][key] for key in sides[0] if key in sides[1]}


def _names(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _branch(condition: Run, site: Site, body: Body, orelse: Body | None) -> Body:
    def execute(fr: Frame, m: Active) -> State:
        chosen = as_condition(condition(fr, m))
        if type(chosen) is bool:
            if chosen:
                return body(fr, m)
            return orelse(fr, m) if orelse is not None else m
        yes, no = fr.mc.split(m, expressions.decide(fr, chosen, m))
        for part in (yes, no):
            if isinstance(part, Mask) and part is not m and part.origin is None:
                part.origin = site
        taken = DEAD if isinstance(yes, Dead) else body(fr, yes)
        other = no if isinstance(no, Dead) or orelse is None else orelse(fr, no)
        if taken is yes and other is no:
            return m
        return union(taken, other, m)

    return execute


def returning(context: Context, node: ast.Return) -> list[Step]:
    """``return``: the thread is done, or gives its value to the caller."""
    site = context.site(node)
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        value = None
    else:
        value = expressions.expression(context, node.value)
    if not context.is_device:
        if value is not None:
            context.fail(node, "kernel-returns-value")
        return [Step(lambda fr, m: leave(fr, m, site), control=True)]
    context.returns.append(NONE if value is None else plain(value.kind))
    run = value.run if value is not None else (lambda fr, m: None)
    return [Step(lambda fr, m: _give(fr, m, run), control=True)]


def leave(fr: Frame, m: Active, site: Site) -> State:
    """Threads end."""
    fr.mc.exits.append((site, m))
    fr.mc.leave(m)
    fr.left = union(fr.left, m, None)
    return DEAD


def _give(fr: Frame, m: Active, run: Run) -> State:
    fr.returned.append((m, run(fr, m)))
    fr.left = union(fr.left, m, None)
    return DEAD


def breaking(context: Context, node: ast.Break) -> list[Step]:
    """``break``."""
    moves = _exit_moves(context)

    def execute(fr: Frame, m: Active) -> State:
        for move in moves():
            move(fr, m)
        fr.broken[-1] = union(fr.broken[-1], m, None)
        return DEAD

    return [Step(execute, control=True)]


def continuing(context: Context, node: ast.Continue) -> list[Step]:
    """``continue``."""
    moves = _exit_moves(context)

    def execute(fr: Frame, m: Active) -> State:
        for move in moves():
            move(fr, m)
        fr.continued[-1] = union(fr.continued[-1], m, None)
        return DEAD

    return [Step(execute, control=True)]


def _exit_moves(context: Context) -> Callable[[], list[Run]]:
    """Conversions at a ``break`` or ``continue``, to the types that the loop settles on."""
    exits: LoopExits = context.exits[-1]
    kinds = dict(context.kinds)
    exits.kinds.append(kinds)
    moves = convert_kinds(context, kinds, exits.target)
    return lambda: moves


def raising(context: Context, node: ast.Raise) -> list[Step]:
    """``raise`` ends the thread: without ``debug=True`` the host hears nothing of it."""
    if context.is_device:
        context.unsupported(node, "raise-in-device-function")
    texts.message(context, node.exc.args if isinstance(node.exc, ast.Call) else [])
    site = context.site(node)
    return [Step(lambda fr, m: leave(fr, m, site), control=True)]


def asserting(context: Context, node: ast.Assert) -> list[Step]:
    """``assert`` ends the threads for which its test is false, as ``raise`` does."""
    condition, site = expressions.expression(context, node.test).run, context.site(node)
    texts.message(context, [] if node.msg is None else [node.msg])
    facts: dict[str, Any] = {"construct": "assert-in-device-function"}
    refused = Finding("unsupported-construct", "error", site.span, facts=facts) if context.is_device else None

    def execute(fr: Frame, m: Active) -> State:
        chosen = as_condition(condition(fr, m))
        if type(chosen) is bool:
            passed, failed = (m, DEAD) if chosen else (DEAD, m)
        else:
            passed, failed = fr.mc.split(m, expressions.decide(fr, chosen, m))
        if type(failed) is Dead:
            return passed
        if refused is not None:
            raise Stop(refused)
        leave(fr, failed, site)  # type: ignore[arg-type]
        return passed

    return [Step(execute, control=True)]
