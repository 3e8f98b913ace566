"""Accesses by row and column, paired with the like ones of another array."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.checks.places import base_name

__all__ = ["Access", "Parents", "access_of", "guards_of", "paired"]

#: So many accesses of an array are compared with as many of its counterpart.
MOST_ACCESSES = 4

Parents = Mapping[ast.AST, ast.AST]


@dataclass(frozen=True, slots=True)
class Access:
    """An access with its row and column, and what stands before them: the number of a buffer."""

    node: ast.Subscript
    pair: tuple[ast.expr, ast.expr]
    lead: tuple[ast.expr, ...] = ()


def paired(
    functions: list[ast.FunctionDef], left: str, right: str, store: bool
) -> list[tuple[Access, Access]]:
    """The accesses of one array, each with the like one of the other: one by one, or all with all."""
    sides = [_accesses(functions, name, store)[:MOST_ACCESSES] for name in (left, right)]
    if len(sides[0]) == len(sides[1]):
        return list(zip(*sides, strict=True))
    return [(first, second) for first in sides[0] for second in sides[1]]


def _accesses(functions: list[ast.FunctionDef], array: str, store: bool) -> list[Access]:
    found: dict[str, Access] = {}
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) is store:
            access = access_of(node) if base_name(node) == array else None
            if access is not None:
                found.setdefault(ast.unparse(node), access)
    return sorted(found.values(), key=lambda one: (one.node.lineno, one.node.col_offset))


def access_of(node: ast.Subscript) -> Access | None:
    """The row and the column of an index: a pair, two indices in turn, or ``row * width + column``."""
    match node:
        case ast.Subscript(slice=ast.Tuple(elts=[*lead, first, second])):
            return Access(node, (first, second), tuple(lead))
        case ast.Subscript(value=ast.Subscript(slice=first), slice=second):
            return Access(node, (first, second))
        case ast.Subscript(slice=ast.BinOp(ast.BinOp(first, ast.Mult(), _), ast.Add(), second)):
            return Access(node, (first, second))
    return None


def guards_of(node: ast.AST, parents: Parents) -> Iterator[ast.expr]:
    """The tests that a node stands behind, within its loop."""
    while node in parents and not isinstance(node, ast.For | ast.While):
        child, node = node, parents[node]
        if isinstance(node, ast.If | ast.IfExp) and child is not node.test:
            yield node.test
