"""Where a missing barrier belongs: between two accesses of the text, or at the end of their loop."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from grader.diagnosis import source, thread_tests
from grader.records import Span

_Chain = tuple[ast.AST, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a barrier: after a line, at that statement's depth.

    ``loop`` is the head of the loop whose last statement the barrier would be, or empty; ``test``
    is that of the nearest ``if`` around the place, or empty. ``same_statement`` says that one
    statement holds both accesses, so that no barrier fits between them as the text stands.
    ``split`` is the line of an ``if`` around both that only part of a block may take: a barrier
    has to stand outside of it, between the two.
    """

    after: int
    loop: str = ""
    test: str = ""
    same_statement: bool = False
    split: int = 0


def between(
    lines: source.Lines, first: Span | None, second: Span | None, *, rounds_apart: int = 0
) -> Place | None:
    """Find the place that separates the access which has to come first from the one that follows it.

    ``rounds_apart`` counts, from the inside, the loops around one statement that holds both, up to the one
    whose rounds differ; 0 says that they are of one round. None where no place can be named: the text does
    not parse, or the accesses stand in functions whose calls do not show one.
    """
    if first is None or second is None:
        return None
    earlier, later = _in_one_function(lines, source.enclosing(lines, first), source.enclosing(lines, second))
    depth = _shared_depth(earlier, later)
    if depth == 0 or source.innermost(earlier[:depth], ast.FunctionDef) is None:
        return None
    if rounds_apart:
        return _at_the_end(lines, earlier[:depth], first, rounds_apart)
    block = _statements(earlier[depth - 1], earlier, later, depth)
    if block is None:
        shared = source.innermost(earlier[:depth], ast.stmt)
        simple = shared is not None and not hasattr(shared, "body")
        if not simple:
            return None
        place = Place(after=first.end_line, same_statement=True)
    else:
        found = _place(lines, block, earlier, later, depth)
        if found is None:
            return None
        place = found
    return replace(place, split=_split(lines, earlier[:depth], first))


def _in_one_function(lines: source.Lines, a: _Chain, b: _Chain) -> tuple[_Chain, _Chain]:
    """The two chains, or those of the calls in a function that holds both, where they lie apart."""
    one, two = source.innermost(a, ast.FunctionDef), source.innermost(b, ast.FunctionDef)
    if one is two or one is None or two is None:
        return a, b
    for caller in [node for node in ast.walk(a[0]) if isinstance(node, ast.FunctionDef)]:
        first = a if caller in a else _call(lines, caller, one.name, last=True)
        second = b if caller in b else _call(lines, caller, two.name, last=False)
        if first and second:
            return first, second
    return (), ()


def _call(lines: source.Lines, caller: ast.FunctionDef, name: str, *, last: bool) -> _Chain:
    calls = [
        node
        for node in ast.walk(caller)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]
    calls.sort(key=lambda node: (node.lineno, node.col_offset))
    return source.enclosing(lines, source.span_of(lines, calls[-1 if last else 0])) if calls else ()


def _shared_depth(a: _Chain, b: _Chain) -> int:
    depth = 0
    while depth < min(len(a), len(b)) and a[depth] is b[depth]:
        depth += 1
    return depth


def _statements(parent: ast.AST, a: _Chain, b: _Chain, depth: int) -> list[ast.stmt] | None:
    if depth >= min(len(a), len(b)):
        return None
    for field in ("body", "orelse"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and a[depth] in block and b[depth] in block:
            return block
    return None


def _place(lines: source.Lines, block: list[ast.stmt], a: _Chain, b: _Chain, depth: int) -> Place | None:
    starts = [block.index(node) for node in (a[depth], b[depth]) if isinstance(node, ast.stmt)]
    parent = a[depth - 1]
    test = _test_around(lines, a[:depth])
    if starts[0] < starts[1]:
        # Directly before the second access: a barrier there also covers the statements in between.
        return Place(after=block[starts[1] - 1].end_lineno or 0, test=test)
    statement = block[starts[0]]
    if isinstance(statement, ast.Return) or source.innermost(a[:depth], ast.For, ast.While) is None:
        return None  # nothing runs after a return, and without a loop the first comes first already
    loop = ""
    if isinstance(parent, ast.For | ast.While) and starts[0] == len(block) - 1:
        loop = source.line_text(lines, parent.lineno)
    return Place(after=statement.end_lineno or 0, loop=loop, test=test)


def _at_the_end(lines: source.Lines, shared: _Chain, first: Span, count: int) -> Place | None:
    """The end of a loop around both, counted from the inside, where every thread of the block comes to it."""
    loops = [node for node in shared if isinstance(node, ast.For | ast.While)]
    if count > len(loops):
        return None
    loop = loops[-count]
    if _split(lines, shared[: shared.index(loop)], first):
        return None
    last = loop.body[-1]
    if isinstance(last, ast.Return | ast.Break | ast.Continue):
        return None
    return Place(after=last.end_lineno or 0, loop=source.line_text(lines, loop.lineno))


def _split(lines: source.Lines, chain: _Chain, span: Span) -> int:
    """The line of the outermost ``if`` of a chain whose test may differ between threads, or 0."""
    for node in chain:
        if isinstance(node, ast.If) and thread_tests.may_differ(lines, span, node.test):
            return node.lineno
    return 0


def _test_around(lines: source.Lines, chain: _Chain) -> str:
    owner = source.innermost(chain, ast.If)
    return "" if owner is None else source.node_text(lines, owner.test)
