"""Statements: AST nodes to closures that run under a mask and tell which threads go on."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from grader.records import Finding
from grader.simt import arithmetic, expressions, loops, subscripts, types
from grader.simt.context import Context, Frame, LoopExits, Run, Typed, join_kinds
from grader.simt.evidence import Entry, Site, count, loops_at
from grader.simt.flops import operations
from grader.simt.mask import DEAD, Active, Dead, State, union
from grader.simt.types import NONE, Array, Clash, Device, Kind, Scalar, Space, Text, Tuple, plain
from grader.simt.values import as_condition, strip
from grader.simt.variables import assign

Body = Callable[[Frame, Active], State]
INTEGER_CODES = "?bhiqBHIQ"


class Step:
    """One compiled statement; ``control`` says that it may change which threads go on."""

    __slots__ = ("control", "run")

    def __init__(self, run: Any, control: bool = False) -> None:
        self.run = run
        self.control = control


def suite(context: Context, nodes: list[ast.stmt]) -> Body:
    """Compile statements that follow each other."""
    steps = [step for node in nodes for step in statement(context, node)]
    parts = tuple((step.run, step.control) for step in steps)
    if not any(control for _, control in parts):
        return _straight([run for run, _ in parts])

    def execute(fr: Frame, m: Active) -> State:
        for run, control in parts:
            if control:
                state = run(fr, m)
                if type(state) is Dead:
                    return DEAD
                m = state
            else:
                run(fr, m)
        return m

    return execute


def _straight(runs: list[Any]) -> Body:
    if len(runs) == 1:
        only = runs[0]

        def single(fr: Frame, m: Active) -> State:
            only(fr, m)
            return m

        return single
    fixed = tuple(runs)

    def execute(fr: Frame, m: Active) -> State:
        for run in fixed:
            run(fr, m)
        return m

    return execute


def statement(context: Context, node: ast.stmt) -> list[Step]:
    """Compile one statement."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        context.unsupported(node)
    context.kernel.statements += 1
    steps: list[Step] = handler(context, node)
    return _shown(context, node, steps) if context.kernel.traced else steps


def _shown(context: Context, node: ast.stmt, steps: list[Step]) -> list[Step]:
    """The statement's steps with an event for the observers: before a branch or loop, after the rest."""
    span = context.program.span(node)
    if any(step.control for step in steps):
        return [Step(lambda fr, m: fr.mc.show_statement(span, m, ())), *steps]
    names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    slots = [(name, context.slot(name, context.kinds[name])) for name in names if name in context.kinds]

    def show(fr: Frame, m: Active) -> None:
        fr.mc.show_statement(span, m, tuple((name, fr.values[slot]) for name, slot in slots))

    return [*steps, Step(show)] if steps else steps


def _counted(context: Context, node: ast.stmt, run: Run, kinds: dict[str, Kind]) -> Step:
    """Tally the statement's floating-point operations, where it has any."""
    work = operations(node, context)
    if not work:
        return Step(run)
    ident = context.kernel.statements

    def execute(fr: Frame, m: Active) -> None:
        fr.mc.tally.flop(ident, work, m)
        run(fr, m)

    return Step(execute)


# -- assignments -----------------------------------------------------------------------------------


def _assign(context: Context, node: ast.Assign) -> list[Step]:
    first = node.targets[0]
    context.target_name = first.id if isinstance(first, ast.Name) else ""
    value = expressions.expression(context, node.value)
    context.target_name = ""
    if len(node.targets) == 1:
        return [_counted(context, node, bind(context, first, value, node.value), context.kinds)]
    slot = context.slot(f"=value{len(context.slots)}", value.kind)
    run = value.run
    again = Typed(value.kind, lambda fr, m: fr.values[slot])
    steps = [Step(lambda fr, m: assign(fr, slot, run(fr, m), m))]
    return steps + [Step(bind(context, target, again, node.value)) for target in reversed(node.targets)]


def _ann_assign(context: Context, node: ast.AnnAssign) -> list[Step]:
    if node.value is None:
        return []
    value = expressions.expression(context, node.value)
    return [_counted(context, node, bind(context, node.target, value, node.value), context.kinds)]


def bind(context: Context, target: ast.expr, value: Typed, source: ast.expr) -> Run:
    """Compile the assignment of a value to a name, a tuple of names or an element."""
    if isinstance(target, ast.Name):
        return _bind_name(context, target.id, value, source)
    if isinstance(target, ast.Tuple | ast.List):
        return _bind_tuple(context, target, value, source)
    if isinstance(target, ast.Subscript):
        return _bind_element(context, target, value)
    context.unsupported(target)


