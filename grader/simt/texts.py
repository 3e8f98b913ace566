"""Text in a kernel: numba-cuda (0.30) knows constant text, prints it, and makes none of a value."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from grader.simt import expressions
from grader.simt.context import Context, Typed
from grader.simt.types import NONE, Array, Kind, Scalar, Space, Text, Tuple

_MAKING = ("str", "repr")
#: What has a type in a kernel that ``print`` takes, beside numbers.
_PRINTED_PATHS = frozenset(f"numba.cuda.{name}" for name in ("threadIdx", "blockIdx", "blockDim", "gridDim"))


def printing(context: Context, node: ast.Call) -> Typed:
    """``print`` of constant text, numbers and tuples of numbers; nothing is shown."""
    for word in node.keywords:
        context.fail(node, "print-argument", name="print", got=f"{word.arg or '**'}=")
    for item in node.args:
        kind = expressions.expression(context, item).kind
        if not isinstance(kind, Text) and not _printable(kind):
            got = "complex" if isinstance(kind, Scalar) else kind.name
            context.fail(item, "print-argument", name=ast.unparse(item), got=got)
    return Typed(NONE, lambda fr, m: None)


def _printable(kind: Kind) -> bool:
    if isinstance(kind, Tuple):
        return all(_printable(item) for item in kind.items)
    return (isinstance(kind, Scalar) and not kind.is_complex) or (
        isinstance(kind, Space) and kind.path in _PRINTED_PATHS
    )


def joined(context: Context, node: ast.JoinedStr) -> Typed:
    """An f-string, which is constant text where it holds no value."""
    text = [part.value for part in node.values if isinstance(part, ast.Constant)]
    if len(text) < len(node.values):
        context.fail(node, "text-of-value", name=ast.unparse(node), wanted=", ".join(_parts(node)))
    whole = "".join(str(part) for part in text)
    return Typed(Text(whole), lambda fr, m: whole)


def _parts(node: ast.JoinedStr) -> list[str]:
    """What an f-string joins, as arguments of ``print``, which puts a space between them itself."""
    parts = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            parts.append(ast.unparse(part.value))
        elif isinstance(part, ast.Constant) and str(part.value).strip():
            parts.append(ast.unparse(ast.Constant(str(part.value).strip())))
    return parts


def from_value(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``str(x)`` and ``repr(x)``."""
    if len(node.args) == 1 and isinstance(arguments[0].kind, Scalar | Text | Array | Tuple):
        context.fail(node, "text-of-value", name=ast.unparse(node), wanted=ast.unparse(node.args[0]))
    return context.unsupported(node, ast.unparse(node.func))


def folded(node: ast.BinOp) -> str | None:
    """Text that Python's own compiler makes of literals: ``"-" * 20``, ``"a" + "b"``; None for others."""
    sides = [_literal(side) for side in (node.left, node.right)]
    match node.op, sides:
        case ast.Add(), [str() as left, str() as right]:
            return left + right
        case ast.Mult(), [str() as text, int() as times] | [int() as times, str() as text]:
            return text * times if len(text) * times <= 4096 else None
    return None


def _literal(node: ast.expr) -> str | int | None:
    if isinstance(node, ast.BinOp):
        return folded(node)
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def message(context: Context, parts: Sequence[ast.expr]) -> None:
    """Stop where what an exception says is, or is made of, a value that only the running kernel has."""
    for whole in parts:
        for part in ast.walk(whole):
            made = isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _MAKING
            if isinstance(part, ast.expr) and (made or isinstance(part, ast.JoinedStr)):
                expressions.expression(context, part)
        if any(_is_of_the_run(context, part) for part in ast.walk(whole)):
            context.fail(whole, "exception-value", name=ast.unparse(whole))


def _is_of_the_run(context: Context, node: ast.AST) -> bool:
    kind = context.kinds.get(node.id) if isinstance(node, ast.Name) else None
    known = kind is None or isinstance(kind, Text) or (isinstance(kind, Scalar) and kind.literal is not None)
    return isinstance(node, ast.Subscript) or not known
