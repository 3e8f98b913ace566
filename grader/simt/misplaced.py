"""Statements that Python refuses only after parsing: a ``break`` outside a loop, say."""

from __future__ import annotations

import ast

from grader.simt.nesting import children_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
SCOPES = (*FUNCTIONS, ast.ClassDef)
JUMPS = (ast.Break, ast.Continue)
MESSAGES: dict[type[ast.AST], str] = {
    ast.Break: "'break' outside loop",
    ast.Continue: "'continue' not properly in loop",
    ast.Return: "'return' outside function",
    ast.Yield: "'yield' outside function",
    ast.YieldFrom: "'yield' outside function",
    ast.Await: "'await' outside function",
}


def find_misplaced(tree: ast.Module) -> tuple[ast.AST, str] | None:
    """The first such statement, with Python's own message; None where there is none."""
    waiting: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while waiting:
        node, in_function, in_loop = waiting.pop()
        kind = type(node)
        if kind in MESSAGES and not (in_loop if kind in JUMPS else in_function):
            return node, MESSAGES[kind]
        if kind in SCOPES:
            in_function, in_loop = kind in FUNCTIONS, False
        loop = kind in LOOPS
        after = {id(child) for child in node.orelse} if loop else ()  # type: ignore[attr-defined]
        children = [
            (child, in_function, (in_loop or loop) if id(child) not in after else in_loop)
            for child in children_of(node)
        ]
        waiting += reversed(children)
    return None
