"""Suspects among the names: what a definition is short of, two names for one array, a name never used."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from grader.checks.definitions import Definition, bindings, definitions
from grader.checks.launching import Launcher
from grader.checks.names import own_name
from grader.checks.places import base_name, is_index, parameters, parents_of, shared_arrays
from grader.checks.rewrite import Edit
from grader.checks.spots import Spot, spot
from grader.records import Span

__all__ = [
    "alias_suspects",
    "blank_suspects",
    "buffer_suspects",
    "counter_suspects",
    "extent_suspects",
    "flow_suspects",
    "lane_suspects",
]

EXTENTS = ("M", "N", "K")


def alias_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """Two names of one shared array, each made the name of an array of its own."""
    del launcher
    shared = shared_arrays(functions)
    for function in functions:
        defined = [one for one in definitions(function) if one.name in shared]
        declared = {one.name: ast.unparse(one.value) for one in defined if isinstance(one.value, ast.Call)}
        seen: set[str] = set()
        for one in defined:
            match one:
                case Definition(statement=ast.Assign(targets=[ast.Name(), ast.Name(), *_] as names) as whole):
                    left = ", ".join(ast.unparse(name) for name in names)
                    right = ", ".join([ast.unparse(whole.value)] * len(names))
                    yield spot("alias", whole, f"{left} = {right}")
                case Definition(value=ast.Name(id=other)) if other in declared:
                    yield spot("alias", one.value, declared[other])
                case Definition(value=ast.Subscript(slice=ast.Constant(value=int() as part)) as view):
                    if ast.unparse(view) in seen:
                        numbers = (part + 1, part - 1) if part else (part + 1,)
                        yield from (spot("alias", view, f"{ast.unparse(view.value)}[{at}]") for at in numbers)
                    seen.add(ast.unparse(view))


def counter_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """A loop that counts in a name that holds something else before it, and is read again: a new name."""
    del launcher
    for function in functions:
        named = {arg.arg for arg in function.args.args} | {one.name for one in definitions(function)}
        parents = parents_of(function)
        for loop in (node for node in ast.walk(function) if isinstance(node, ast.For)):
            name = ast.unparse(loop.target)
            around = _loop_around(loop, parents)
            again = isinstance(around, ast.For) and ast.unparse(around.target) == name
            if (again or name in named) and _reads(function, name) > _reads(loop, name):
                yield spot("rebinding", loop.target, f"{name}_", _counting_anew(loop, name))


def _reads(root: ast.AST, name: str) -> int:
    loads = (one for one in ast.walk(root) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    return sum(one.id == name for one in loads)


def _counting_anew(loop: ast.For, name: str) -> Callable[[Edit, Span], bool]:
    def apply(edit: Edit, _: Span) -> bool:
        twin = edit.twin(loop)
        if not isinstance(twin, ast.For):
            return False
        for part in (twin.target, *twin.body):
            for one in ast.walk(part):
                if isinstance(one, ast.Name) and one.id == name:
                    one.id = f"{name}_"
        return True

    return apply


def extent_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """Definitions with another of the product's extents, or one tile further on; an extent as it came."""
    kernel = functions[0]
    extents = [own_name(launcher, name) for name in EXTENTS if name in launcher.kernel.args]
    for node in ast.walk(kernel):
        match node:
            case ast.If(body=[ast.Assign(targets=[ast.Name(id=name)])], orelse=[]) if name in extents:
                yield spot("rebinding", node, "pass")
    for one in definitions(kernel):
        if one.name in extents and one.alone and isinstance(one.statement, ast.stmt):
            yield spot("rebinding", one.statement, "pass")
    for one in definitions(kernel):
        match one.value:
            case ast.BinOp(left=ast.Name(), op=ast.Add(), right=ast.Constant(value=1) as step) if _indexes(
                kernel, one.name
            ):
                yield from (spot("offset", step, name) for name in sorted(launcher.constants))
            case ast.BinOp(left=ast.Name(), op=ast.Add(), right=ast.Constant() | ast.Name() as step):
                # The second of a thread's own elements lies beside the first.
                if _indexes(kernel, one.name) and ast.unparse(step) in _fixed(launcher):
                    yield spot("offset", step, "1")
        if _divides(one.value):
            for part in ast.walk(one.value):
                if isinstance(part, ast.Name) and part.id in extents:
                    yield from (spot("offset", part, other) for other in extents if other != part.id)


