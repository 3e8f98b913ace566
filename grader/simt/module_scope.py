"""What the names of a submission's module hold, as far as plain scalar code tells."""

from __future__ import annotations

import ast
from typing import Any

from grader.simt.host import Budget, HostError, Interpreter, Unknown, bind_import


def module_scope(tree: ast.Module) -> dict[str, Any]:
    """The names after all statements outside functions; what cannot be followed is ``Unknown``."""
    scope: dict[str, Any] = {"__name__": "submission"}
    _follow(tree.body, Interpreter((scope,)))
    return scope


def _follow(body: list[ast.stmt], interpreter: Interpreter) -> None:
    """Execute module-level statements leniently: what cannot be followed leaves its names unknown."""
    scope = interpreter.scopes[0]
    for node in body:
        try:
            match node:
                case ast.Import() | ast.ImportFrom():
                    bind_import(node, scope)
                case ast.Try():
                    _follow([*node.body, *node.orelse, *node.finalbody], interpreter)
                case ast.If():
                    _follow_if(node, interpreter)
                case ast.Expr() | ast.Pass() | ast.Assert():
                    pass
                case ast.With():
                    _forget(node, scope, "unsupported-construct")
                case _:
                    interpreter.budget = Budget()
                    interpreter.run([node])
        except HostError as error:
            _forget(node, scope, error.reason)


def _follow_if(node: ast.If, interpreter: Interpreter) -> None:
    try:
        taken = node.body if interpreter.value(node.test) else node.orelse
    except HostError:
        _forget(node, interpreter.scopes[0], "unknown-branch")
        return
    _follow(taken, interpreter)


def _forget(node: ast.stmt, scope: dict[str, Any], reason: str) -> None:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store | ast.Del):
            scope[part.id] = Unknown(part, reason)
        elif isinstance(part, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            scope[part.name] = Unknown(part, reason)
