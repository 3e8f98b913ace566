"""Which host code may be passed over where it cannot be followed: it changes nothing that is read."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.simt.host_tables import METHODS
from grader.simt.host_values import Function, HostError, JitOptions, Once, Path, Unknown

#: Reasons that speak of the interpreter's bounds; every other one is an error of Python's own.
_CANNOT_FOLLOW = ("unsupported", "unknown-value", "unknown-branch")
#: Functions that report and change no argument.
_REPORTING = frozenset({"print", "pprint.pprint", "warnings.warn", "sys.stdout.write", "sys.stderr.write"})
_LEVELS = frozenset({"debug", "info", "warning", "error", "critical", "log"})
#: Functions that change names or end the program.
_MEDDLING = frozenset(
    {"exec", "eval", "compile", "setattr", "delattr", "globals", "locals", "vars", "super"}
    | {"exit", "quit", "breakpoint", "__import__"}
)
_MEDDLING_MODULES = frozenset({"sys", "os", "builtins", "importlib", "inspect", "ctypes", "subprocess"})


def cannot_follow(error: HostError) -> bool:
    """Whether the error tells of the interpreter's bounds, not of a fault in the code."""
    return error.reason.startswith(_CANNOT_FOLLOW)


def is_harmless(node: ast.expr, scopes: tuple[dict[str, Any], ...]) -> bool:
    """Whether the expression can be passed over: none of its calls changes a value that is known."""
    parts = list(ast.walk(node))
    if any(isinstance(part, ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr) for part in parts):
        return False
    calls = [part for part in parts if isinstance(part, ast.Call)]
    return all(_call_is_harmless(call, scopes) for call in calls)


def _call_is_harmless(node: ast.Call, scopes: tuple[dict[str, Any], ...]) -> bool:
    names = _dotted(node.func)
    if names is None:
        return False
    root = _found(names[0], scopes)
    if isinstance(root, Function):
        return False
    path = ".".join((root.name if isinstance(root, Path) else names[0], *names[1:]))
    if path in _REPORTING or (len(names) > 1 and names[-1] in _LEVELS):
        return True
    if path in _MEDDLING or path.split(".")[0] in _MEDDLING_MODULES:
        return False
    if not isinstance(root, Path | Unknown | None) and not _keeps(root, names):
        return False
    parts = [part for one in (*node.args, *(word.value for word in node.keywords)) for part in ast.walk(one)]
    return not any(
        isinstance(part, ast.Lambda) or (isinstance(part, ast.Name) and _may_change(_found(part.id, scopes)))
        for part in parts
    )


def _keeps(root: Any, names: list[str]) -> bool:
    """A method of a value that cannot be changed."""
    return len(names) == 2 and isinstance(root, str | int | float | tuple) and type(root) in METHODS


def _may_change(value: Any) -> bool:
    return isinstance(value, list | dict | set | np.ndarray | Once | Function | JitOptions)


def _dotted(node: ast.expr) -> list[str] | None:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else None


def _found(name: str, scopes: tuple[dict[str, Any], ...]) -> Any:
    return next((scope[name] for scope in scopes if name in scope), None)
