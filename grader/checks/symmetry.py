"""The symmetry of a tiled product: A and B exchanged, x and y, rows and columns, it is the same kernel.

``As[ty, tx] = A[row, t * TILE + tx]`` is ``Bs[ty, tx] = B[t * TILE + ty, col]`` with its names exchanged for
their counterparts and the two indices reversed. Where two places of a kernel are no such mirror images
of each other, one of them is likely at fault, and the other says what should stand there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from grader.checks.definitions import Definition, definitions, parsed
from grader.checks.launching import Launcher
from grader.checks.names import own_name
from grader.checks.places import base_name, is_index, shared_arrays

__all__ = ["Symmetry", "axes_of", "exchanged", "symmetry_of"]


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Each name with its counterpart. ``tiles`` and ``operands`` have the left array and the right one."""

    names: Mapping[str, str]
    tiles: tuple[tuple[str, str], ...]
    operands: tuple[tuple[str, str], ...]

    def of(self, value: ast.expr) -> str:
        """The text of an expression with each name exchanged for its counterpart."""
        return exchanged(value, self.names)


def symmetry_of(launcher: Launcher, functions: list[ast.FunctionDef]) -> Symmetry:
    """What mirrors what in a kernel; no arrays where they do not come in pairs."""
    kernel = functions[0]
    inputs = [name for name, arg in launcher.kernel.args.items() if arg.role == "array" and not arg.out]
    operands = tuple(own_name(launcher, name) for name in inputs)
    extents = [own_name(launcher, name) for name in ("M", "N") if name in launcher.kernel.args]
    tiles = _tiles(functions, operands) if len(operands) == 2 else ()
    names = dict(axes_of(kernel))
    pair = ((operands[0], operands[1]),) if len(operands) == 2 else ()
    sizes = ((extents[0], extents[1]),) if len(extents) == 2 else ()
    for left, right in (*tiles, *pair, *sizes):
        names |= {left: right, right: left}
    return Symmetry(names, tiles, pair)


def _tiles(functions: list[ast.FunctionDef], operands: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The shared arrays that the left operand goes into, each with its counterpart of the right one."""
    shared = shared_arrays(functions)
    loaded: dict[str, set[str]] = {}
    fed: dict[str, set[str]] = {}
    stores: list[tuple[str, ast.expr]] = []
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            stores.append((base_name(target) or "", node.value))
    for name, value in sorted(stores, key=lambda one: one[1].lineno):
        through = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
        sources = (_arrays_in(value) & set(operands)).union(*(loaded.get(one, set()) for one in through))
        if sources:
            # A name may carry an element of one operand first and of the other later.
            loaded[name] = sources
        if name in shared:
            fed.setdefault(name, set()).update(sources)
    sides = [[name for name, sources in fed.items() if sources == {one}] for one in operands]
    if len(sides[0]) != len(sides[1]):
        return ()
    return tuple(zip(*sides, strict=True))


def _arrays_in(value: ast.expr) -> set[str]:
    return {base_name(one) or "" for one in ast.walk(value) if isinstance(one, ast.Subscript)}


def axes_of(kernel: ast.FunctionDef) -> dict[str, str]:
    """Names for a thread's x and y, each with its counterpart; so with counters of like loops."""
    found: dict[str, str] = {}
    defined = list(definitions(kernel))
    for one in defined:
        match one.value:
            case ast.Attribute(value=place, attr="x" | "y" as axis):
                found[f"{ast.unparse(place)}.{axis}"] = one.name
    pairs: dict[str, str] = {}
    for key, name in found.items():
        other = found.get(key[:-1] + ("y" if key.endswith("x") else "x"))
        if other is not None:
            pairs[name] = other
    pairs |= _twin_counters(kernel)
    return pairs | _mirrored_names(defined, pairs)


def _mirrored_names(defined: list[Definition], axes: Mapping[str, str]) -> dict[str, str]:
    """Two names defined by the same expression with x and y exchanged, say a slot's row and column."""
    found: dict[str, str] = {}
    indices = [one for one in defined if is_index(one.value)]
    named = {ast.unparse(one.value): one for one in indices}
    for one in named.values():
        other = named.get(exchanged(one.value, axes))
        if other is not None and other.name != one.name:
            found[one.name] = other.name
    return found


def _twin_counters(kernel: ast.FunctionDef) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for outer in (one for one in ast.walk(kernel) if isinstance(one, ast.For)):
        for inner in outer.body:
            if isinstance(inner, ast.For) and ast.dump(inner.iter) == ast.dump(outer.iter):
                a, b = ast.unparse(outer.target), ast.unparse(inner.target)
                pairs |= {a: b, b: a}
    return pairs


class _Exchange(ast.NodeTransformer):
    def __init__(self, axes: Mapping[str, str], only: str | None) -> None:
        self.axes, self.only = axes, only

    def visit_Name(self, node: ast.Name) -> ast.AST:
        named = self.only != "blockIdx"
        return ast.Name(self.axes.get(node.id, node.id) if named else node.id, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in ("x", "y") and (self.only is None or self.only in ast.unparse(node.value)):
            return ast.Attribute(node.value, "y" if node.attr == "x" else "x", node.ctx)
        return node


def exchanged(value: ast.expr, axes: Mapping[str, str], only: str | None = None) -> str:
    """The expression's text with x and y exchanged; with ``only``, in that one of the launch's dimensions."""
    copied = parsed(ast.unparse(value))
    return ast.unparse(_Exchange(axes, only).visit(copied)) if copied is not None else ast.unparse(value)
