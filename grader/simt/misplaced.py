"""Statements that Python refuses only after parsing: a ``break`` outside a loop, say."""

from __future__ import annotations

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
SCOPES = (*FUNCTIONS, ast.ClassDef)
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
        if isinstance(node, ast.Break | ast.Continue) and not in_loop:
            return node, MESSAGES[type(node)]
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Await) and not in_function:
            return node, MESSAGES[type(node)]
        if isinstance(node, SCOPES):
            in_function, in_loop = isinstance(node, FUNCTIONS), False
        after = {id(child) for child in getattr(node, "orelse", ())} if isinstance(node, LOOPS) else set()
        inside = in_loop or isinstance(node, LOOPS)
        children = [
            (child, in_function, in_loop if id(child) in after else inside)
            for child in ast.iter_child_nodes(node)
        ]
        waiting += reversed(children)
    return None
