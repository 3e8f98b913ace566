"""Suspects among the indices: where a thread's row, column and share of a tile come from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from grader.checks.definitions import definitions, names_in
from grader.checks.guard_suspects import tested_indices
from grader.checks.launch_repairs import grid_orders
from grader.checks.launching import Launcher
from grader.checks.places import base_name, enclosing_loops, is_index, parents_of
from grader.checks.spots import Spot, spot
from grader.checks.symmetry import axes_of, exchanged

__all__ = ["index_suspects", "mirrored_suspects", "uneven_suspects"]

MOST_NAMES = 8


def index_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """Pairs that should mirror each other first, then single indices."""
    del launcher
    yield from grid_orders(functions)
    for function in functions:
        yield from tested_indices(function)
    for function in functions:
        yield from _others(function, doubtful=True)
    yield from _mirrored(functions[0])
    for function in functions:
        yield from _stripped(function)
    for function in functions:
        yield from _flat(function)
    for function in functions:
        yield from _others(function, doubtful=False)


def uneven_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """An index that lacks what the array's other accesses have: the length of a row, the loop's counter."""
    del launcher
    for function in functions:
        parents = parents_of(function)
        accesses = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Tuple)
        ]
        for node in accesses:
            others = [one.slice for one in accesses if base_name(one) == base_name(node) and one is not node]
            match node.slice:
                case ast.BinOp(left=ast.Name() as first, op=ast.Add(), right=ast.Name() as second):
                    for pitch in dict.fromkeys(filter(None, map(_pitch, others))):
                        yield spot("index", node.slice, f"{first.id} * {pitch} + {second.id}")
                        yield spot("index", node.slice, f"{second.id} * {pitch} + {first.id}")
                case ast.Constant():
                    counters = [
                        one.target for one in enclosing_loops(node, parents) if isinstance(one, ast.For)
                    ]
                    used = {ast.unparse(one) for one in others}
                    codes = [ast.unparse(one) for one in counters if ast.unparse(one) in used]
                    yield from (spot("index", node.slice, code) for code in codes)


def _pitch(index: ast.expr) -> str:
    """The length of a row in ``row * length + column``, or nothing."""
    match index:
        case ast.BinOp(left=ast.BinOp(op=ast.Mult(), right=width), op=ast.Add()):
            return ast.unparse(width)
    return ""


def mirrored_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """Only the pairs that should mirror each other: where a thread's row and column come from."""
    del launcher
    yield from grid_orders(functions)
    yield from _mirrored(functions[0])


def _mirrored(kernel: ast.FunctionDef) -> Iterator[Spot]:
    """Of two index definitions next to each other, each as the other with x and y exchanged."""
    axes = axes_of(kernel)
    assigned = [one.value for one in definitions(kernel) if is_index(one.value)]
    near = [(a, b) for a, b in combinations(assigned, 2) if abs(a.lineno - b.lineno) <= 1]
    for first, second in near:
        for old, other in ((first, second), (second, first)):
            code = exchanged(other, axes)
            if code != ast.unparse(old):
                yield spot("mirrored", old, code)
    for first, second in near:
        for only in ("threadIdx", "blockIdx"):
            codes = [exchanged(one, axes, only) for one in (first, second)]
            if all(code != ast.unparse(one) for code, one in zip(codes, (first, second), strict=True)):
                yield _both(first, second, codes)
    for first, _ in near:
        for value in _grid_forms(first):
            yield spot("offset", first, value)


def _both(first: ast.expr, second: ast.expr, codes: list[str]) -> Spot:
    parts = [spot("axes", one, code) for one, code in zip((first, second), codes, strict=True)]
    return Spot("axes", first, codes[0], lambda edit: all(part.apply(edit) for part in parts))


