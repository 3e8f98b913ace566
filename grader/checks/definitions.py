"""What a kernel's names stand for, however the definition is written.

``tx = cuda.threadIdx.x``, ``tx, ty = cuda.threadIdx.x, cuda.threadIdx.y``, ``tx: int = ...``,
``tx = int32(...)`` and ``(tx := ...)`` all define ``tx`` alike; a kernel may also use ``cuda.threadIdx.x``
as it is, which then is a name of its own here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Definition", "bindings", "definitions", "names_in", "parsed", "renamed", "thread_names", "uncast"]

_INTEGERS = re.compile(r"u?int(p|c|8|16|32|64|_)?$")
_DIMENSIONS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@dataclass(frozen=True, slots=True)
class Definition:
    """One target of an assignment and what it gets. ``value`` is the node within any cast to integers.

    ``statement`` is the assignment, or the walrus expression; ``alone`` says that it binds nothing else.
    """

    target: ast.expr
    value: ast.expr
    statement: ast.stmt | ast.NamedExpr
    alone: bool

    @property
    def name(self) -> str:
        """The target's text: a name, or an element of an array."""
        return ast.unparse(self.target)


def bindings(root: ast.AST) -> Iterator[Definition]:
    """Every target, names and elements of arrays, with the value that it gets, in the order of the tree."""
    for node in ast.walk(root):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    alone = len(targets) == 1 and not isinstance(target, ast.Tuple | ast.List)
                    yield from _paired(target, value, node, alone)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _paired(target, value, node, True)
            case ast.NamedExpr(target=target, value=value):
                yield from _paired(target, value, node, True)


def definitions(root: ast.AST) -> Iterator[Definition]:
    """Every name that is defined below ``root``, with its value; a loop's counter is none."""
    return (one for one in bindings(root) if isinstance(one.target, ast.Name))


def _paired(
    target: ast.expr, value: ast.expr, statement: ast.stmt | ast.NamedExpr, alone: bool
) -> Iterator[Definition]:
    match target, value:
        case ast.Tuple(elts=targets) | ast.List(elts=targets), ast.Tuple(elts=values) | ast.List(elts=values):
            starred = any(isinstance(one, ast.Starred) for one in (*targets, *values))
            if len(targets) == len(values) and not starred:
                for left, right in zip(targets, values, strict=True):
                    yield from _paired(left, right, statement, False)
        case ast.Name() | ast.Subscript(), _:
            yield Definition(target, uncast(value), statement, alone)


def uncast(value: ast.expr) -> ast.expr:
    """The node within ``int(...)``, ``np.int32(...)`` and the like."""
    match value:
        case ast.Call(func=ast.Name() | ast.Attribute() as made, args=[inner], keywords=[]):
            if _INTEGERS.match(ast.unparse(made).rpartition(".")[2]):
                return uncast(inner)
    return value


def thread_names(functions: list[ast.FunctionDef]) -> tuple[str, ...]:
    """What the kernel calls ``threadIdx.y`` and ``threadIdx.x``, in that order; "" for one that it lacks.

    Where no name is defined, that is the attribute itself, or the row and column that one index is cut into.
    """
    names: dict[str, str] = {}
    used: dict[str, str] = {}
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.Attribute) and (axis := _thread_axis(node)) is not None:
            used.setdefault(axis, ast.unparse(node))
    found = [one for function in functions for one in definitions(function)]
    for one in found:
        if (axis := _thread_axis(one.value)) is not None:
            names[axis] = one.name
    if "y" not in names and "y" not in used:
        names = _cut(found) or names
    return tuple(names.get(axis) or used.get(axis, "") for axis in "yx")


def _thread_axis(node: ast.expr) -> str | None:
    match node:
        case ast.Attribute(attr="x" | "y" as axis, value=place):
            return axis if ast.unparse(place).rpartition(".")[2] == "threadIdx" else None
    return None


def _cut(found: list[Definition]) -> dict[str, str]:
    """Names for ``i // width`` and ``i % width``, where both are defined."""
    parts: dict[tuple[str, str], dict[str, str]] = {}
    for one in found:
        match one.value:
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as op, right=right):
                axis = "y" if isinstance(op, ast.FloorDiv) else "x"
                parts.setdefault((ast.unparse(left), ast.unparse(right)), {})[axis] = one.name
    return next((pair for pair in parts.values() if len(pair) == 2), {})


def names_in(value: ast.AST) -> list[str]:
    """The names of an expression as they are written, ``cuda.threadIdx.x`` as one; no constants."""
    match value:
        case ast.Attribute() if _is_dimension(value):
            return [ast.unparse(value)]
        case ast.Name(id=name):
            return [] if name.isupper() else [name]
    return [name for child in ast.iter_child_nodes(value) for name in names_in(child)]


def _is_dimension(node: ast.Attribute) -> bool:
    return node.attr in "xyz" and ast.unparse(node.value).rpartition(".")[2] in _DIMENSIONS


def parsed(code: str) -> ast.expr | None:
    """The expression that the text is; None where it is none."""
    try:
        return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError):
        return None


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return parsed(self.names[node.id]) or node if node.id in self.names else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        text = ast.unparse(node)
        if text in self.names:
            return parsed(self.names[text]) or node
        return self.generic_visit(node)


def renamed(value: ast.expr | str, names: Mapping[str, str]) -> str:
    """The expression's text with names exchanged for others; names as ``names_in`` gives them."""
    copied = parsed(value if isinstance(value, str) else ast.unparse(value))
    return ast.unparse(_Renaming(names).visit(copied)) if copied is not None else ""
