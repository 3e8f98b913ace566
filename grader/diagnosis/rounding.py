"""How a quotient in the text is rounded: down, to the nearest whole number, up, or not to be told."""

from __future__ import annotations

import ast
from typing import Literal

from grader.diagnosis import source
from grader.records import Span

Rounding = Literal["down", "nearest", ""]

_DEPTH = 4
_DOWN = frozenset({"floor", "trunc", "int", "int32", "int64"})


def of_loop(lines: source.Lines, span: Span | None) -> Rounding:
    """How the number of rounds of the loop at a span is rounded.

    Nothing is said where more products are added after the loop: what the division leaves may come there.
    """
    owner = source.test_owner(lines, span)
    function = source.innermost(source.enclosing(lines, span), ast.FunctionDef)
    if function is None or not isinstance(owner, ast.For | ast.While):
        return ""
    end = owner.end_lineno or 0
    if any(isinstance(node, ast.For | ast.While) and node.lineno > end for node in ast.walk(function)):
        return ""
    return of(lines, span, owner.iter if isinstance(owner, ast.For) else owner.test)


def of_grid(lines: source.Lines, span: Span | None, axis: int) -> Rounding:
    """How a function that returns ``(grid, block)`` at a span rounds the blocks along an axis: 0 is x."""
    statement = source.innermost(source.enclosing(lines, span), ast.Return)
    pair = statement.value if statement is not None else None
    if not (isinstance(pair, ast.Tuple) and len(pair.elts) == 2):
        return ""
    grid = _meant(lines, span, pair.elts[0], _DEPTH)
    if isinstance(grid, ast.Tuple):
        return of(lines, span, grid.elts[axis]) if 0 <= axis < len(grid.elts) else ""
    return ""


def of(lines: source.Lines, span: Span | None, node: ast.expr) -> Rounding:
    """The rounding of the quotients in an expression, names followed to the assignments above the span."""
    found: set[Rounding] = {_rounding(part) for part in _parts(lines, span, node, _DEPTH)} - {""}
    return found.pop() if len(found) == 1 else ""


def _parts(lines: source.Lines, span: Span | None, node: ast.expr, depth: int) -> list[ast.AST]:
    parts: list[ast.AST] = []
    for one in ast.walk(node):
        meant = _meant(lines, span, one, 1) if isinstance(one, ast.Name) and depth else one
        if meant is not one and isinstance(meant, ast.expr):
            parts += _parts(lines, span, meant, depth - 1)
        else:
            parts.append(one)
    negated = {id(two) for one in parts if isinstance(one, ast.UnaryOp) for two in ast.walk(one)}
    return [one for one in parts if id(one) not in negated]


def _meant(lines: source.Lines, span: Span | None, node: ast.AST, depth: int) -> ast.AST:
    """The expression that a name was given, where one assignment gives it and no other changes it."""
    if not isinstance(node, ast.Name) or not depth:
        return node
    function = source.innermost(source.enclosing(lines, span), ast.FunctionDef)
    bound = [one for one in ast.walk(function) if _binds(one, node.id)] if function is not None else []
    if len(bound) != 1 or not isinstance(bound[0], ast.Assign) or len(bound[0].targets) != 1:
        return node
    target = bound[0].targets[0]
    return _meant(lines, span, bound[0].value, depth - 1) if isinstance(target, ast.Name) else node


def _binds(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For | ast.NamedExpr):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(part, ast.Name) and part.id == name for one in targets for part in ast.walk(one))


def _rounding(node: ast.AST) -> Rounding:
    """Of one node: a quotient of sums, as in ``(K + TILE - 1) // TILE``, is not told."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.RShift):
        return "down" if _is_plain(node.left) else ""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        function, value = node.func, node.args[0]
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        quotient = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and _is_plain(value.left)
        if quotient and name == "round":
            return "nearest"
        return "down" if quotient and name in _DOWN else ""
    return ""


def _is_plain(node: ast.expr) -> bool:
    """A name, a number, an attribute or an element: nothing has been added to it."""
    return isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.Subscript)
