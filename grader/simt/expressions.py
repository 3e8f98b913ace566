"""Expressions: AST nodes to typed closures."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from grader.simt import arithmetic, assignments, attributes, calls, closures, logic, subscripts, texts, types
from grader.simt.arguments import parts_of
from grader.simt.constants import constant_typed
from grader.simt.context import Context, Typed
from grader.simt.global_names import check_global
from grader.simt.types import Array, Clash, Device, Kind, Scalar, Space, Tuple
from grader.simt.values import Tainted, cast
from grader.simt.variables import read
from grader.simt.walrus import loses_its_value

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
        value = context.host_value(node)
        check_global(context, node, value)
        return constant_typed(context, node, value)
    # As numba has it: set somewhere above in the text is enough to compile; only a thread that reads
    # what its own path never set is in error.
    kind = context.kinds.get(name) or _plain_number(context.earlier.get(name))
    if kind is None:
        context.fail(node, "unset-variable", name=name)
    if isinstance(kind, Clash) and types.NONE in (kind.left, kind.right):
        context.unsupported(node, "none-or-value")
    if isinstance(kind, Clash):
        context.fail(node, "no-common-type", name=name, got=(kind.left.name, kind.right.name))
    if _static(kind):
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
    return isinstance(kind, Space | Device | types.Text | types.NoneKind)


def _binop(context: Context, node: ast.BinOp) -> Typed:
    text = texts.folded(node)
    if text is not None:
        return constant_typed(context, node, text)
    left, right = expression(context, node.left), expression(context, node.right)
    if isinstance(left.kind, Tuple) and isinstance(right.kind, Tuple) and isinstance(node.op, ast.Add):
        a, b = left.run, right.run
        return Typed(Tuple(left.kind.items + right.kind.items), lambda fr, m: a(fr, m) + b(fr, m))
    return arithmetic.binary(context, node, node.op, left, right)


def _unaryop(context: Context, node: ast.UnaryOp) -> Typed:
    return arithmetic.unary(context, node, expression(context, node.operand))


def _named(context: Context, node: ast.NamedExpr) -> Typed:
    """``(i := x)``: an assignment that is worth its value."""
    variables = context.locals.difference(context.function.captured)
    if loses_its_value(context.function.node, node, variables):
        context.fail(
            node, "walrus", name=node.target.id, wanted=f"{node.target.id} = {ast.unparse(node.value)}"
        )
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


def decide(fr: Any, condition: Any, m: Any) -> Any:
    """A condition without its taint, which is reported: it decides a branch."""
    if type(condition) is Tainted:
        fr.mc.trail.reach(condition.taint, m, "branch")
        return condition.value
    return condition


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
        if isinstance(node.value, ast.Tuple):
            parts += items(context, node.value.elts)
            continue
        inner = expression(context, node.value)
        if not isinstance(inner.kind, Tuple):
            context.unsupported(node, "starred-array")
        parts += parts_of(inner)
    return parts


_HANDLERS: dict[type[ast.expr], Callable[[Context, Any], Typed]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binop,
    ast.UnaryOp: _unaryop,
    ast.BoolOp: lambda context, node: logic.boolean(context, node),  # noqa: PLW0108 - import cycle
    ast.Compare: lambda context, node: logic.comparison(context, node),  # noqa: PLW0108
    ast.IfExp: lambda context, node: logic.conditional(context, node),  # noqa: PLW0108
    ast.Tuple: _tuple,
    ast.Attribute: lambda context, node: attributes.attribute(context, node),  # noqa: PLW0108 - import cycle
    ast.Subscript: lambda context, node: subscripts.subscript(context, node),  # noqa: PLW0108
    ast.Call: lambda context, node: calls.call(context, node),  # noqa: PLW0108
    ast.JoinedStr: lambda context, node: texts.joined(context, node),  # noqa: PLW0108 - import cycle
    ast.NamedExpr: _named,
    ast.Lambda: _lambda,
}

# What numba's own front end turns away wherever it stands, or needs memory that kernels cannot have.
_REFUSED = (
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.List, ast.Dict, ast.Set),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)

__all__ = ["Array", "cast", "expression"]
