"""Statements: AST nodes to closures that run under a mask and tell which threads go on."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from grader.simt import assignments, branches, expressions, loops
from grader.simt.closures import inner_function
from grader.simt.context import Context, Frame
from grader.simt.mask import Active
from grader.simt.steps import Body, Step, counted, sequence

#: Statements that a kernel may come to, device functions counted at each of their calls.
MAX_STATEMENTS = 10_000


def suite(context: Context, nodes: list[ast.stmt]) -> Body:
    """Compile statements that follow each other."""
    return sequence([step for node in nodes for step in statement(context, node)])


def statement(context: Context, node: ast.stmt) -> list[Step]:
    """Compile one statement."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        if isinstance(node, _REFUSED):
            context.fail(node, "unsupported-python", name=type(node).__name__.lower())
        context.unsupported(node)
    context.kernel.statements += 1
    if context.kernel.statements > MAX_STATEMENTS:
        context.unsupported(node, "kernel-size")
    steps: list[Step] = handler(context, node)
    return _shown(context, node, steps) if context.kernel.traced else steps


def _shown(context: Context, node: ast.stmt, steps: list[Step]) -> list[Step]:
    """The statement's steps with an event for the observers: before a branch or loop, after the rest."""
    span = context.program.span(node)
    if any(step.control for step in steps):
        return [Step(lambda fr, m: fr.mc.show_statement(span, m, ())), *steps]
    names = [
        part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]
    slots = [(name, context.slot(name, context.kinds[name])) for name in names if name in context.kinds]

    def show(fr: Frame, m: Active) -> None:
        fr.mc.show_statement(span, m, tuple((name, fr.values[slot]) for name, slot in slots))

    return [*steps, Step(show)] if steps else steps


def _expression(context: Context, node: ast.Expr) -> list[Step]:
    if isinstance(node.value, ast.Constant):
        return []
    return [counted(context, node, expressions.expression(context, node.value).run)]


def _nothing(context: Context, node: ast.stmt) -> list[Step]:
    return []


def _function(context: Context, node: ast.FunctionDef) -> list[Step]:
    if node not in context.made:
        context.made[node] = inner_function(context, node)
    assignments.bind(context, ast.Name(node.name, ast.Store()), context.made[node], ast.Name(node.name))
    return []


# What numba's own front end turns away wherever it stands.
_REFUSED = (
    *(ast.Delete, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal),
    *(ast.With, ast.Try, ast.TryStar, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef),
)
_HANDLERS: dict[type[ast.stmt], Callable[[Context, Any], list[Step]]] = {
    ast.Assign: assignments.assignment,
    ast.AnnAssign: assignments.annotated,
    ast.AugAssign: assignments.augmented,
    ast.If: branches.branch,
    ast.For: lambda context, node: loops.for_loop(context, node),  # noqa: PLW0108 - import cycle
    ast.While: lambda context, node: loops.while_loop(context, node),  # noqa: PLW0108
    ast.Return: branches.returning,
    ast.Break: branches.breaking,
    ast.Continue: branches.continuing,
    ast.Raise: branches.raising,
    ast.Assert: branches.asserting,
    ast.FunctionDef: _function,
    ast.Expr: _expression,
    ast.Pass: _nothing,
}

__all__ = ["Step", "statement", "suite"]