def _grid_forms(value: ast.expr) -> Iterator[str]:
    """``blockIdx.y * TILE`` where the block's part of a row is written in another way."""
    text = ast.unparse(value)
    for axis in "xy":
        if f"blockIdx.{axis}" in text and "blockDim" not in text and isinstance(value, ast.BinOp):
            last = ast.unparse(value.right)
            prefix = "cuda." if f"cuda.blockIdx.{axis}" in text else ""
            block = f"{prefix}blockIdx.{axis} * {prefix}blockDim.{axis}"
            yield f"{block} + {last}" if isinstance(value.op, ast.Add) else block


def _indices(function: ast.FunctionDef) -> Iterator[tuple[ast.Subscript, ast.expr, ast.expr]]:
    """Each index of the two that a tile or matrix has, and the other one; a thread's own array has none."""
    local = {one.name for one in definitions(function) if "local.array" in ast.unparse(one.value)}
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Tuple)
            and base_name(node) not in {None, *local}
        ):
            pair = node.slice.elts[-2:]
            if len(pair) == 2:
                yield node, pair[0], pair[1]
                yield node, pair[1], pair[0]


def _stripped(function: ast.FunctionDef) -> Iterator[Spot]:
    """An index without what is added to it or taken from it, and a definition without its shift."""
    for _, index, _ in _indices(function):
        match index:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()):
                yield spot("index", index, ast.unparse(left))
    for one in definitions(function):
        match one.value:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub()) as value:
                if is_index(value) and isinstance(left, ast.BinOp):
                    yield spot("offset", value, ast.unparse(left))


def _flat(function: ast.FunctionDef) -> Iterator[Spot]:
    """``a * T + b`` with a and b exchanged, and without a part, where storage is flat."""
    names = _names(function)
    for node in ast.walk(function):
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Tuple):
            continue
        match node.slice:
            case ast.BinOp(left=ast.BinOp(left=a, op=ast.Mult(), right=width), op=ast.Add(), right=b):
                high, low, pitch = ast.unparse(a), ast.unparse(b), _outer_name(width)
                yield spot("index", node.slice, f"{low} * {ast.unparse(width)} + {high}")
                if pitch is not None:
                    yield spot("index", node.slice, f"{high} * {pitch} + {low}")
            case ast.BinOp(left=a, op=ast.Mult(), right=width):
                for name in names:
                    yield spot("index", node.slice, f"{ast.unparse(a)} * {ast.unparse(width)} + {name}")


def _outer_name(width: ast.expr) -> str | None:
    """``TILE`` of ``TILE + 1``; TILE too where another constant stands for it."""
    names = [one.id for one in ast.walk(width) if isinstance(one, ast.Name)]
    return names[0] if names and not isinstance(width, ast.Name) else "TILE"


def _names(function: ast.FunctionDef) -> list[str]:
    """The names that stand alone as an index somewhere, the most frequent first."""
    counts: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript):
            for name in names_in(node.slice):
                counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:MOST_NAMES]


def _others(function: ast.FunctionDef, *, doubtful: bool) -> Iterator[Spot]:
    """Another index that the kernel uses. Doubtful is an index that is a constant or stands twice."""
    whole = _whole_indices(function)
    for _, index, other in _indices(function):
        odd = isinstance(index, ast.Constant) or ast.unparse(index) == ast.unparse(other)
        for code in whole if odd is doubtful else ():
            if code != ast.unparse(index):
                yield spot("index", index, code)


def _whole_indices(function: ast.FunctionDef) -> list[str]:
    """What stands as an index, as it is written, the most frequent first."""
    counts: dict[str, int] = {}
    for _, index, _ in _indices(function):
        if not isinstance(index, ast.Constant):
            counts[ast.unparse(index)] = counts.get(ast.unparse(index), 0) + 1
    for node in ast.walk(function):
        # An index that is tested is meant to be used.
        if isinstance(node, ast.Compare) and is_index(node.left):
            counts.setdefault(ast.unparse(node.left), 0)
    arrays = {base_name(node) for node in ast.walk(function) if isinstance(node, ast.Subscript)}
    for arg in function.args.args:
        if arg.arg not in arrays and not arg.arg.isupper():
            counts.setdefault(arg.arg, 0)
    return sorted(counts, key=lambda code: (-counts[code], code))[:MOST_NAMES]
