"""Suspects among the loops: how many rounds they run, how far they step, and what ends them early."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.checks.grid_stride import block_loops
from grader.checks.launching import Launcher
from grader.checks.names import own_name
from grader.checks.spots import Spot, spot

__all__ = ["range_suspects", "stride_suspects", "test_suspects"]


def range_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """The innermost loops over a tile, as long as the tile is wide, and the step of a loop over tiles."""
    width = _width(launcher, functions[0])
    if width is None:
        return
    depth = own_name(launcher, "K") if "K" in launcher.kernel.args else None
    # The rounds of an inner loop come first: where they are too few, more rounds outside may hide it.
    for function in functions:
        yield from _inner(function, (width, *_other_widths(functions, width)))
    for function in functions:
        for node in ast.walk(function):
            match node:
                case ast.For(iter=ast.Call(func=ast.Name(id="range")) as call) if _nested(node) and depth:
                    yield spot("range", call, f"range(0, {depth}, {width})")
                    yield spot("range", call, f"range(({depth} + {width} - 1) // {width})")
                case ast.While(test=ast.Compare(left=left) as test) if _nested(node) and depth:
                    counter = next((one.id for one in ast.walk(left) if isinstance(one, ast.Name)), None)
                    if counter is not None:
                        yield spot("range", test, f"{counter} < {depth}")
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()) if name != width:
                    if not isinstance(node.value, ast.Constant) and _plain(node.value):
                        yield spot("step", node, f"{name} += {width}")


def _inner(function: ast.FunctionDef, widths: tuple[str, ...]) -> Iterator[Spot]:
    """Each loop within a tile, as long as one of its sides."""
    for node in ast.walk(function):
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range")) as call) if not _nested(node):
                yield from _share(call)
                stride = _unrolled(node)
                if stride > 1:
                    yield from (spot("range", call, f"range(0, {one}, {stride})") for one in widths)
                yield from (spot("range", call, f"range({one})") for one in widths)
                yield from _bounds(call, widths[0])
            case ast.While(test=ast.Compare(left=left) as test) if not _nested(node):
                counter = next((one.id for one in ast.walk(left) if isinstance(one, ast.Name)), None)
                if counter is not None:
                    yield from (spot("range", test, f"{counter} < {one}") for one in widths)


def stride_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """A loop over blocks: its step the number of blocks or threads, its end either of the two it has."""
    del launcher
    for loop, axes in block_loops(functions[0]):
        match loop:
            case ast.For(iter=ast.Call(args=[_, stop, step])) if len(axes) == 1:
                (axis,) = axes
                prefix = "cuda." if "cuda." in ast.unparse(functions[0]) else ""
                blocks = f"{prefix}gridDim.{axis}"
                threads = f"{blocks} * {prefix}blockDim.{axis}"
                yield from (spot("step", step, code) for code in (blocks, threads))
                match stop:
                    case ast.Call(func=ast.Name(id="min"), args=args):
                        yield from (spot("range", stop, ast.unparse(one)) for one in args)


def _bounds(rounds: ast.Call, width: str) -> Iterator[Spot]:
    """A loop over what is left of K, within the tile: ``min(TILE, K - start)``, no ``max``, no number."""
    for part in (one for arg in rounds.args for one in ast.walk(arg)):
        match part:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()):
                yield spot("range", part, ast.unparse(left))
            case ast.Call(func=ast.Name(id="max") as chosen):
                yield spot("range", chosen, "min")
    match rounds.args:
        case [ast.BinOp(op=ast.Sub()) as rest]:
            yield spot("range", rounds, f"range(min({width}, {ast.unparse(rest)}))")


def _share(rounds: ast.Call) -> Iterator[Spot]:
    """``range(part * size, ...)`` to where the next part begins."""
    match rounds.args:
        case [ast.BinOp(left=ast.Name(id=part), op=ast.Mult(), right=size) as start, stop]:
            end = f"({part} + 1) * {ast.unparse(size)}"
            if ast.unparse(stop) != end:
                yield spot("range", rounds, f"range({ast.unparse(start)}, {end})")


def _unrolled(loop: ast.For) -> int:
    """How many values of its counter a round takes: 4 where ``k + 3`` is the furthest that it looks ahead."""
    furthest, counter = 0, ast.unparse(loop.target)
    for node in ast.walk(loop):
        match node:
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=int() as ahead)):
                furthest = max(furthest, ahead) if name == counter else furthest
    return furthest + 1


def _other_widths(functions: list[ast.FunctionDef], width: str) -> tuple[str, ...]:
    """What else is a side of a shared array, by name."""
    sides: dict[str, None] = {}
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="shared"), attr="array"),
                args=[ast.Tuple(elts=[*_, ast.expr() as first, ast.expr() as second]), *_],
            ):
                sides |= dict.fromkeys(one.id for one in (first, second) if isinstance(one, ast.Name))
    return tuple(side for side in sides if side != width)


def test_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """A limit by which a loop is left, or a round of it skipped, without what is added to it or taken off."""
    del launcher
    for node in (node for function in functions for node in ast.walk(function)):
        if not isinstance(node, ast.If) or not isinstance(node.body[-1], ast.Break | ast.Continue):
            continue
        for test in (one for one in ast.walk(node.test) if isinstance(one, ast.Compare)):
            match test.comparators:
                case [ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant()) as limit]:
                    yield spot("test", limit, ast.unparse(left))


def _nested(loop: ast.For | ast.While) -> bool:
    """Whether a loop holds another one that is more than a thread's few elements."""
    inner = [one for one in ast.walk(loop) if isinstance(one, ast.For | ast.While) and one is not loop]
    return any(isinstance(one, ast.Expr) for one in ast.walk(loop)) or any(_nested(one) for one in inner[1:])


def _plain(node: ast.expr) -> bool:
    return not any(isinstance(one, ast.Subscript | ast.Call) for one in ast.walk(node))


def _factories(launcher: Launcher, kernel: ast.FunctionDef) -> list[ast.FunctionDef]:
    """The functions that the kernel is defined in."""
    functions = [one for one in launcher.program.tree.body if isinstance(one, ast.FunctionDef)]
    return [one for one in functions if one is not kernel and kernel in ast.walk(one)]


def _width(launcher: Launcher, kernel: ast.FunctionDef) -> str | None:
    """The name of the tile's width, as the kernel writes it in a shared array's shape."""
    for node in ast.walk(kernel):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="shared"), attr="array"), args=[shape, *_]
            ):
                names = {one.id for one in ast.walk(shape) if isinstance(one, ast.Name)}
                known = sorted(names & set(launcher.constants))
                # A factory has its own name for the width; a flat array's length is another matter.
                outer = {arg.arg for one in _factories(launcher, kernel) for arg in one.args.args}
                if known or names & outer:
                    return known[0] if known else min(names & outer)
    return "TILE" if "TILE" in launcher.constants else None
