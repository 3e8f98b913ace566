"""Loads and stores with a cache hint, ``cuda.ldcg(a, i)`` and ``cuda.stcg(a, i, value)``.

The hint changes where the hardware keeps the line, not the value: they are plain accesses here.
"""

from __future__ import annotations

import ast

from grader.simt import assignments, expressions
from grader.simt.context import Context, Typed
from grader.simt.types import NONE

LOADS: tuple[str, ...] = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES: tuple[str, ...] = ("stcg", "stcs", "stwb", "stwt")


def _element(context: Context, node: ast.Call, count: int) -> ast.Subscript:
    if len(node.args) != count or node.keywords:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=count)
    return ast.copy_location(ast.Subscript(node.args[0], node.args[1], ast.Load()), node)


def load(context: Context, node: ast.Call) -> Typed:
    """``cuda.ldca(array, index)`` and its siblings."""
    return expressions.expression(context, _element(context, node, 2))


def store(context: Context, node: ast.Call) -> Typed:
    """``cuda.stcg(array, index, value)`` and its siblings."""
    place = _element(context, node, 3)
    value = expressions.expression(context, node.args[2])
    return Typed(NONE, assignments.bind(context, place, value, node.args[2]))
