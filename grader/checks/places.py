"""Places in a kernel's tree that findings point at: stores to an output, the loop over k, loads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from grader.checks.definitions import definitions
from grader.records import Span
from grader.simt import Program

__all__ = [
    "base_name",
    "device_functions",
    "enclosing_loops",
    "endless_loop",
    "function_node",
    "header_span",
    "innermost_loop",
    "is_index",
    "k_loop",
    "loads_of",
    "parameters",
    "parents_of",
    "reached_functions",
    "shared_arrays",
    "shared_declaration",
    "stores_to",
]

Loop = ast.For | ast.While


def function_node(program: Program, name: str) -> ast.FunctionDef | None:
    """The definition of the function that the name holds, under whatever name it was defined."""
    found = program.function(name, {})
    return found.node if found is not None else None


def parameters(function: ast.FunctionDef) -> tuple[str, ...]:
    """Names of the positional parameters, in order."""
    return tuple(arg.arg for arg in (*function.args.posonlyargs, *function.args.args))


def base_name(node: ast.expr) -> str | None:
    """The array that a subscript, also a chained one, indexes."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def stores_to(function: ast.FunctionDef, array: str) -> list[ast.expr]:
    """The subscripts that store to that array and the atomic operations on it, in the order of the text."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        match node:
            case ast.Subscript(ctx=ast.Store()) if base_name(node) == array:
                found.append(node)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="atomic")), args=[target, *_]):
                if base_name(target) == array:
                    found.append(node)
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def shared_declaration(function: ast.FunctionDef) -> ast.Call | None:
    """The first shared array that the kernel declares."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="shared"), attr="array")):
                return node
            case ast.Call(func=ast.Attribute(value=ast.Name(id="shared"), attr="array")):
                return node
    return None


def shared_arrays(functions: list[ast.FunctionDef]) -> frozenset[str]:
    """Names of the shared arrays and their parts; in a device function, of the parameters they come as."""
    defined = [one for function in functions for one in definitions(function)]
    names = {one.name for one in defined if "shared.array" in ast.unparse(one.value)}
    indexed = {
        base_name(node) for one in functions for node in ast.walk(one) if isinstance(node, ast.Subscript)
    }
    for one in defined:
        # A part of a shared array under a name of its own: it is indexed in turn, unlike an element.
        # Or the very array under another name.
        if base_name(one.value) in names and (one.name in indexed or isinstance(one.value, ast.Name)):
            names.add(one.name)
    others = {function.name: parameters(function) for function in functions[1:]}
    for node in ast.walk(functions[0]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in others:
            passed = zip(others[node.func.id], node.args, strict=False)
            names |= {own for own, arg in passed if isinstance(arg, ast.Name) and arg.id in names}
    return frozenset(names)


def device_functions(program: Program, kernel: ast.FunctionDef) -> list[ast.FunctionDef]:
    """The module's functions that the kernel calls."""
    called = {
        node.func.id
        for node in ast.walk(kernel)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return [one for one in program.tree.body if isinstance(one, ast.FunctionDef) and one.name in called]


def loads_of(function: ast.FunctionDef, array: str) -> list[ast.Subscript]:
    """The subscripts that load from that array, in the order of the text; chained ones count once."""
    inner = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Subscript)}
    return sorted(
        (
            node
            for node in ast.walk(function)
            if isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and id(node) not in inner
            and base_name(node) == array
        ),
        key=lambda node: (node.lineno, node.col_offset),
    )


def parents_of(root: ast.AST) -> dict[ast.AST, ast.AST]:
    """The parent of every node below ``root``."""
    return {child: parent for parent in ast.walk(root) for child in ast.iter_child_nodes(parent)}


def enclosing_loops(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[Loop]:
    """The loops around a node, innermost first."""
    while node in parents:
        node = parents[node]
        if isinstance(node, Loop):
            yield node


def k_loop(function: ast.FunctionDef, inputs: tuple[str, ...]) -> Loop | None:
    """The loop that walks the summed dimension: the outermost one around a load of an input."""
    parents = parents_of(function)
    for array in inputs:
        for load in (*loads_of(function, array), *_passed_on(function, array)):
            loops = list(enclosing_loops(load, parents))
            if loops:
                return loops[-1]
    return None


def _passed_on(function: ast.FunctionDef, array: str) -> list[ast.Call]:
    """The calls that an array is an argument of: a device function loads from it."""
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and any(isinstance(one, ast.Name) and one.id == array for one in node.args)
    ]


def innermost_loop(loop: Loop) -> Loop:
    """The last of the loops nested in this one that holds no other, or the loop itself."""
    inner = [node for node in ast.walk(loop) if isinstance(node, Loop)]
    return inner[-1]


def endless_loop(function: ast.FunctionDef) -> ast.While | None:
    """The first ``while`` loop that changes no name of its own test."""
    for node in ast.walk(function):
        if isinstance(node, ast.While):
            tested = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
            stored = {
                one.id
                for one in ast.walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            }
            leaves = any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(node))
            reads = any(isinstance(one, ast.Subscript) for one in ast.walk(node.test))
            if not tested & stored and not leaves and not reads:
                return node
    return None


def header_span(program: Program, loop: Loop) -> Span:
    """``for t in range(...)`` or ``while test``, without the colon."""
    last = loop.iter if isinstance(loop, ast.For) else loop.test
    start, end = program.span(loop), program.span(last)
    return Span(start.line, start.column, end.end_line, end.end_column)


@lru_cache(maxsize=16)
def reached_functions(tree: ast.Module, roots: tuple[str | None, ...]) -> frozenset[int]:
    """The module's functions of those names, those that hold one of them, and those that they call."""
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    inside = {id(one): list(ast.walk(one)) for one in functions}
    reached = {
        id(one)
        for one in functions
        if any(isinstance(node, ast.FunctionDef) and node.name in roots for node in inside[id(one)])
    }
    frontier = set(reached)
    while frontier:
        nodes = [node for one in frontier for node in inside[one]]
        called = {node.id for node in nodes if isinstance(node, ast.Name)}
        frontier = {id(one) for one in functions if one.name in called} - reached
        reached |= frontier
    return frozenset(reached)


def is_index(value: ast.expr) -> bool:
    """Whether it may be an index: names and arithmetic, with no load, no call, and no constant alone."""
    parts = ast.walk(value)
    return not isinstance(value, ast.Constant) and not any(
        isinstance(one, ast.Subscript | ast.Call | ast.Compare) for one in parts
    )
