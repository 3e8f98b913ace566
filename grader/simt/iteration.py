"""What ``for`` walks over besides ranges: arrays, ``enumerate``, ``zip`` become loops over positions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from grader.simt import expressions
from grader.simt.context import Context
from grader.simt.types import Array, Space, Tuple

RANGES = ("range", "numba.prange")


@dataclass(frozen=True, slots=True)
class Walk:
    """How many items there are, and the item at the position; both as expressions."""

    length: ast.expr
    item: ast.expr


def path_of(context: Context, node: ast.expr) -> str:
    """The dotted path of what a call calls; empty for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    kind = expressions.expression(context, node.func).kind
    return kind.path if isinstance(kind, Space) else ""


def over_positions(context: Context, node: ast.For, tuples: bool) -> list[ast.stmt] | None:
    """The loop as statements that end in a loop over a range; None where it is one already.

    ``tuples`` also turns a loop over one tuple, whose items then have to be alike.
    """
    path = path_of(context, node.iter)
    if path in RANGES:
        return None
    if path not in ("enumerate", "zip"):
        kind = expressions.sequence(context, node.iter).kind
        if not isinstance(kind, Array) and not (tuples and isinstance(kind, Tuple)):
            return None
    before: list[ast.stmt] = []
    position = _fresh(context, "position")
    walk = _walk(context, node.iter, position, before)
    counter = ast.Call(ast.Name("range", ast.Load()), [walk.length], [])
    bound = ast.Assign([node.target], walk.item)
    loop = ast.For(ast.Name(position, ast.Store()), counter, [bound, *node.body], node.orelse)
    made = [*before, ast.copy_location(loop, node)]
    for part in made:
        _locate(part, node.iter)
    return made


def _walk(context: Context, node: ast.expr, position: str, before: list[ast.stmt]) -> Walk:
    path = path_of(context, node)
    at = ast.Name(position, ast.Load())
    if isinstance(node, ast.Call) and path == "enumerate":
        start = (
            node.args[1]
            if len(node.args) > 1
            else next((word.value for word in node.keywords), ast.Constant(0))
        )
        inner = _walk(context, node.args[0], position, before)
        return Walk(inner.length, ast.Tuple([ast.BinOp(at, ast.Add(), start), inner.item], ast.Load()))
    if isinstance(node, ast.Call) and path == "zip" and node.args:
        walks = [_walk(context, part, position, before) for part in node.args]
        lengths = [walk.length for walk in walks]
        least = ast.Call(ast.Name("min", ast.Load()), lengths, []) if len(lengths) > 1 else lengths[0]
        return Walk(least, ast.Tuple([walk.item for walk in walks], ast.Load()))
    if isinstance(node, ast.Call) and path in RANGES:
        if len(node.args) == 1:
            return Walk(node.args[0], at)
        if len(node.args) == 2:
            low, high = node.args
            return Walk(ast.BinOp(high, ast.Sub(), low), ast.BinOp(low, ast.Add(), at))
        context.unsupported(node, "stepped-range-in-zip")
    name = _fresh(context, "items")
    if isinstance(node, ast.List):
        node = ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
    before.append(ast.Assign([ast.Name(name, ast.Store())], node))
    items = ast.Name(name, ast.Load())
    return Walk(ast.Call(ast.Name("len", ast.Load()), [items], []), ast.Subscript(items, at, ast.Load()))


def _fresh(context: Context, word: str) -> str:
    """A name for a variable of ours that no variable of the kernel has."""
    name, number = word, 1
    while name in context.locals:
        number += 1
        name = f"{word}{number}"
    context.locals |= {name}
    return name


def _locate(made: ast.stmt, place: ast.AST) -> None:
    """Give the nodes that were made here the place of what they came from."""
    for part in ast.walk(made):
        if isinstance(part, ast.expr | ast.stmt) and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
