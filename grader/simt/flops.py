"""Floating-point operations of a statement, fused as the device's compiler fuses them.

A product that is added to (or subtracted from) something in the same statement and type becomes one
fused multiply-add; every other product and sum counts as its own instruction.
"""

from __future__ import annotations

import ast

from grader.simt.context import Context
from grader.simt.types import Array, Scalar


def operations(node: ast.stmt, context: Context) -> tuple[tuple[str, int], ...]:
    """Counts by instruction ("ffma", "fadd", "fmul" and their float64 twins) of one execution."""
    counts: dict[str, int] = {}
    _count_statement(node, context, counts)
    return tuple(sorted(counts.items()))


def _count_statement(node: ast.stmt, context: Context, counts: dict[str, int]) -> None:
    if isinstance(node, ast.AugAssign):
        _count(ast.BinOp(_target(node.target), node.op, node.value), context, counts)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) and node.value is not None:
        _walk(node.value, context, counts)


def _target(node: ast.expr) -> ast.expr:
    return node


def _walk(node: ast.AST, context: Context, counts: dict[str, int]) -> None:
    if isinstance(node, ast.BinOp):
        _count(node, context, counts)
        return
    for child in ast.iter_child_nodes(node):
        _walk(child, context, counts)


def _count(node: ast.BinOp, context: Context, counts: dict[str, int]) -> None:
    width = _width(node, context)
    if not width or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        for child in (node.left, node.right):
            _walk(child, context, counts)
        return
    if isinstance(node.op, ast.Mult):
        _bump(counts, f"{width}mul")
        for child in (node.left, node.right):
            _walk(child, context, counts)
        return
    product = next((part for part in (node.right, node.left) if _is_product(part, width, context)), None)
    _bump(counts, f"{width}fma" if product is not None else f"{width}add")
    for child in (node.left, node.right):
        if child is product:
            _walk(child.left, context, counts)  # type: ignore[attr-defined]
            _walk(child.right, context, counts)  # type: ignore[attr-defined]
        else:
            _walk(child, context, counts)


def _is_product(node: ast.expr, width: str, context: Context) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _width(node, context) == width


def _bump(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def _width(node: ast.expr, context: Context) -> str:
    """Give "f" for float32, "d" for float64, "" for what is no float."""
    match node:
        case ast.BinOp():
            sides = {_width(node.left, context), _width(node.right, context)}
            return "d" if "d" in sides else "f" if "f" in sides else ""
        case ast.Name():
            kind = context.kinds.get(node.id)
            return kind.code if isinstance(kind, Scalar) and kind.code in "fd" else ""
        case ast.Subscript():
            root: ast.expr = node
            while isinstance(root, ast.Subscript):
                root = root.value
            kind = context.kinds.get(root.id) if isinstance(root, ast.Name) else None
            return kind.code if isinstance(kind, Array) and kind.code in "fd" else ""
        case ast.Call():
            text = ast.unparse(node.func)
            return "f" if text.endswith("float32") else "d" if text.endswith("float64") else ""
        case ast.UnaryOp():
            return _width(node.operand, context)
        case ast.Constant():
            return "d" if isinstance(node.value, float) else ""
    return ""
