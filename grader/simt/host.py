"""The scalar interpreter for what surrounds a kernel: constants, factories, ``launch_config``.

A submission's module is never executed by Python. This interpreter walks it, keeps the names that
plain scalar code gives, and marks everything that it cannot follow as :class:`Unknown`. It has no
access to files, attributes of live objects or imports, and every evaluation is bounded in steps
and in the size of its numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.simt.host_expressions import Evaluator, jitted
from grader.simt.host_values import (
    JIT_PATHS,
    Budget,
    Function,
    HostError,
    Path,
    Unknown,
    bind_import,
    span_of,
)

MAX_DEPTH = 60


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


@dataclass(slots=True)
class Interpreter(Evaluator):
    """Evaluates expressions and runs statements over a chain of scopes, innermost first."""

    def call(
        self, node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Call a plain function of the submission with plain values."""
        if function.jit:
            raise HostError(node, "unsupported-call", function.node.name)
        if self.budget.depth >= MAX_DEPTH:
            raise HostError(node, "did-not-finish")
        local = self._bind(node, function, arguments, keywords)
        inner = Interpreter((local, *function.scopes), self.budget)
        self.budget.depth += 1
        try:
            inner.run(function.node.body)
        except _Return as result:
            return result.value
        finally:
            self.budget.depth -= 1
        return None

    def _bind(
        self, node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any]
    ) -> dict[str, Any]:
        spec = function.node.args
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        if spec.vararg or spec.kwarg or len(arguments) > len(names):
            raise HostError(node, "argument-count", function.node.name)
        local = dict(zip(names, arguments, strict=False))
        for name, value in keywords.items():
            if name in local or name not in names:
                raise HostError(node, "argument-count", function.node.name)
            local[name] = value
        defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
        for name in names:
            if name not in local:
                if name not in defaults:
                    raise HostError(node, "argument-count", function.node.name)
                local[name] = Interpreter(function.scopes, self.budget).value(defaults[name])
        return local

    def run(self, body: list[ast.stmt]) -> None:
        """Execute statements strictly: whatever cannot be followed raises :class:`HostError`."""
        for statement in body:
            self.budget.spend(statement)
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign() if node.value is not None:
                self.assign(node.target, self.value(node.value))
            case ast.AugAssign(target=ast.Name() as name):
                self.assign(
                    name, self.operate(node, node.op, self._name(_loaded(name)), self.value(node.value))
                )
            case ast.FunctionDef():
                self.scopes[0][node.name] = self.define(node)
            case ast.Return():
                raise _Return(None if node.value is None else self.value(node.value))
            case ast.If():
                self.run(node.body if self.value(node.test) else node.orelse)
            case ast.For():
                self._for(node)
            case ast.While():
                self._while(node)
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Import() | ast.ImportFrom():
                bind_import(node, self.scopes[0])
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.AnnAssign():
                pass
            case ast.Assert():
                if not self.value(node.test):
                    raise HostError(node, "assertion-failed")
            case _:
                raise HostError(node, "unsupported-construct", type(node).__name__)

    def _for(self, node: ast.For) -> None:
        for item in self._iterate(node.iter):
            self.budget.spend(node)
            self.assign(node.target, item)
            try:
                self.run(node.body)
            except _Continue:
                continue
            except _Break:
                return
        self.run(node.orelse)

    def _while(self, node: ast.While) -> None:
        while self.value(node.test):
            try:
                self.run(node.body)
            except _Continue:
                continue
            except _Break:
                return
        self.run(node.orelse)

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, or the names of a tuple, in the innermost scope."""
        if isinstance(target, ast.Name):
            self.scopes[0][target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple | list):
            if len(target.elts) != len(value):
                raise HostError(target, "unpack-count")
            for part, item in zip(target.elts, value, strict=True):
                self.assign(part, item)
        else:
            raise HostError(target, "unsupported-construct", "assignment")

    def define(self, node: ast.FunctionDef) -> Function:
        """The function that a ``def`` makes, with its jit decorator recognised."""
        function = Function(node, self.scopes)
        for decorator in reversed(node.decorator_list):
            call = decorator if isinstance(decorator, ast.Call) else None
            path = self._decorator_path(call.func if call else decorator)
            if path in JIT_PATHS:
                function = jitted(function, path, {w.arg: w.value for w in call.keywords} if call else {})
                function.signature = call.args[0] if call and call.args else None
        return function

    def _decorator_path(self, node: ast.expr) -> str:
        try:
            found = self.value(node)
        except HostError:
            return ""
        return found.name if isinstance(found, Path) else ""


def _loaded(name: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)


__all__ = [
    "Budget",
    "Function",
    "HostError",
    "Interpreter",
    "Path",
    "Unknown",
    "bind_import",
    "span_of",
]
