"""Suspects about guards: the test itself, and indices that are tested and then not used."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from grader.checks.launching import Launcher
from grader.checks.places import base_name, is_index
from grader.checks.rewrite import Edit
from grader.checks.spots import Spot, spot
from grader.records import Span

__all__ = ["guard_suspects", "joint_guards", "tested_indices"]


def joint_guards(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """One test before the loads of two arrays: each load under the bounds of its own array instead."""
    del launcher
    arrays = {arg.arg for arg in functions[0].args.args}
    for function in functions:
        own = arrays | {arg.arg for arg in function.args.args}
        for node in ast.walk(function):
            if isinstance(node, ast.If) and len({base_name(one) for one in _loads(node.body, own)}) > 1:
                yield spot("guard", node.test, "", _each_by_itself(node, own))


def _loads(body: list[ast.stmt], arrays: set[str]) -> list[ast.Subscript]:
    """The loads of global arrays in the assignments that stand there themselves."""
    return [
        one
        for statement in body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
        for one in ast.walk(statement.value)
        if isinstance(one, ast.Subscript) and base_name(one) in arrays and not _is_part(one, statement)
    ]


def _is_part(access: ast.Subscript, statement: ast.stmt) -> bool:
    """Whether it is ``A[row]`` of ``A[row][k]``."""
    return any(isinstance(one, ast.Subscript) and one.value is access for one in ast.walk(statement))


def _each_by_itself(guard: ast.If, arrays: set[str]) -> Callable[[Edit, Span], bool]:
    return lambda edit, _: edit.guard_each(guard, _loads(guard.body, arrays))


def guard_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """The test of a guarded load or store, as the array itself would have it."""
    del launcher
    arrays = {arg.arg for arg in functions[0].args.args}
    for function in functions:
        own = arrays | {arg.arg for arg in function.args.args}
        for node in ast.walk(function):
            if isinstance(node, ast.If | ast.IfExp) and (access := _guarded(node, own)) is not None:
                yield spot("guard", node.test, "", _exactly(access))


def _exactly(access: ast.Subscript) -> Callable[[Edit, Span], bool]:
    return lambda edit, span: edit.guard_exactly(span, access)


def _guarded(node: ast.If | ast.IfExp, arrays: set[str]) -> ast.Subscript | None:
    """The access to a global array that the test stands before."""
    inside = node.body if isinstance(node.body, list) else [node.body]
    for statement in inside:
        for one in ast.walk(statement):
            if isinstance(one, ast.Subscript) and base_name(one) in arrays and _global(one, statement):
                return one
    return None


def _global(node: ast.Subscript, statement: ast.AST) -> bool:
    """In ``tile[ty, tx] = source[row, col]`` the second is meant, whatever its name."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        others = [one for one in ast.walk(statement.value) if isinstance(one, ast.Subscript)]
        return node in others if others else node is statement.targets[0]
    return True


def tested_indices(function: ast.FunctionDef) -> Iterator[Spot]:
    """Where a guard tests an index that the access behind it does not use, the access with that index."""
    parameters = {arg.arg for arg in function.args.args}
    for node in ast.walk(function):
        if not isinstance(node, ast.If | ast.IfExp):
            continue
        tests = [one for one in ast.walk(node.test) if isinstance(one, ast.Compare)]
        known = {ast.unparse(one.left) for one in tests if is_index(one.left)}
        inside = node.body if isinstance(node.body, list) else [node.body]
        for access in (one for part in inside for one in ast.walk(part)):
            match access:
                case ast.Subscript(slice=ast.Tuple(elts=indices)) if base_name(access) in parameters:
                    used = {ast.unparse(one) for one in indices}
                    doubtful = [one for one in indices if ast.unparse(one) not in known]
                    for code in sorted(known - used):
                        yield from (spot("index", one, code) for one in doubtful)
