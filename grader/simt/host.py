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

from grader.simt.host_arguments import bound
from grader.simt.host_calls import jitted
from grader.simt.host_discarded import cannot_follow, is_harmless
from grader.simt.host_targets import Assigner
from grader.simt.host_values import (
    JIT_PATHS,
    Budget,
    Function,
    HostError,
    JitOptions,
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
class Interpreter(Assigner):
    """Evaluates expressions and runs statements over a chain of scopes, innermost first."""

    def call(
        self, node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Call a plain function of the submission with plain values."""
        if function.jit:
            raise HostError(node, "unsupported-call", function.node.name)
        if self.budget.depth >= MAX_DEPTH:
            raise HostError(node, "did-not-finish")
        local = bound(node, function, arguments, keywords, Interpreter(function.scopes, self.budget).value)
        inner = Interpreter((local, *function.scopes), self.budget)
        self.budget.depth += 1
        try:
            inner.run(function.node.body)
        except _Return as result:
            return result.value
        finally:
            self.budget.depth -= 1
        return None

    def run(self, body: list[ast.stmt]) -> None:
        """Execute statements strictly: whatever cannot be followed raises :class:`HostError`."""
        for statement in body:
            self.budget.spend(statement)
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                value = self._assigned(node)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign() if node.value is not None:
                self.assign(node.target, self.value(node.value))
            case ast.AugAssign():
                self._augmented(node)
            case ast.FunctionDef():
                self.scopes[0][node.name] = self.define(node)
            case ast.Delete():
                for target in node.targets:
                    self._delete(target)
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.AnnAssign():
                pass
            case ast.Expr():
                self._discarded(node.value)
            case ast.Import() | ast.ImportFrom():
                bind_import(node, self.scopes[0])
            case _:
                self._flow(node)

    def _flow(self, node: ast.stmt) -> None:
        """The statements that decide which others run."""
        match node:
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
            case ast.Try():
                self._try(node)
            case ast.Assert():
                if not self.value(node.test):
                    said = f": {ast.unparse(node.msg)}" if node.msg is not None else ""
                    raise HostError(node, "assertion-failed", f"AssertionError{said}")
            case ast.Raise() if node.exc is not None:
                raise HostError(node, "raised", ast.unparse(node.exc))
            case _:
                raise HostError(node, "unsupported-construct", type(node).__name__)

    def _assigned(self, node: ast.Assign) -> Any:
        """The value to assign; what cannot be followed is unknown until somebody reads it."""
        try:
            return self.value(node.value)
        except HostError as error:
            plain = all(isinstance(target, ast.Name) for target in node.targets)
            if plain and cannot_follow(error) and is_harmless(node.value, self.scopes):
                return Unknown(node.value, error.reason)
            raise

    def _discarded(self, node: ast.expr) -> None:
        """An expression whose value nobody uses, say a ``print``."""
        try:
            self.value(node)
        except HostError as error:
            if not (cannot_follow(error) and is_harmless(node, self.scopes)):
                raise

    def _try(self, node: ast.Try) -> None:
        try:
            self.run(node.body)
        except HostError as error:
            # Which handler takes an error is a matter of its type, which is not known here.
            if not node.handlers or cannot_follow(error):
                raise
            raise HostError(node, "unsupported-construct", "except") from None
        self.run(node.orelse)
        self.run(node.finalbody)

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

    def define(self, node: ast.FunctionDef) -> Function:
        """The function that a ``def`` makes, with its jit decorator recognised."""
        function = Function(node, self.scopes)
        for decorator in reversed(node.decorator_list):
            call = decorator if isinstance(decorator, ast.Call) else None
            found = self._decorator(call.func if call else decorator)
            if isinstance(found, JitOptions) and call is None:
                function = jitted(function, found.path, found.keywords, found.signature)
                continue
            path = found.name if isinstance(found, Path) else ""
            if path in JIT_PATHS:
                function = jitted(function, path, {w.arg: w.value for w in call.keywords} if call else {})
                function.signature = call.args[0] if call and call.args else None
        return function

    def _decorator(self, node: ast.expr) -> Any:
        try:
            return self.value(node)
        except HostError:
            return None


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
