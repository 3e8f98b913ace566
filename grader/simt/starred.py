"""Starred arguments: ``f(*(a, b), c)`` is ``f(a, b, c)``."""

from __future__ import annotations

import ast

from grader.simt import expressions
from grader.simt.context import Context
from grader.simt.types import Array, Space, Tuple

_PURE_CALLS = ("numba.cuda.grid", "numba.cuda.gridsize")


def spread(context: Context, node: ast.Call) -> ast.Call:
    """The call with each starred tuple's items as arguments; the very same call where none is starred."""
    if not any(isinstance(item, ast.Starred) for item in node.args):
        return node
    arguments = [part for item in node.args for part in _items(context, item)]
    return ast.copy_location(ast.Call(node.func, arguments, node.keywords), node)


def _items(context: Context, node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Starred):
        return [node]
    if isinstance(node.value, ast.Tuple):
        return [part for item in node.value.elts for part in _items(context, item)]
    if isinstance(node.value, ast.List):
        context.fail(node.value, "unsupported-python", name="list")
    kind = expressions.expression(context, node.value).kind
    if isinstance(kind, Array):
        context.fail(node.value, "argument-type", got=kind.name, wanted="tuple")
    if not isinstance(kind, Tuple) or not _is_pure(context, node.value):
        context.unsupported(node, "starred-argument")
    return [_item(node.value, position) for position in range(len(kind.items))]


def _item(node: ast.expr, position: int) -> ast.expr:
    made = ast.Subscript(node, ast.copy_location(ast.Constant(position), node), ast.Load())
    return ast.copy_location(made, node)


def _is_pure(context: Context, node: ast.expr) -> bool:
    """Whether evaluating the tuple once for each of its items is as good as once."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute():
            return _is_pure(context, node.value)
        case ast.Call():
            kind = expressions.expression(context, node.func).kind
            return isinstance(kind, Space) and kind.path in _PURE_CALLS
    return False
