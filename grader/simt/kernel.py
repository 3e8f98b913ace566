"""A kernel compiled for given argument types."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.records import Fact, Finding
from grader.simt import expressions, statements
from grader.simt.context import Context, Kernel
from grader.simt.host import Function
from grader.simt.machine import Stop
from grader.simt.program import Program
from grader.simt.types import Kind

__all__ = ["Compiled", "body_of", "compile_kernel", "context_for", "expressions"]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel ready to run: its body, the slots of its parameters, and what the compiler noted."""

    kernel: Kernel
    body: Any
    slots: tuple[int, ...]
    size: int
    parameters: tuple[str, ...]
    kinds: tuple[Kind, ...]


def context_for(kernel: Kernel, function: Function, kinds: Mapping[str, Kind]) -> Context:
    """A fresh context for one function with the types of its parameters."""
    context = Context(kernel, function, _local_names(function.node))
    context.kinds = dict(kinds)
    return context


def body_of(context: Context) -> Any:
    """Compile the function's body."""
    return statements.suite(context, context.function.node.body)


def _local_names(node: ast.FunctionDef) -> frozenset[str]:
    """Names that the function assigns anywhere, which Python makes local to it."""
    names = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif isinstance(part, ast.FunctionDef) and part is not node:
            names.add(part.name)
    return frozenset(names)


def compile_kernel(
    program: Program, function: Function, kinds: tuple[Kind, ...], traced: bool = False
) -> Compiled:
    """Compile ``function``; :class:`Stop` carries the finding where numba would refuse it.

    ``traced`` adds an event for each statement, for observers that want them.
    """
    kernel = Kernel(program, traced)
    names = [arg.arg for arg in function.node.args.args]
    _check_signature(program, function, names, len(kinds))
    context = context_for(kernel, function, dict(zip(names, kinds, strict=True)))
    slots = tuple(context.slot(name, kind) for name, kind in zip(names, kinds, strict=True))
    try:
        body = body_of(context)
    except RecursionError:
        raise Stop(_unsupported(program, function, "nesting")) from None
    return Compiled(kernel, body, slots, len(context.slots), tuple(names), kinds)


def _unsupported(program: Program, function: Function, construct: str) -> Finding:
    place = program.span(function.node)
    return Finding("unsupported-construct", "error", place, facts={"construct": construct})


def _check_signature(program: Program, function: Function, names: list[str], count: int) -> None:
    spec = function.node.args
    if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs:
        raise Stop(_unsupported(program, function, "parameters"))
    if len(names) != count:
        name = function.node.name
        facts: dict[str, Fact] = {"rule": "argument-count", "name": name, "got": count, "wanted": len(names)}
        raise Stop(Finding("type-error", "error", program.span(function.node), facts=facts))