def _fixed(launcher: Launcher) -> set[str]:
    """The constants by name, and by value."""
    return set(launcher.constants) | {str(value) for value in launcher.constants.values()}


def _divides(value: ast.expr) -> bool:
    return is_index(value) and any(isinstance(one, ast.FloorDiv) for one in ast.walk(value))


def _indexes(function: ast.FunctionDef, name: str) -> bool:
    """Whether the name stands in an index."""
    return any(
        isinstance(one, ast.Name) and one.id == name
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        for one in ast.walk(node.slice)
    )


def flow_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """What should change from round to round and does not: a buffer's number, a sum, the first prefetch."""
    kernel = functions[0]
    outputs = {own_name(launcher, name) for name in launcher.kernel.outputs}
    parents = parents_of(kernel)
    for loop in (node for node in ast.walk(kernel) if isinstance(node, ast.For)):
        yield from _flips(loop)
    added = {ast.unparse(node.target) for node in ast.walk(kernel) if isinstance(node, ast.AugAssign)}
    for one in bindings(kernel):
        inside = _loop_around(one.statement, parents) is not None
        if one.name not in added or inside or not one.alone or not isinstance(one.statement, ast.stmt):
            continue
        for loop in (node for node in ast.walk(kernel) if isinstance(node, ast.For)):
            stored = {base_name(two.target) for two in bindings(loop)}
            if stored & outputs and _loop_around(loop, parents) is None:
                yield spot("each-round", one.statement, ast.unparse(one.statement), _into(loop))
    for one in definitions(kernel):
        if isinstance(one.value, ast.Constant) and one.value.value == 0 and one.name in added:
            yield from (spot("start", one.value, name) for name in sorted(launcher.constants))


def _into(loop: ast.For) -> Callable[[Edit, Span], bool]:
    return lambda edit, span: edit.move_into(span, loop)


def _loop_around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST | None:
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.For | ast.While):
            return node
    return None


def _flips(loop: ast.For) -> Iterator[Spot]:
    """``nxt = 1 - cur`` where nothing in the loop changes ``cur``: made the other buffer in turn."""
    changed = {one.name for one in definitions(loop)} | {
        ast.unparse(node.target) for node in ast.walk(loop) if isinstance(node, ast.AugAssign)
    }
    counter = ast.unparse(loop.target)
    for one in definitions(loop):
        match one.value:
            case ast.BinOp(left=ast.Constant(value=1), op=ast.Sub() | ast.BitXor(), right=ast.Name(id=name)):
                if name not in changed and name != counter and isinstance(one.statement, ast.stmt):
                    code = f"{name}, {one.name} = {counter} % 2, ({counter} + 1) % 2"
                    yield spot("flip", one.statement, code)


def lane_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """An index that was worked out and is never used, used where a lane is named."""
    del launcher
    kernel = functions[0]
    read = {
        node.id for node in ast.walk(kernel) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    unused = [one.name for one in definitions(kernel) if one.name not in read and is_index(one.value)]
    for node in ast.walk(kernel) if unused else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="shfl_sync"), args=[_, _, lane, *_]):
                yield from (spot("lane", lane, f"{name} + {ast.unparse(lane)}") for name in unused)


def blank_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """An element loaded from a clamped place, zero where the index was beyond the last."""
    depth = own_name(launcher, "K") if "K" in launcher.kernel.args else None
    arrays = set(parameters(functions[0]))
    for node in (node for function in functions for node in ast.walk(function)):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        for call in ast.walk(node.slice) if base_name(node) in arrays else ():
            match call:
                case ast.Call(func=ast.Name(id="min"), args=[one, other]):
                    for index, last in ((one, other), (other, one)):
                        match last:
                            case ast.BinOp(left=ast.Name(id=size), op=ast.Sub(), right=ast.Constant(value=1)):
                                if size == depth:
                                    code = f"{ast.unparse(node)} if {ast.unparse(index)} < {size} else 0"
                                    yield spot("blank", node, code)


def buffer_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """``t % 3`` over two buffers: the remainder by as many as there are."""
    del launcher
    counts: dict[str, None] = {}
    for one in (one for function in functions for one in definitions(function)):
        match one.value:
            case ast.Call(func=ast.Attribute(attr="array"), args=[ast.Tuple(elts=[count, _, _]), *_]):
                counts[ast.unparse(count)] = None
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case ast.BinOp(op=ast.Mod(), right=ast.Constant() as number):
                yield from (spot("buffers", number, code) for code in counts if code != ast.unparse(number))