def _bind_name(context: Context, name: str, value: Typed, source: ast.expr) -> Run:
    if value.kind == NONE:
        context.fail(source, "no-value", name=name)
    context.kinds[name] = value.kind
    if isinstance(value.kind, Scalar) and value.kind.code == "d":
        context.origins[name] = source
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
    parts = [
        bind(context, item, Typed(kind, lambda fr, m, at=at: fr.values[slot][at]), source)
        for at, (item, kind) in enumerate(zip(target.elts, value.kind.items, strict=True))
    ]

    def execute(fr: Frame, m: Active) -> None:
        assign(fr, slot, run(fr, m), None)
        for part in parts:
            part(fr, m)

    return execute


def _bind_element(context: Context, target: ast.Subscript, value: Typed) -> Run:
    target = subscripts.fused(target)
    owner = expressions.expression(context, target.value)
    if isinstance(owner.kind, Tuple):
        context.fail(target, "immutable-tuple", name=ast.unparse(target.value))
    if not isinstance(owner.kind, Array):
        context.fail(target, "not-indexable", got=owner.kind.name)
    place = subscripts.array_target(context, target, owner)
    if place.whole is not None:
        context.unsupported(target, "slice-assignment")
    if not isinstance(value.kind, Scalar) or (value.kind.is_complex and place.code not in "FD"):
        context.fail(target, "element-type", got=value.kind.name, wanted=types.NAMES[place.code])
    if place.ident == types.CONSTANT_ARRAY:
        context.fail(target, "readonly-array", name=ast.unparse(target.value))
    context.kernel.stores.add(place.ident)
    place.site.is_store = True
    if place.space == "shared" and context.guard is not None:
        context.kernel.guarded_stores.add(place.site.array)
    run = arithmetic.convert(value, place.code)
    if value.kind.is_float and place.code in INTEGER_CODES:
        run = _lossy(context, place.site, value, place.code)
    return place.store(run)


def _lossy(context: Context, site: Site, value: Typed, code: str) -> Run:
    """A float stored in an integer array: report the first fraction that is lost."""
    raw, kind = value.run, value.kind
    assert isinstance(kind, Scalar)
    facts = {"from_type": kind.name, "to_type": types.NAMES[code]}

    def execute(fr: Frame, m: Active) -> Any:
        number = raw(fr, m)
        result = arithmetic.cast(number, code)
        plain_number = strip(number)
        lost = plain_number != strip(result)
        if lost is not False:
            _note_loss(fr, m, site, lost, facts)
        return result

    return execute


def _note_loss(fr: Frame, m: Active, site: Site, lost: Any, facts: dict[str, Any]) -> None:
    import numpy as np

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


def _aug_assign(context: Context, node: ast.AugAssign) -> list[Step]:
    """``x op= y``: an element's own read and write share a number, so that races see an update."""
    target: Any = node.target
    if isinstance(target, ast.Subscript):
        target = subscripts.fused(target)
    number = context.kernel.statements
    context.update = number
    loaded = expressions.expression(context, _as_load(target))
    context.update = -1
    operand = expressions.expression(context, node.value)
    value = arithmetic.binary(context, node, node.op, loaded, operand)
    context.update = number
    run = bind(context, target, value, node)  # type: ignore[arg-type]
    context.update = -1
    return [_counted(context, node, run, context.kinds)]


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    return node


# -- control flow ----------------------------------------------------------------------------------


