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

from grader.simt.host_calls import jitted
from grader.simt.host_comprehensions import Comprehender
from grader.simt.host_discarded import cannot_follow, is_harmless
from grader.simt.host_expressions import MAX_ITEMS
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
class Interpreter(Comprehender):
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
        spec, name = function.node.args, function.node.name
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        only = [arg.arg for arg in spec.kwonlyargs]
        if len(arguments) > len(names) and not spec.vararg:
            counts = f"takes {len(names)} positional arguments but {len(arguments)} were given"
            raise HostError(node, "argument-count", f"TypeError: {name}() {counts}")
        local = dict(zip(names, arguments, strict=False))
        if spec.vararg:
            local[spec.vararg.arg] = tuple(arguments[len(names) :])
        extra: dict[str, Any] = {}
        by_name = {arg.arg for arg in spec.args} | set(only)
        for word, value in keywords.items():
            if word in local or (word not in by_name and not spec.kwarg):
                what = "multiple values for" if word in local else "an unexpected keyword"
                raise HostError(node, "argument-count", f"TypeError: {name}() got {what} argument '{word}'")
            (local if word in by_name else extra)[word] = value
        if spec.kwarg:
            local[spec.kwarg.arg] = extra
        defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
        defaults |= {word: one for word, one in zip(only, spec.kw_defaults, strict=True) if one is not None}
        for word in (*names, *only):
            if word not in local:
                if word not in defaults:
                    text = f"TypeError: {name}() missing 1 required argument: '{word}'"
                    raise HostError(node, "argument-count", text)
                local[word] = Interpreter(function.scopes, self.budget).value(defaults[word])
        return local

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

    def _augmented(self, node: ast.AugAssign) -> None:
        target, value = node.target, self.value(node.value)
        if isinstance(target, ast.Name):
            old = self._name(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        elif isinstance(target, ast.Subscript):
            old = self._subscript(
                ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
            )
        else:
            raise HostError(node, "unsupported-construct", "assignment")
        if isinstance(old, list) and isinstance(node.op, ast.Add):
            added = self.walk(node, value)
            if len(old) + len(added) > MAX_ITEMS:
                raise HostError(node, "too-large")
            old.extend(added)
        else:
            self.assign(target, self.operate(node, node.op, old, value))

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            if target.id not in self.scopes[0]:
                raise HostError(target, "unknown-name", f"NameError: name '{target.id}' is not defined")
            del self.scopes[0][target.id]
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._delete(part)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            owner, index = self.value(target.value), self.value(target.slice)
            if not isinstance(owner, list | dict):
                raise HostError(target, "unsupported-construct", "del")
            self._guarded(target, lambda: owner.__delitem__(index))
        else:
            raise HostError(target, "unsupported-construct", "del")

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

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name of the innermost scope, the names of a tuple, or an element."""
        if isinstance(target, ast.Name):
            self.scopes[0][target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, self.walk(target, value))
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            owner, index = self.value(target.value), self.value(target.slice)
            if not isinstance(owner, list | dict) or (isinstance(owner, dict) and len(owner) > MAX_ITEMS):
                raise HostError(target, "unsupported-construct", "assignment")
            self._guarded(target, lambda: owner.__setitem__(index, value))
        else:
            raise HostError(target, "unsupported-construct", "assignment")

    def _unpack(self, target: ast.Tuple | ast.List, items: list[Any]) -> None:
        parts = target.elts
        starred = next((at for at, part in enumerate(parts) if isinstance(part, ast.Starred)), None)
        few = len(items) < len(parts) - (starred is not None)
        if few or (starred is None and len(items) > len(parts)):
            wanted = len(parts) - (starred is not None)
            text = f"ValueError: {len(items)} values to unpack into {wanted} names"
            raise HostError(target, "unpack-count", text)
        if starred is not None:
            after = len(items) - (len(parts) - starred - 1)
            items = [*items[:starred], items[starred:after], *items[after:]]
        for part, item in zip(parts, items, strict=True):
            self.assign(part.value if isinstance(part, ast.Starred) else part, item)

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
