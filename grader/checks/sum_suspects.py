"""Suspects in the statement that adds a product: its operator, and which tiles are multiplied."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.checks.definitions import names_in, parsed, renamed, thread_names
from grader.checks.launching import Launcher
from grader.checks.places import base_name, shared_arrays
from grader.checks.spots import Spot, spot

__all__ = ["exchanged_factors", "sum_suspects"]

#: A kernel whose loop is unrolled adds in many statements, each of which is needed.
MOST_STATEMENTS = 4


def sum_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """The statement that adds a product: its operator, and what is multiplied."""
    del launcher
    for function in functions:
        shared = shared_arrays(functions)
        for node in ast.walk(function):
            if not isinstance(node, ast.AugAssign | ast.Assign):
                continue
            factors = _factors(node.value, shared)
            if len(factors) == 1:
                yield from _second_factors(functions, node, factors[0], shared)
            if len(factors) != 2:
                continue
            product = f"{ast.unparse(factors[0])} * {ast.unparse(factors[-1])}"
            code = f"{_target(node)} += {product}"
            if code != ast.unparse(node):
                yield spot("sum", node, code)
        yield from _again(function, shared)


def exchanged_factors(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """The two tiles of a product exchanged: each is read as the other is meant to be."""
    del launcher
    shared = shared_arrays(functions)
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.AugAssign | ast.Assign) and isinstance(node.value, ast.BinOp | ast.Call):
            names = [base_name(one) or "" for one in _factors(node.value, shared)]
            if len(names) == 2:
                first, second = names
                yield spot("sum", node.value, renamed(node.value, {first: second, second: first}))


def _second_factors(
    functions: list[ast.FunctionDef],
    node: ast.AugAssign | ast.Assign,
    first: ast.Subscript,
    shared: frozenset[str],
) -> Iterator[Spot]:
    """The product of one tile with itself, as that with each other tile, indexed by k and x or y."""
    own = ast.unparse(first)
    names = names_in(first.slice)
    others = [*names, *filter(None, thread_names(functions))]
    for array in sorted(shared - {base_name(first)}):
        for old in dict.fromkeys(names):
            for new in dict.fromkeys(others):
                swapped = own.replace(base_name(first) or "", array, 1)
                exchanged = renamed(swapped, {old: new, new: old}) if new in names else None
                for code in filter(None, (exchanged, renamed(swapped, {old: new}), swapped)):
                    for final in (code, _reversed(code)):
                        yield spot("sum", node, f"{_target(node)} += {own} * {final}")


def _target(node: ast.AugAssign | ast.Assign) -> str:
    return ast.unparse(node.target if isinstance(node, ast.AugAssign) else node.targets[0])


def _reversed(code: str) -> str:
    """The last two indices exchanged."""
    access = parsed(code)
    index = access.slice if isinstance(access, ast.Subscript) else None
    if isinstance(index, ast.Tuple):
        index.elts[-2:] = index.elts[-2:][::-1]
    return ast.unparse(access) if access is not None else code


def _factors(value: ast.expr, shared: frozenset[str]) -> list[ast.Subscript]:
    found = [one for one in ast.walk(value) if isinstance(one, ast.Subscript) and base_name(one) in shared]
    unique = {ast.unparse(one): one for one in found}
    ordered = sorted(unique.values(), key=lambda one: (one.lineno, one.col_offset))
    first = ordered[:1]
    return first + [one for one in ordered if base_name(one) != base_name(ordered[0])][:1]


def _again(function: ast.FunctionDef, shared: frozenset[str]) -> Iterator[Spot]:
    """What adds products once more: a loop that does the same each round, a second statement."""
    for node in ast.walk(function):
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range")) as rounds):
                names = {one.id for part in node.body for one in ast.walk(part) if isinstance(one, ast.Name)}
                if name not in names and any(_products(node, shared)):
                    yield spot("range", rounds, "range(1)")
    adding = sorted(_products(function, shared), key=lambda one: one.lineno)
    if 1 < len(adding) <= MOST_STATEMENTS:
        yield from (spot("again", one, "pass") for one in reversed(adding))


def _products(node: ast.AST, shared: frozenset[str]) -> Iterator[ast.AugAssign]:
    """The statements that add a product."""
    for one in ast.walk(node):
        if isinstance(one, ast.AugAssign) and len(_factors(one.value, shared)) > 1:
            yield one
