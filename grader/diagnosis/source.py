"""Reading a submission's text for a message: quoting a span, finding the guard, the loop, the definition.

The text is parsed and walked, never run. Every function answers ``None`` (or an empty string)
where the text does not parse or the span lies outside it, so that a message can do without.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

from grader.records import Span

Lines = tuple[str, ...]
_Node = TypeVar("_Node", bound=ast.AST)


@lru_cache(maxsize=16)
def tree(lines: Lines) -> ast.Module | None:
    """The parsed text, or None where Python refuses it."""
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def text_of(lines: Lines, span: Span | None) -> str:
    """The characters of a span on one line, runs of white space as one blank."""
    if span is None or not 1 <= span.line <= span.end_line <= len(lines):
        return ""
    picked = list(lines[span.line - 1 : span.end_line])
    picked[-1] = picked[-1][: max(0, span.end_column - 1)]
    picked[0] = picked[0][max(0, span.column - 1) :]
    return " ".join(" ".join(picked).split())


def line_text(lines: Lines, number: int) -> str:
    """One line without its indentation, or an empty string."""
    return lines[number - 1].strip() if 1 <= number <= len(lines) else ""


def span_of(lines: Lines, node: ast.AST) -> Span | None:
    """The span of a node; the parser counts bytes, a span counts characters."""
    line, end_line = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if line is None or end_line is None:
        return None
    start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
    return Span(line, _column(lines, line, start), end_line, _column(lines, end_line, end))


def _column(lines: Lines, line: int, offset: int) -> int:
    if not 1 <= line <= len(lines):
        return offset + 1
    return len(lines[line - 1].encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")) + 1


def node_text(lines: Lines, node: ast.AST) -> str:
    """The source text of a node."""
    return text_of(lines, span_of(lines, node))


def enclosing(lines: Lines, span: Span | None) -> tuple[ast.AST, ...]:
    """The nodes that hold a span, from the module inwards."""
    root = tree(lines)
    if root is None or span is None:
        return ()
    chain: list[ast.AST] = [root]
    while (inner := _child_holding(lines, chain[-1], span)) is not None:
        chain.append(inner)
    return tuple(chain)


def _child_holding(lines: Lines, node: ast.AST, span: Span) -> ast.AST | None:
    for child in _placed_children(node):
        place = span_of(lines, child)
        if place is not None and _holds(place, span):
            return child
    return None


def _placed_children(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed_children(child)


def _holds(outer: Span, inner: Span) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def innermost(chain: tuple[ast.AST, ...], *kinds: type[_Node]) -> _Node | None:
    """The last node of a chain that is of one of the given kinds."""
    for node in reversed(chain):
        if isinstance(node, kinds):
            return node
    return None


def guard(lines: Lines, span: Span | None) -> ast.If | None:
    """The innermost ``if`` under whose true branch a span lies."""
    chain = enclosing(lines, span)
    for outer, inner in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        if isinstance(outer, ast.If) and inner in outer.body:
            return outer
    return None


def test_owner(lines: Lines, span: Span | None) -> ast.If | ast.While | ast.For | ast.IfExp | None:
    """The statement or conditional expression in whose test or loop head a span lies, else None."""
    chain = enclosing(lines, span)
    for at in range(len(chain) - 1, -1, -1):
        node, inner = chain[at], chain[at + 1] if at + 1 < len(chain) else None
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            return node if inner is None or inner is node.test else None
        if isinstance(node, ast.For):
            return node if inner is None or inner in (node.iter, node.target) else None
    return None


def index_text(lines: Lines, span: Span | None, axis: int) -> str:
    """The index expression that a subscript has on one axis: ``a_col`` of ``A[row, a_col]`` on axis 1."""
    node = innermost(enclosing(lines, span), ast.Subscript)
    if node is None:
        return ""
    indices = _indices(node)
    return node_text(lines, indices[axis]) if 0 <= axis < len(indices) else ""


def _indices(node: ast.Subscript) -> list[ast.expr]:
    here = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    return (_indices(node.value) if isinstance(node.value, ast.Subscript) else []) + here


def definition(lines: Lines, span: Span | None, name: str) -> tuple[int, str] | None:
    """Line and text of the last assignment to a name above a span, in the same function."""
    function = innermost(enclosing(lines, span), ast.FunctionDef)
    if function is None or span is None:
        return None
    found: tuple[int, str] | None = None
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and node.lineno <= span.line and _binds(node, name)):
            continue
        place = span_of(lines, node)
        if place is None or _holds(place, span):
            continue  # what a statement reads it has not set yet
        if found is None or node.lineno >= found[0]:
            found = (node.lineno, node_text(lines, node))
    return found


def _binds(node: ast.Assign, name: str) -> bool:
    names = [part for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return any(part.id == name and isinstance(part.ctx, ast.Store) for part in names)


def loop_over(lines: Lines, span: Span | None, name: str) -> tuple[int, str] | None:
    """Line and head of the innermost ``for`` around a span whose variable has that name."""
    for node in reversed(enclosing(lines, span)):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node.lineno, head(lines, node)
    return None


def head(lines: Lines, node: ast.For | ast.While) -> str:
    """The head of a loop without its colon: ``for k in range(TILE)``."""
    if isinstance(node, ast.While):
        return f"while {node_text(lines, node.test)}"
    return f"for {node_text(lines, node.target)} in {node_text(lines, node.iter)}"


def base_name(lines: Lines, span: Span | None) -> str:
    """The array that the subscript at a span indexes, or nothing."""
    node: ast.AST | None = innermost(enclosing(lines, span), ast.Subscript)
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def stores_to(lines: Lines, node: ast.AST, array: str) -> list[tuple[str, int]]:
    """The text and line of each subscript of ``array`` that is assigned inside a statement."""
    found = []
    for one in ast.walk(node):
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store):
            base: ast.expr = one
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name) and base.id == array:
                found.append((node_text(lines, one), one.lineno))
    return found


def store_target(lines: Lines, branch: ast.AST | None, array: str) -> str:
    """The text of the first subscript of ``array`` that is assigned inside a statement."""
    stores = stores_to(lines, branch, array) if branch is not None else []
    return stores[0][0] if stores else ""


def is_store(lines: Lines, span: Span | None) -> bool:
    """Whether a span is a subscript that is assigned to."""
    node = innermost(enclosing(lines, span), ast.Subscript)
    return node is not None and isinstance(node.ctx, ast.Store)


def nearest_name(lines: Lines, span: Span | None, name: str) -> str:
    """The name bound in the same function that is spelled most alike, or nothing."""
    function = innermost(enclosing(lines, span), ast.FunctionDef)
    if function is None or not name:
        return ""
    bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {arg.arg for arg in function.args.args}
    return next(iter(difflib.get_close_matches(name, sorted(bound - {name}), n=1)), "")


def unchanged_names(loop: ast.While) -> tuple[str, ...]:
    """Names that a ``while`` test reads, when its body assigns none of them; else nothing.

    Names in capitals are constants by convention and come in only where there are no others.
    """
    read = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
    assigned = {
        node.id
        for statement in loop.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    if read & assigned:
        return ()
    return tuple(sorted(name for name in read if not name.isupper())) or tuple(sorted(read))
