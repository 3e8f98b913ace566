"""Checks of a submission's text before anything is launched: kernel, signature, constants, skeleton."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from grader.checks.places import function_node, parameters
from grader.records import Fact, Finding
from grader.rubric.model import KernelSpec
from grader.simt import NotConstant, Program

__all__ = ["constants_of", "kernel_findings", "placeholders", "same_code"]


def kernel_findings(program: Program, kernel: KernelSpec) -> tuple[Finding, ...]:
    """``missing-kernel`` or ``changed-signature``, or nothing.

    A parameter may be renamed; what counts is their number, and that none of the rubric's names
    stands at another's position, because a launch passes arguments by position.
    """
    function = program.function(kernel.name, {})
    node = function_node(program, kernel.name)
    if function is None or not function.jit or node is None:
        span = program.span(node) if node is not None else None
        facts: dict[str, Fact] = {"kernel": kernel.name, "candidates": program.functions}
        return (Finding("missing-kernel", "error", primary=span, facts=facts),)
    wanted, got = tuple(kernel.args), parameters(node)
    moved = any(name in wanted and wanted.index(name) != index for index, name in enumerate(got))
    starred = node.args.vararg or node.args.kwarg or node.args.kwonlyargs
    if len(got) == len(wanted) and not moved and not starred:
        return ()
    place = program.span(node.args.args[0]) if node.args.args else program.span(node)
    return (Finding("changed-signature", "error", primary=place, facts={"wanted": wanted, "got": got}),)


def constants_of(
    program: Program, allowed: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, int], tuple[Finding, ...]]:
    """The submission's constants, and ``bad-launch-config`` for one without an allowed value.

    Such a finding has the facts rule ("constant"), name, got (its text) and allowed. A value that
    the scalar interpreter cannot follow is an ``unsupported-construct``.
    """
    values: dict[str, int] = {}
    findings: list[Finding] = []
    for name, choices in allowed.items():
        try:
            value = program.constant(name)
        except NotConstant:
            value = None
        if isinstance(value, int) and not isinstance(value, bool) and value in choices:
            values[name] = value
            continue
        place = _assignment(program.tree, name)
        if value is None and place is not None:
            code = ast.unparse(place.value)
            facts: dict[str, Fact] = {"construct": code, "name": name}
            findings.append(Finding("unsupported-construct", "error", program.span(place.value), facts=facts))
            continue
        facts = {"rule": "constant", "name": name, "allowed": choices}
        if place is not None:
            facts["got"] = ast.unparse(place.value)
        span = program.span(place) if place is not None else None
        findings.append(Finding("bad-launch-config", "error", primary=span, facts=facts))
    return values, tuple(findings)


def _assignment(tree: ast.Module, name: str) -> ast.Assign | None:
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in node.targets
        ):
            found = node
    return found


def placeholders(program: Program, functions: Iterable[str]) -> tuple[Finding, ...]:
    """``not-started`` where one of these functions still holds a skeleton's placeholder.

    A placeholder is ``...`` as a statement or an assigned value, or ``raise NotImplementedError``.
    ``counts`` gives how many there are; the primary span is the first.
    """
    found = [
        node
        for name in functions
        if (function := function_node(program, name)) is not None
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and _is_placeholder(node)
    ]
    if not found:
        return ()
    first = min(found, key=lambda node: (node.lineno, node.col_offset))
    return (Finding("not-started", "note", primary=program.span(first), counts={"placeholders": len(found)}),)


def _is_placeholder(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=value)) | ast.Assign(value=ast.Constant(value=value)):
            return value is Ellipsis
        case ast.Return(value=ast.Constant(value=value)):
            return value is Ellipsis
        case ast.Raise(exc=ast.Name(id="NotImplementedError")):
            return True
        case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


def same_code(program: Program, other: Program, functions: Iterable[str]) -> bool:
    """Whether these functions are the same code in both, comments, layout and docstrings aside."""
    return all(_normal(program, name) == _normal(other, name) for name in functions)


def _normal(program: Program, name: str) -> str | None:
    node = function_node(program, name)
    if node is None:
        return None
    body = node.body
    if (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        body = body[1:]
    return "\n".join(ast.dump(statement) for statement in body)
