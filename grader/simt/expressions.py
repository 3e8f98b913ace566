"""Expressions: AST nodes to typed closures."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from grader.simt import arithmetic, assignments, attributes, calls, closures, subscripts, types
from grader.simt.arguments import parts_of
from grader.simt.context import Context, Typed, constant_typed
from grader.simt.types import Array, Clash, Device, Kind, Scalar, Space, Tuple
from grader.simt.values import Tainted, as_condition, cast, join, select
from grader.simt.variables import read

MAX_NODES = 20_000


def expression(context: Context, node: ast.expr) -> Typed:
    """Compile one expression."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        if isinstance(node, _REFUSED):
            context.fail(node, "unsupported-python", name=type(node).__name__.lower())
        context.unsupported(node)
    return handler(context, node)


def _constant(context: Context, node: ast.Constant) -> Typed:
    if node.value is Ellipsis or isinstance(node.value, bytes):
        context.unsupported(node, repr(node.value))
    return constant_typed(context, node, node.value)


def _name(context: Context, node: ast.Name) -> Typed:
    name = node.id
    if name not in context.locals:
        return constant_typed(context, node, context.host_value(node))
    # As numba has it: set somewhere above in the text is enough to compile; only a thread that reads
    # what its own path never set is in error.
    kind = context.kinds.get(name) or _plain_number(context.earlier.get(name))
    if kind is None:
        context.fail(node, "unset-variable", name=name)
    if isinstance(kind, Clash):
        context.fail(node, "no-common-type", name=name, got=(kind.left.name, kind.right.name))
    if isinstance(kind, Space | Device | types.Text) or (isinstance(kind, Tuple) and _static(kind)):
        known = context.statics.get((name, kind))
        if known is not None:
            return known
    slot = context.slot(name, kind)
    site = context.site(node)
    if isinstance(kind, Scalar) and kind.literal is not None:
        kind = Scalar(kind.code, kind.literal)
    return Typed(kind, lambda fr, m: read(fr, slot, name, site, m))


def _plain_number(kind: Kind | None) -> Kind | None:
    return types.plain(kind) if isinstance(kind, Scalar) else None


def _static(kind: Kind) -> bool:
    return isinstance(kind, Space | Device | types.Text)


def _binop(context: Context, node: ast.BinOp) -> Typed:
    left, right = expression(context, node.left), expression(context, node.right)
    if isinstance(left.kind, Tuple) and isinstance(right.kind, Tuple) and isinstance(node.op, ast.Add):
        a, b = left.run, right.run
        return Typed(Tuple(left.kind.items + right.kind.items), lambda fr, m: a(fr, m) + b(fr, m))
    return arithmetic.binary(context, node, node.op, left, right)


def _unaryop(context: Context, node: ast.UnaryOp) -> Typed:
    return arithmetic.unary(context, node, expression(context, node.operand))


def _boolop(context: Context, node: ast.BoolOp) -> Typed:
    is_and = isinstance(node.op, ast.And)
    parts = [expression(context, part) for part in node.values]
    if all(part.kind == types.BOOL for part in parts):
        result = parts[0]
        for part, source in zip(parts[1:], node.values[1:], strict=True):
            result = arithmetic.conjunction(result, part, _touches(source), is_and)
        return result
    return _value_of_boolop(context, node, parts, is_and)


def _value_of_boolop(context: Context, node: ast.BoolOp, parts: list[Typed], is_and: bool) -> Typed:
    """``a or b`` on numbers gives one of the operands, as in Python."""
    kind: Kind = types.plain(parts[0].kind)
    for part in parts[1:]:
        kind = types.unify(kind, types.plain(part.kind))
    if not isinstance(kind, Scalar):
        context.fail(node, "operand-type", operator="and" if is_and else "or", got=tuple(p.kind.name for p in parts))
    runs = [arithmetic.convert(part, kind.code) for part in parts]

    def run(fr: Any, m: Any) -> Any:
        value = runs[0](fr, m)
        for following in runs[1:]:
            condition = as_condition(value)
            if type(condition) is bool:
                value = following(fr, m) if condition is is_and else value
            else:
                plain = condition.value if type(condition) is Tainted else condition
                other = following(fr, m)
                value = join(select(plain, *((other, value) if is_and else (value, other))), condition)
        return value

    return Typed(kind, run)


def _touches(node: ast.expr) -> bool:
    """Whether evaluating the expression may touch memory or act, so that it must be narrowed."""
    return any(isinstance(part, ast.Subscript | ast.Call) for part in ast.walk(node))


def _compare(context: Context, node: ast.Compare) -> Typed:
    operands = [sequence(context, part) for part in (node.left, *node.comparators)]
    if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        return _membership(context, node, operands)
    if any(operand.kind == types.NONE for operand in operands):
        return _compare_none(context, node, operands)
    return arithmetic.compare(context, node, operands)


def _membership(context: Context, node: ast.Compare, operands: list[Typed]) -> Typed:
    """``x in (1, 2, 4)``: equal to one of a tuple's items."""
    if len(operands) != 2 or not isinstance(operands[1].kind, Tuple):
        context.unsupported(node, "in")
    found = Typed(types.BOOL, lambda fr, m: False)
    for item in parts_of(operands[1]):
        link = arithmetic.binary(context, node, ast.Eq(), operands[0], item)
        found = arithmetic.conjunction(found, link, False, False)
    return arithmetic.negation(found) if isinstance(node.ops[0], ast.NotIn) else found


