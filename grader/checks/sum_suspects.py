"""Suspects in the statement that adds a product: its operator, and which tiles are multiplied."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise

from grader.checks.launching import Launcher
from grader.checks.places import base_name, shared_arrays, thread_names
from grader.checks.spots import Spot, spot

__all__ = ["sum_suspects"]


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
        yield from _doubled(function, shared)


def _second_factors(
    functions: list[ast.FunctionDef],
    node: ast.AugAssign | ast.Assign,
    first: ast.Subscript,
    shared: frozenset[str],
) -> Iterator[Spot]:
    """The product of one tile with itself, as that with each other tile, indexed by k and x or y."""
    own = ast.unparse(first)
    names = [one.id for one in ast.walk(first.slice) if isinstance(one, ast.Name) and not one.id.isupper()]
    others = [*names, *thread_names(functions)]
    for array in sorted(shared - {base_name(first)}):
        for old in dict.fromkeys(names):
            for new in dict.fromkeys(others):
                swapped = own.replace(base_name(first) or "", array, 1)
                exchanged = _renamed(swapped, {old: new, new: old}) if new in names else None
                for code in filter(None, (exchanged, _renamed(swapped, {old: new}), swapped)):
                    for final in (code, _reversed(code)):
                        yield spot("sum", node, f"{_target(node)} += {own} * {final}")


def _target(node: ast.AugAssign | ast.Assign) -> str:
    return ast.unparse(node.target if isinstance(node, ast.AugAssign) else node.targets[0])


def _renamed(code: str, names: Mapping[str, str]) -> str:
    tree = ast.parse(code, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


def _reversed(code: str) -> str:
    """The last two indices exchanged."""
    tree = ast.parse(code, mode="eval")
    index = tree.body.slice if isinstance(tree.body, ast.Subscript) else None
    if isinstance(index, ast.Tuple):
        index.elts[-2:] = index.elts[-2:][::-1]
    return ast.unparse(tree)


def _factors(value: ast.expr, shared: frozenset[str]) -> list[ast.Subscript]:
    found = [one for one in ast.walk(value) if isinstance(one, ast.Subscript) and base_name(one) in shared]
    unique = {ast.unparse(one): one for one in found}
    ordered = sorted(unique.values(), key=lambda one: (one.lineno, one.col_offset))
    first = ordered[:1]
    return first + [one for one in ordered if base_name(one) != base_name(ordered[0])][:1]


def _doubled(function: ast.FunctionDef, shared: frozenset[str]) -> Iterator[Spot]:
    """A product that two statements in a row add."""
    for node in ast.walk(function):
        body = getattr(node, "body", None)
        for first, second in pairwise(body) if isinstance(body, list) else ():
            again = isinstance(second, ast.AugAssign) and ast.dump(first) == ast.dump(second)
            if again and _factors(second.value, shared):
                yield spot("sum", second, "pass")
