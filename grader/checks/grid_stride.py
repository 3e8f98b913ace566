"""Loops over blocks: a kernel that goes on from its own block to further ones, so that any grid would do."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from grader.checks.definitions import definitions

__all__ = ["block_loops", "walks_along"]

_AXES = "xyz"


def walks_along(function: ast.FunctionDef, axis: str) -> bool:
    """Whether the kernel has a loop that begins at a block's number along that axis and goes on from it."""
    return any(axis in axes for _, axes in block_loops(function))


def block_loops(function: ast.FunctionDef) -> Iterator[tuple[ast.For | ast.While, frozenset[str]]]:
    """Each loop over blocks: it begins at the block's number, or the thread's in the grid; with its axes."""
    known = _known(function)
    for node in ast.walk(function):
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[start, stop, _])):
                begin, ends = start, [stop]
            case ast.While(test=ast.Compare(left=begin, comparators=ends)) if _advances(node, begin):
                pass
            case _:
                continue
        # A loop that ends with the block's own share does not go on to another.
        if (axes := _axes(begin, known)) and not any(_axes(end, known) for end in ends):
            yield node, axes


def _advances(loop: ast.While, counter: ast.expr) -> bool:
    names = {one.id for one in ast.walk(counter) if isinstance(one, ast.Name)}
    changed = {ast.unparse(one.target) for one in ast.walk(loop) if isinstance(one, ast.AugAssign)}
    changed |= {one.name for one in definitions(loop)}
    return bool(names & changed)


def _known(function: ast.FunctionDef) -> dict[str, frozenset[str]]:
    """The names that hang on a block's number, with its axes."""
    known: dict[str, frozenset[str]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Call() as call) if _is_grid(call):
                known |= {
                    ast.unparse(one): frozenset(axis) for one, axis in zip(targets, _AXES, strict=False)
                }
    for one in sorted(definitions(function), key=lambda one: one.value.lineno):
        axes = _axes(one.value, known)
        if axes:
            known.setdefault(one.name, axes)
    return known


def _axes(value: ast.expr, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    axes: set[str] = set()
    for node in ast.walk(value):
        match node:
            case ast.Attribute(attr="x" | "y" | "z" as axis, value=place):
                if ast.unparse(place).rpartition(".")[2] == "blockIdx":
                    axes.add(axis)
            case ast.Name(id=name):
                axes |= known.get(name, frozenset())
            case ast.Call() if _is_grid(node):
                axes.add("x")
    return frozenset(axes)


def _is_grid(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] == "grid"