def leaves(nodes: list[ast.stmt]) -> bool:
    """Whether no thread gets past the end of these statements."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise)


def convert_kinds(
    context: Context, start: dict[str, Kind], target: dict[str, Kind]
) -> list[Run]:
    """Closures that move variables to the slots of the types they have where paths meet."""
    moves: list[Run] = []
    for name, kind in start.items():
        wanted = target.get(name)
        if wanted is None or plain(wanted) == plain(kind) or isinstance(wanted, Clash):
            continue
        if isinstance(kind, Scalar) and isinstance(wanted, Scalar):
            source, into, code = context.slot(name, kind), context.slot(name, wanted), wanted.code
            if source != into:
                moves.append(_move(source, into, code))
    return moves


def _move(source: int, into: int, code: str) -> Run:
    from grader.simt.context import UNSET

    def execute(fr: Frame, m: Active) -> None:
        value = fr.values[source]
        if value is not UNSET:
            assign(fr, into, arithmetic.cast(value, code), m)

    return execute


def with_moves(body: Body, moves: list[Run]) -> Body:
    """``body`` followed by the moves, for the threads that reach its end."""
    if not moves:
        return body

    def execute(fr: Frame, m: Active) -> State:
        state = body(fr, m)
        if type(state) is not Dead:
            for move in moves:
                move(fr, state)
        return state

    return execute


def _if(context: Context, node: ast.If) -> list[Step]:
    test = expressions.expression(context, node.test)
    condition, site = test.run, context.site(node.test)
    start = dict(context.kinds)
    outer, context.guard = context.guard, node.test
    body = suite(context, node.body)
    after_body, context.kinds = context.kinds, dict(start)
    orelse = suite(context, node.orelse) if node.orelse else None
    after_else = context.kinds
    context.guard = outer
    if leaves(node.body):
        context.kinds = after_else
    elif leaves(node.orelse):
        context.kinds = after_body
    else:
        context.kinds = join_kinds(after_body, after_else)
        body = with_moves(body, convert_kinds(context, after_body, context.kinds))
        moves = convert_kinds(context, after_else, context.kinds)
        if moves:
            orelse = with_moves(orelse or _straight([]), moves)
    return [Step(_branch(condition, site, body, orelse), control=True)]


def _branch(condition: Run, site: Site, body: Body, orelse: Body | None) -> Body:
    def execute(fr: Frame, m: Active) -> State:
        chosen = as_condition(condition(fr, m))
        if type(chosen) is bool:
            if chosen:
                return body(fr, m)
            return orelse(fr, m) if orelse is not None else m
        yes, no = fr.mc.split(m, expressions.decide(fr, chosen, m))
        for part in (yes, no):
            if type(part) is not Dead and part is not None and part is not m and part.origin is None:
                part.origin = site
        taken = DEAD if type(yes) is Dead else body(fr, yes)
        other = no if type(no) is Dead or orelse is None else orelse(fr, no)
        if taken is yes and other is no:
            return m
        return union(taken, other, m)

    return execute


def _return(context: Context, node: ast.Return) -> list[Step]:
    site = context.site(node)
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        value = None
    else:
        value = expressions.expression(context, node.value)
    if not context.is_device:
        if value is not None:
            context.fail(node, "kernel-returns-value")
        return [Step(lambda fr, m: _exit(fr, m, site), control=True)]
    context.returns.append(NONE if value is None else plain(value.kind))
    run = value.run if value is not None else (lambda fr, m: None)
    if isinstance(context.returns[-1], Scalar):
        return [Step(lambda fr, m: _give(fr, m, run), control=True)]
    return [Step(lambda fr, m: _give(fr, m, run), control=True)]


def _exit(fr: Frame, m: Active, site: Site) -> State:
    fr.mc.exits.append((site, m))
    fr.mc.leave(m)
    fr.left = union(fr.left, m, None)
    return DEAD


def _give(fr: Frame, m: Active, run: Run) -> State:
    fr.returned.append((m, run(fr, m)))
    fr.left = union(fr.left, m, None)
    return DEAD


def _break(context: Context, node: ast.Break) -> list[Step]:
    moves = _exit_moves(context)

    def execute(fr: Frame, m: Active) -> State:
        for move in moves():
            move(fr, m)
        fr.broken[-1] = union(fr.broken[-1], m, None)
        return DEAD

    return [Step(execute, control=True)]


def _continue(context: Context, node: ast.Continue) -> list[Step]:
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


def _expr(context: Context, node: ast.Expr) -> list[Step]:
    if isinstance(node.value, ast.Constant):
        return []
    return [_counted(context, node, expressions.expression(context, node.value).run, context.kinds)]


def _pass(context: Context, node: ast.stmt) -> list[Step]:
    return []


def _assert(context: Context, node: ast.Assert) -> list[Step]:
    """Device code does not trap without ``debug=True``; the condition is evaluated all the same."""
    run = expressions.expression(context, node.test).run
    return [Step(lambda fr, m: run(fr, m))]


_HANDLERS: dict[type[ast.stmt], Callable[[Context, Any], list[Step]]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.If: _if,
    ast.For: lambda context, node: loops.for_loop(context, node),
    ast.While: lambda context, node: loops.while_loop(context, node),
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Expr: _expr,
    ast.Pass: _pass,
    ast.Assert: _assert,
}

__all__ = ["Finding", "Step", "statement", "suite"]
