"""What ``for`` walks over besides ranges: arrays, ``enumerate``, ``zip`` become loops over positions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from grader.simt import expressions
from grader.simt.context import Context
from grader.simt.host import HostError
from grader.simt.types import Array, Scalar, Space, Tuple

RANGES = ("range",)


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
    walk = _walk(context, node.iter, position, before, True)
    counter = ast.Call(ast.Name("range", ast.Load()), [walk.length], [])
    bound = ast.Assign([node.target], walk.item)
    loop = ast.For(ast.Name(position, ast.Store()), counter, [bound, *node.body], node.orelse)
    made = [*before, ast.copy_location(loop, node)]
    for part in made:
        _locate(part, node.iter)
    return made


def _walk(context: Context, node: ast.expr, position: str, before: list[ast.stmt], outer: bool) -> Walk:
    """``outer`` says that the loop itself walks over ``node``, and no ``enumerate`` or ``zip``."""
    path = path_of(context, node)
    if isinstance(node, ast.Call) and path in ("enumerate", "zip", *RANGES):
        _check_arguments(context, node, path)
        if path == "enumerate":
            return _counted(context, node, position, before)
        if path == "zip" and node.args:
            return _together(context, node, position, before)
        if path in RANGES:
            return _range(context, node, position, before)
    if isinstance(node, ast.List):
        if not outer:
            # Only where the loop walks over a list does Python make a tuple of it.
            context.fail(node, "unsupported-python", name="list")
        node = ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
    items = _kept(context, node, "items", before)
    return Walk(ast.Call(_name("len"), [items], []), ast.Subscript(items, _name(position), ast.Load()))


def _check_arguments(context: Context, node: ast.Call, name: str) -> None:
    if node.keywords:
        context.fail(node, "keyword-argument", name=name)
    most = {"enumerate": 2, "range": 3}.get(name, len(node.args))
    if len(node.args) > most or (name != "zip" and not node.args):
        context.fail(node, "argument-count", name=name, got=len(node.args), wanted=most)
    starred = next((part for part in node.args if isinstance(part, ast.Starred)), None)
    if starred is not None:
        context.unsupported(starred)


def _counted(context: Context, node: ast.Call, position: str, before: list[ast.stmt]) -> Walk:
    """``enumerate(items, start)``."""
    at: ast.expr = _name(position)
    if len(node.args) == 2:
        kind = expressions.expression(context, node.args[1]).kind
        if not isinstance(kind, Scalar) or not kind.is_int:
            context.fail(node.args[1], "argument-type", name="enumerate", got=kind.name, wanted="int64")
        at = ast.BinOp(at, ast.Add(), _kept(context, node.args[1], "start", before))
    inner = _walk(context, node.args[0], position, before, False)
    return Walk(inner.length, ast.Tuple([at, inner.item], ast.Load()))


def _together(context: Context, node: ast.Call, position: str, before: list[ast.stmt]) -> Walk:
    """``zip(...)`` ends with the shortest."""
    walks = [_walk(context, part, position, before, False) for part in node.args]
    lengths = [walk.length for walk in walks]
    least = ast.Call(_name("min"), lengths, []) if len(lengths) > 1 else lengths[0]
    return Walk(least, ast.Tuple([walk.item for walk in walks], ast.Load()))


def _range(context: Context, node: ast.Call, position: str, before: list[ast.stmt]) -> Walk:
    """A range inside ``enumerate`` or ``zip``: how many steps it takes, and where each one is."""
    at: ast.expr = _name(position)
    if len(node.args) == 1:
        return Walk(node.args[0], at)
    low = _kept(context, node.args[0], "low", before)
    span: ast.expr = ast.BinOp(node.args[1], ast.Sub(), low)
    if len(node.args) == 3:
        step = _constant(context, node.args[2])
        if not step:
            context.unsupported(node, "stepped-range-in-zip")
        # Rounded up, whichever way the range goes.
        span = ast.BinOp(
            ast.BinOp(span, ast.Add(), _whole(step - (1 if step > 0 else -1))), _OVER, _whole(step)
        )
        at = ast.BinOp(at, ast.Mult(), _whole(step))
    return Walk(span, ast.BinOp(low, ast.Add(), at))


def _constant(context: Context, node: ast.expr) -> int | None:
    """The whole number that a step is: a literal, or made of constants of the module."""
    kind = expressions.expression(context, node).kind
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    if not isinstance(kind, Scalar) or not kind.is_int:
        return None
    if kind.literal is not None or names & context.locals:
        return kind.literal
    try:
        value = context.interpreter().value(node)
    except HostError:
        return None
    return value if type(value) is int else None


def _kept(context: Context, node: ast.expr, word: str, before: list[ast.stmt]) -> ast.expr:
    """A name for what is evaluated once, before the loop; a literal needs none."""
    if isinstance(node, ast.Constant):
        return node
    name = _fresh(context, word)
    before.append(ast.Assign([ast.Name(name, ast.Store())], node))
    return _name(name)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _whole(number: int) -> ast.expr:
    return ast.Constant(number) if number >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-number))


_OVER = ast.FloorDiv()


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
