"""Whether a test may differ between the threads of a block, read from the text.

A name depends on the thread where it is assigned from ``threadIdx``, ``cuda.grid``, a warp's lane, an
atomic operation, an element of an array, or from another such name.
"""

from __future__ import annotations

import ast

from grader.diagnosis import source
from grader.records import Span

_OWN = frozenset({"threadIdx", "laneid", "grid", "atomic"})


def may_differ(lines: source.Lines, span: Span | None, test: ast.expr) -> bool:
    """Whether the threads of a block may find different values of an expression at a span."""
    function = source.innermost(source.enclosing(lines, span), ast.FunctionDef)
    return _depends(test, _own_names(function) if function is not None else set())


def _own_names(function: ast.FunctionDef) -> set[str]:
    names: set[str] = set()
    bound = [pair for node in ast.walk(function) for pair in _bindings(node)]
    while fresh := {name for name, value in bound if name not in names and _depends(value, names)}:
        names |= fresh
    return names


def _bindings(node: ast.AST) -> list[tuple[str, ast.AST]]:
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For):
        targets, value = [node.target], node.iter
    else:
        return []
    names = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
    return [(name, value) for name in names]


def _depends(node: ast.AST, names: set[str]) -> bool:
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and one.attr in _OWN:
            return True
        if isinstance(one, ast.Name) and (one.id in names or one.id in _OWN):
            return True
        if isinstance(one, ast.Subscript) and not _is_shape(one):
            return True
    return False


def _is_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
