"""Lines between two accesses that look like a barrier and are none, and why they are none."""

from __future__ import annotations

import ast

from grader.diagnosis import source
from grader.diagnosis.grammar import quote
from grader.records import Span

_ORDERS = "it orders this thread's own accesses to memory and makes no thread wait"
_WHY_NOT = {
    "syncwarp": "it waits for the threads of one warp only, not for the block",
    "threadfence": _ORDERS,
    "threadfence_block": _ORDERS,
    "threadfence_system": _ORDERS,
}
_UNCALLED = "without `()` it only names the function, and nothing is called"
_BARRIERS = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or")


def between(lines: source.Lines, earlier: Span | None, later: Span | None) -> str:
    """The clause about the first such line on the way from one access to the other, or nothing.

    Where the later access stands above the earlier one, the way leads through the next round of
    the loop that holds both.
    """
    if earlier is None or later is None:
        return ""
    around = _around(lines, earlier, later)
    if around is None:
        return ""
    for node in sorted(_statements(around), key=lambda one: one.lineno):
        if not _on_the_way(node.lineno, earlier.line, later.line):
            continue
        why = _why_not(node.value)
        if why:
            return f"line {node.lineno}, {quote(source.node_text(lines, node))}, is no barrier: {why}"
    return ""


def _around(lines: source.Lines, earlier: Span, later: Span) -> ast.AST | None:
    """The innermost loop around both accesses where the way goes round; else their function."""
    kinds = (ast.For, ast.While) if later.line <= earlier.line else (ast.FunctionDef,)
    there = source.enclosing(lines, later)
    for node in reversed(source.enclosing(lines, earlier)):
        if isinstance(node, kinds) and any(node is one for one in there):
            return node
    return None


def _statements(around: ast.AST) -> list[ast.Expr]:
    return [node for node in ast.walk(around) if isinstance(node, ast.Expr)]


def _on_the_way(line: int, earlier: int, later: int) -> bool:
    return earlier < line < later if earlier < later else line > earlier or line < later


def _why_not(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        return _WHY_NOT.get(_last_name(value.func), "")
    return _UNCALLED if _last_name(value) in (*_BARRIERS, *_WHY_NOT) else ""


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
