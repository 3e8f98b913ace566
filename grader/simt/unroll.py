"""A loop's body as a plain list of assignments: the loops of known length within it unrolled."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass

from grader.simt import expressions, iteration
from grader.simt.context import Context
from grader.simt.types import Scalar

MAX_STATEMENTS = 64


class Unsuited(Exception):
    """A loop that has to go iteration by iteration."""


@dataclass(frozen=True, slots=True)
class Statement:
    """``target = value``, or ``target op= value``, with numbers in place of inner loops' variables.

    ``inner`` holds those variables and numbers, outermost first, and ``source`` the statement itself.
    """

    target: ast.expr
    op: ast.operator | None
    value: ast.expr
    inner: tuple[tuple[str, int], ...]
    source: ast.stmt


@dataclass(slots=True)
class Unrolled:
    """The assignments of one iteration.

    ``last`` is the last index of each inner loop, ``passes`` how many iterations they make together.
    """

    statements: list[Statement]
    last: dict[str, int]
    passes: int = 0


def unrolled(context: Context, body: list[ast.stmt]) -> Unrolled:
    """The body's assignments in order; :class:`Unsuited` where it holds anything else."""
    result = Unrolled([], {})
    _unroll(context, body, (), result)
    return result


def _unroll(
    context: Context, body: list[ast.stmt], inner: tuple[tuple[str, int], ...], made: Unrolled
) -> None:
    for node in body:
        if isinstance(node, ast.For):
            _loop(context, node, inner, made)
        elif isinstance(node, ast.AugAssign):
            made.statements.append(_statement(node.target, node.op, node.value, inner, node))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            made.statements.append(_statement(node.targets[0], None, node.value, inner, node))
        else:
            raise Unsuited
        if len(made.statements) > MAX_STATEMENTS:
            raise Unsuited


def _loop(context: Context, node: ast.For, inner: tuple[tuple[str, int], ...], made: Unrolled) -> None:
    if not isinstance(node.target, ast.Name) or not isinstance(node.iter, ast.Call) or node.orelse:
        raise Unsuited
    name = node.target.id
    if iteration.path_of(context, node.iter) not in iteration.RANGES or name in dict(inner):
        raise Unsuited
    bounds = [_literal(context, part) for part in node.iter.args]
    if not 1 <= len(bounds) <= 3 or 0 in bounds[2:] or _sets(node.body, name):
        raise Unsuited
    indices = range(*bounds)
    if not 0 < len(indices) <= MAX_STATEMENTS:
        raise Unsuited
    for index in indices:
        made.passes += 1
        _unroll(context, node.body, (*inner, (name, index)), made)
    made.last[name] = indices[-1]


def _literal(context: Context, node: ast.expr) -> int:
    kind = expressions.expression(context, node).kind
    if not isinstance(kind, Scalar) or kind.literal is None:
        raise Unsuited
    return kind.literal


def _sets(body: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        for node in body
        for part in ast.walk(node)
    )


def _statement(
    target: ast.expr,
    op: ast.operator | None,
    value: ast.expr,
    inner: tuple[tuple[str, int], ...],
    source: ast.stmt,
) -> Statement:
    numbers = dict(inner)
    if numbers:
        target, value = (_Numbers(numbers).visit(copy.deepcopy(part)) for part in (target, value))
    return Statement(target, op, value, inner, source)


class _Numbers(ast.NodeTransformer):
    """Puts numbers in place of loop variables."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.numbers:
            return ast.copy_location(ast.Constant(self.numbers[node.id]), node)
        return node
