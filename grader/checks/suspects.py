"""Single edits that may mend a wrong result whose cause no other finding gives, the likeliest first.

A suspect is one expression or statement and what could stand there instead: another index, another
bound, the other operator. What is tried comes from the kernel itself, from the pairs that a matrix
product has in it (x and y, rows and columns), and from what its arrays are; nothing is a random change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from grader.checks.guard_suspects import guard_suspects
from grader.checks.index_suspects import index_suspects, mirrored_suspects
from grader.checks.launching import Launcher
from grader.checks.places import base_name, device_functions, function_node, shared_arrays
from grader.checks.rewrite import Edit
from grader.checks.spots import Spot, spot
from grader.checks.sum_suspects import sum_suspects
from grader.checks.wrong_result import own_name
from grader.records import Span

__all__ = ["Suspect", "suspects"]


@dataclass(frozen=True, slots=True)
class Suspect:
    """An edit at a place. ``code`` is the text that would stand there; empty where a statement moves."""

    kind: str
    span: Span
    code: str
    apply: Callable[[Edit], bool]


def suspects(launcher: Launcher, name: str, *, misplaced: bool = False) -> Iterator[Suspect]:
    """The suspects of a finding's name, each of them once.

    ``misplaced`` says that every product is added once, but from a wrong row or column: only indices do that.
    """
    program = launcher.program
    kernel = function_node(program, launcher.kernel.name)
    if kernel is None:
        return
    functions = [kernel, *device_functions(program, kernel)]
    kinds = _KINDS.get(name, _KINDS["wrong-result"])
    if misplaced:
        kinds = (index_suspects, guard_suspects)
    seen: set[tuple[int, int, str]] = set()
    for kind in kinds:
        for one in kind(launcher, functions):
            mark = (one.old.lineno, one.old.col_offset, one.code)
            if mark not in seen:
                seen.add(mark)
                yield Suspect(one.kind, program.span(one.old), one.code, one.apply)


def _conversions(_: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """An array of another type than float32, and a value made whole on its way."""
    for function in functions:
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(attr="array"), args=args, keywords=keywords):
                    types = [*args[1:], *(one.value for one in keywords if one.arg == "dtype")]
                    yield from (spot("type", one, "float32") for one in types if _narrow(one))
                case ast.Call(func=ast.Name(id="int" | "round"), args=[value]):
                    yield spot("conversion", node, ast.unparse(value))
                case ast.Call(func=made, args=[value]) if _narrow(made):
                    yield spot("conversion", node, ast.unparse(value))


def _narrow(node: ast.expr) -> bool:
    name = ast.unparse(node).rpartition(".")[2]
    return name.startswith(("int", "uint", "float16", "bool"))


def _starts(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """What a sum or a counter starts from, and where."""
    del launcher
    for function in functions:
        added = {
            base_name(node.target) or ast.unparse(node.target)
            for node in ast.walk(function)
            if isinstance(node, ast.AugAssign)
        }
        for node in ast.walk(function):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            name = base_name(node.targets[0]) or ast.unparse(node.targets[0])
            if name not in added or name in {arg.arg for arg in function.args.args}:
                continue
            zero = _is_zero(node.value)
            if not zero and not any(
                isinstance(one, ast.Subscript | ast.BinOp) for one in ast.walk(node.value)
            ):
                yield spot("start", node.value, "0" if isinstance(node.value, ast.Constant) else "0.0")
            if zero and isinstance(node.targets[0], ast.Name):
                yield spot("once", node, "", lambda edit, span: edit.move_before_loops(span))


def _fills(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """What a slot of a tile gets where there is no element for it: zero."""
    del launcher
    shared = shared_arrays(functions)
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case ast.Assign(targets=[ast.Subscript() as slot], value=value) if base_name(slot) in shared:
                plain = not any(isinstance(one, ast.Subscript | ast.Name) for one in _arguments(value))
                if plain and not _is_zero(value):
                    yield spot("start", value, "0.0")


def _arguments(value: ast.expr) -> list[ast.AST]:
    """The nodes of a value, but for the name of a type that it is made with."""
    inner = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 else value
    return list(ast.walk(inner))


def _is_zero(node: ast.expr) -> bool:
    inner = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else node
    return isinstance(inner, ast.Constant) and inner.value == 0


def _outputs(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """A stored value that is made of one sum, stored as it is."""
    del launcher
    kernel = functions[0]
    parameters = {arg.arg for arg in kernel.args.args}
    for node in ast.walk(kernel):
        match node:
            case ast.Assign(targets=[ast.Subscript() as target], value=value) if (
                base_name(target) in parameters
            ):
                values = {
                    ast.unparse(one) for one in ast.walk(value) if isinstance(one, ast.Name | ast.Subscript)
                }
                sums = {one for one in values if "[" in one} or values
                if len(sums) == 1 and not isinstance(value, ast.Name | ast.Subscript):
                    yield spot("output", value, sums.pop())


def _ranges(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """The innermost loops over a tile, as long as the tile is wide, and the step of a loop over tiles."""
    width = _width(launcher, functions[0])
    if width is None:
        return
    depth = own_name(launcher, "K") if "K" in launcher.kernel.args else None
    for function in functions:
        for node in ast.walk(function):
            match node:
                case ast.For(iter=ast.Call(func=ast.Name(id="range")) as call) if not _nested(node):
                    yield spot("range", call, f"range({width})")
                case ast.For(iter=ast.Call(func=ast.Name(id="range")) as call) if depth is not None:
                    yield spot("range", call, f"range(0, {depth}, {width})")
                    yield spot("range", call, f"range(({depth} + {width} - 1) // {width})")
                case ast.While(test=ast.Compare(left=left) as test) if _nested(node) and depth:
                    counter = next((one.id for one in ast.walk(left) if isinstance(one, ast.Name)), None)
                    if counter is not None:
                        yield spot("range", test, f"{counter} < {depth}")
                case ast.While(test=ast.Compare(left=left) as test) if not _nested(node):
                    counter = next((one.id for one in ast.walk(left) if isinstance(one, ast.Name)), None)
                    if counter is not None:
                        yield spot("range", test, f"{counter} < {width}")
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()) if name != width:
                    if not isinstance(node.value, ast.Constant) and _plain(node.value):
                        yield spot("step", node, f"{name} += {width}")


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


_Kind = Callable[[Launcher, list[ast.FunctionDef]], Iterator[Spot]]

#: Which edits may mend what, the likeliest first.
_KINDS: Mapping[str, tuple[_Kind, ...]] = {
    "precision-loss": (_conversions, sum_suspects),
    "unwritten-output": (mirrored_suspects, guard_suspects, index_suspects),
    "dropped-k-tail": (_ranges, guard_suspects, _starts, index_suspects, sum_suspects),
    "repeated-k-tail": (sum_suspects, _fills, _outputs, _ranges, _starts, index_suspects),
    "wrong-result": (
        sum_suspects,
        _starts,
        _fills,
        _outputs,
        guard_suspects,
        _ranges,
        index_suspects,
        _conversions,
    ),
}