def _named(context: Context, node: ast.NamedExpr) -> Typed:
    """``(i := i + 1)``: an assignment that is worth its value."""
    store = assignments.bind(context, node.target, expression(context, node.value), node.value)
    loaded = _name(context, ast.copy_location(ast.Name(node.target.id, ast.Load()), node))

    def run(fr: Any, m: Any) -> Any:
        store(fr, m)
        return loaded.run(fr, m)

    return Typed(loaded.kind, run)


def _lambda(context: Context, node: ast.Lambda) -> Typed:
    if node not in context.made:
        context.made[node] = closures.inner_function(context, node)
    made: Typed = context.made[node]
    return made


def _compare_none(context: Context, node: ast.Compare, operands: list[Typed]) -> Typed:
    same = all(operand.kind == types.NONE for operand in operands)
    known = same == isinstance(node.ops[0], ast.Is | ast.Eq)
    return Typed(types.BOOL, lambda fr, m: known)


def _ifexp(context: Context, node: ast.IfExp) -> Typed:
    test = expression(context, node.test)
    outer, context.guard = context.guard, node.test
    yes, no = expression(context, node.body), expression(context, node.orelse)
    context.guard = outer
    kind = types.unify(types.plain(yes.kind), types.plain(no.kind))
    if isinstance(kind, Clash):
        context.fail(node, "no-common-type", got=(yes.kind.name, no.kind.name))
    condition, site = test.run, context.site(node.test)
    if not isinstance(kind, Scalar):
        return Typed(kind, _choose_whole(context, node, condition, yes, no))
    code = kind.code
    first, second = arithmetic.convert(yes, code), arithmetic.convert(no, code)

    def run(fr: Any, m: Any) -> Any:
        chosen = as_condition(condition(fr, m))
        if type(chosen) is bool:
            return first(fr, m) if chosen else second(fr, m)
        plain = decide(fr, chosen, m)
        taken, other = fr.mc.split(m, plain)
        if taken is not None and not hasattr(taken, "array"):
            return second(fr, m)
        if other is not None and not hasattr(other, "array"):
            return first(fr, m)
        for part in (taken, other):
            if part is not None and part.origin is None:
                part.origin = site
        return select(plain, first(fr, taken), second(fr, other))

    return Typed(kind, run)


def decide(fr: Any, condition: Any, m: Any) -> Any:
    """A condition without its taint, which is reported: it decides a branch."""
    if type(condition) is Tainted:
        fr.mc.trail.reach(condition.taint, m, "branch")
        return condition.value
    return condition


def _choose_whole(context: Context, node: ast.IfExp, condition: Any, yes: Typed, no: Typed) -> Any:
    """A conditional expression over arrays or tuples: only one that is the same for all threads."""
    site = context.site(node)

    def run(fr: Any, m: Any) -> Any:
        chosen = as_condition(condition(fr, m))
        if type(chosen) is not bool:
            from grader.records import Finding
            from grader.simt.machine import Stop

            facts = {"construct": "array-per-thread"}
            raise Stop(Finding("unsupported-construct", "error", primary=site.span, facts=facts))
        return (yes if chosen else no).run(fr, m)

    return run


def sequence(context: Context, node: ast.expr) -> Typed:
    """What is walked over or searched: Python makes a tuple of a list that stands there."""
    if isinstance(node, ast.List):
        node = ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
    return expression(context, node)


def _tuple(context: Context, node: ast.Tuple) -> Typed:
    parts = items(context, node.elts)
    runs = [part.run for part in parts]
    kind = Tuple(tuple(part.kind for part in parts))
    return Typed(kind, lambda fr, m: tuple([run(fr, m) for run in runs]))


def items(context: Context, nodes: list[ast.expr]) -> list[Typed]:
    """Expressions that follow each other, a starred tuple as its items."""
    parts: list[Typed] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            parts.append(expression(context, node))
            continue
        inner = expression(context, node.value)
        if not isinstance(inner.kind, Tuple):
            context.unsupported(node, "starred-array")
        parts += parts_of(inner)
    return parts


def _joined(context: Context, node: ast.JoinedStr) -> Typed:
    return Typed(types.Text(""), lambda fr, m: "")


_HANDLERS: dict[type[ast.expr], Callable[[Context, Any], Typed]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binop,
    ast.UnaryOp: _unaryop,
    ast.BoolOp: _boolop,
    ast.Compare: _compare,
    ast.IfExp: _ifexp,
    ast.Tuple: _tuple,
    ast.Attribute: lambda context, node: attributes.attribute(context, node),
    ast.Subscript: lambda context, node: subscripts.subscript(context, node),
    ast.Call: lambda context, node: calls.call(context, node),
    ast.JoinedStr: _joined,
    ast.NamedExpr: _named,
    ast.Lambda: _lambda,
}

# What numba's own front end turns away wherever it stands, or needs memory that kernels cannot have.
_REFUSED = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.List, ast.Dict, ast.Set),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)

__all__ = ["Array", "cast", "expression"]
