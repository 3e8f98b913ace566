"""Where a missing barrier belongs: between two accesses of the text, or at the end of their loop."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from grader.diagnosis import source
from grader.records import Span


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a barrier: after a line, at that statement's depth.

    ``loop`` is the head of the loop whose last statement the barrier would be, or empty; ``test``
    is that of the nearest ``if`` around the place, or empty. ``same_statement`` says that one
    statement holds both accesses, so that no barrier fits between them as the text stands.
    """

    after: int
    loop: str = ""
    test: str = ""
    same_statement: bool = False


def between(lines: source.Lines, first: Span | None, second: Span | None) -> Place | None:
    """Find the place that separates the access which has to come first from the one that follows it."""
    if first is None or second is None:
        return None
    earlier, later = source.enclosing(lines, first), source.enclosing(lines, second)
    depth = _shared_depth(earlier, later)
    if depth == 0:
        return None
    block = _statements(earlier[depth - 1], earlier, later, depth)
    if block is None:
        shared = source.innermost(earlier[:depth], ast.stmt)
        simple = shared is not None and not hasattr(shared, "body")
        return Place(after=first.end_line, same_statement=True) if simple else None
    return _place(lines, block, earlier, later, depth)


def _shared_depth(a: tuple[ast.AST, ...], b: tuple[ast.AST, ...]) -> int:
    depth = 0
    while depth < min(len(a), len(b)) and a[depth] is b[depth]:
        depth += 1
    return depth


def _statements(
    parent: ast.AST, a: tuple[ast.AST, ...], b: tuple[ast.AST, ...], depth: int
) -> list[ast.stmt] | None:
    if depth >= min(len(a), len(b)):
        return None
    for field in ("body", "orelse"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and a[depth] in block and b[depth] in block:
            return block
    return None


def _place(
    lines: source.Lines,
    block: list[ast.stmt],
    a: tuple[ast.AST, ...],
    b: tuple[ast.AST, ...],
    depth: int,
) -> Place:
    starts = [block.index(node) for node in (a[depth], b[depth]) if isinstance(node, ast.stmt)]
    parent = a[depth - 1]
    test = _test_around(lines, a[:depth])
    if starts[0] < starts[1]:
        # Directly before the second access: a barrier there also covers the statements in between.
        return Place(after=block[starts[1] - 1].end_lineno or 0, test=test)
    last = block[starts[0]].end_lineno or 0
    loop = ""
    if isinstance(parent, ast.For | ast.While) and starts[0] == len(block) - 1:
        loop = source.line_text(lines, parent.lineno)
    return Place(after=last, loop=loop, test=test)


def _test_around(lines: source.Lines, chain: tuple[ast.AST, ...]) -> str:
    owner = source.innermost(chain, ast.If)
    return "" if owner is None else source.node_text(lines, owner.test)
