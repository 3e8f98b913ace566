"""Checks of a submission's text before anything is launched: kernel, signature, constants, skeleton."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from grader.checks.launch_config import unknown_name
from grader.checks.places import function_node, parameters
from grader.records import Fact, Finding
from grader.rubric.model import KernelSpec
from grader.simt import NotConstant, Program
from grader.simt.host import Function

__all__ = ["constants_of", "kernel_findings", "placeholders", "same_code"]


def kernel_findings(program: Program, kernel: KernelSpec) -> tuple[Finding, ...]:
    """``missing-kernel`` or ``changed-signature``, or nothing.

    A parameter may be renamed; what counts is their number, and that none of the rubric's names
    stands at another's position, because a launch passes arguments by position.
    """
    function = program.function(kernel.name, {})
    if function is None:
        return (unknown_name(program, kernel.name) or _missing(program, kernel.name),)
    node = function.node
    if not function.jit or function.device:
        return (_missing(program, kernel.name, function),)
    wanted, got = tuple(kernel.args), parameters(node)
    moved = any(name in wanted and wanted.index(name) != index for index, name in enumerate(got))
    starred = node.args.vararg or node.args.kwarg or node.args.kwonlyargs
    if len(got) == len(wanted) and not moved and not starred:
        return ()
    place = program.span(node.args.args[0]) if node.args.args else program.span(node)
    return (Finding("changed-signature", "error", primary=place, facts={"wanted": wanted, "got": got}),)


def _missing(program: Program, name: str, function: Function | None = None) -> Finding:
    """``missing-kernel``: the statement that took the name away, or a function that cannot be launched."""
    facts: dict[str, Fact] = {"kernel": name, "candidates": program.functions}
    place: ast.AST | None = function.node if function is not None else program.binding(name)
    if function is None and place is not None:
        facts["rebound"] = program.excerpt(place)
    elif function is not None and function.jit:
        facts["decorator"] = _decorator(function)
    elif function is not None and (unbound := _unbound_decorator(program, function)) is not None:
        place, facts["unbound"] = unbound, ast.unparse(unbound)
    span = program.span(place) if place is not None else None
    return Finding("missing-kernel", "error", primary=span, facts=facts)


def _unbound_decorator(program: Program, function: Function) -> ast.expr | None:
    """A jit decorator that is written above the function, of a name that the file never gets."""
    for one in function.node.decorator_list:
        names = [part.id for part in ast.walk(one) if isinstance(part, ast.Name)]
        if "jit" in ast.unparse(one) and any(program.binding(name) is None for name in names):
            return one
    return None


def _decorator(function: Function) -> str:
    """The jit decorator of a function that cannot be launched, as the text has it where it does."""
    written = [ast.unparse(one) for one in function.node.decorator_list]
    default = "cuda.jit(device=True)" if function.jit == "numba.cuda.jit" else function.jit
    return "@" + next((text for text in written if "jit" in text), default)[:80]


def constants_of(
    program: Program, allowed: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, int], tuple[Finding, ...]]:
    """The submission's constants, and ``bad-launch-config`` for one without an allowed value.

    Such a finding has the facts rule ("constant"), name, got (its text) and allowed, and where the file
    has no such name, near: the constants that hold an allowed value. A value that the scalar interpreter
    cannot follow is an ``unsupported-construct``.
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
        findings.append(_bad_constant(program, name, value, choices))
    return values, tuple(findings)


def _bad_constant(program: Program, name: str, value: object, choices: tuple[int, ...]) -> Finding:
    unknown = unknown_name(program, name)
    if unknown is not None:
        return unknown
    facts: dict[str, Fact] = {"rule": "constant", "name": name, "allowed": choices}
    place = program.binding(name)
    if place is not None and name in program.scope:
        written = place.value if isinstance(place, ast.Assign | ast.AnnAssign) else None
        shown = repr(value) if isinstance(place, ast.AugAssign) else ast.unparse(written or place)
        facts["got"] = shown.splitlines()[0][:80]
    else:
        held = program.scope.items()
        facts["near"] = tuple(other for other, it in held if type(it) is int and it in choices)
    span = program.span(place) if place is not None else None
    return Finding("bad-launch-config", "error", primary=span, facts=facts)


def placeholders(program: Program, functions: Iterable[str]) -> tuple[Finding, ...]:
    """``not-started`` where one of these functions cannot do its work for a skeleton's placeholder.

    That is a name that is assigned ``...``, a returned ``...``, or ``raise NotImplementedError`` that
    every call reaches. A statement ``...`` does nothing, so alone it says nothing; beside one of these
    it counts. ``counts`` gives how many there are; the primary span is the first.
    """
    nodes = [node for name in functions if (node := function_node(program, name)) is not None]
    inside = [one for node in nodes for one in ast.walk(node) if isinstance(one, ast.stmt)]
    raised = [one for node in nodes for one in node.body if _gives_up(one)]
    unfinished = [*raised, *(one for one in inside if _is_ellipsis(one, _UNFINISHED))]
    if not unfinished:
        return ()
    found = [*unfinished, *(one for one in inside if _is_ellipsis(one, (ast.Expr,)))]
    first = min(found, key=lambda node: (node.lineno, node.col_offset))
    return (Finding("not-started", "note", primary=program.span(first), counts={"placeholders": len(found)}),)


_UNFINISHED = (ast.Assign, ast.AnnAssign, ast.Return)


def _is_ellipsis(node: ast.stmt, kinds: tuple[type[ast.stmt], ...]) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, kinds) and isinstance(value, ast.Constant) and value.value is Ellipsis


def _gives_up(node: ast.stmt) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


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
