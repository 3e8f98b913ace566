"""Expressions of host code: plain values only, every operation bounded in size."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from grader.simt.host_tables import BINARY, BUILTINS, COMPARE, TABLES, UNARY, is_number, is_plain
from grader.simt.host_values import JIT_PATHS, Budget, Function, HostError, Path, Unknown, path_value

MAX_BITS = 4096
MAX_ITEMS = 100_000


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions over a chain of scopes, innermost first."""

    scopes: tuple[dict[str, Any], ...]
    budget: Budget = field(default_factory=Budget)

    def value(self, node: ast.expr) -> Any:
        """The value of an expression; :class:`HostError` where it cannot be known."""
        self.budget.spend(node)
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise HostError(node, "unsupported-construct", type(node).__name__)
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        for scope in self.scopes:
            if node.id in scope:
                found = scope[node.id]
                if isinstance(found, Unknown):
                    raise HostError(node, "unknown-value", node.id)
                return found
        if node.id in BUILTINS:
            return Path(node.id)
        raise HostError(node, "unknown-name", node.id)

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def _list(self, node: ast.List) -> Any:
        return list(self._items(node.elts))

    def _dict(self, node: ast.Dict) -> Any:
        keys = [self.value(key) for key in node.keys if key is not None]
        if len(keys) != len(node.keys):
            raise HostError(node, "unsupported-construct", "**")
        try:
            return dict(zip(keys, (self.value(value) for value in node.values), strict=True))
        except TypeError as error:
            raise HostError(node, "type-error", str(error)) from None

    def _items(self, nodes: list[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self._iterate(node.value)
            else:
                yield self.value(node)

    def _iterate(self, node: ast.expr) -> list[Any]:
        items = self.value(node)
        if not isinstance(items, tuple | list | range | str) or len(items) > MAX_ITEMS:
            raise HostError(node, "unsupported-construct", "iteration")
        return list(items)

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Path):
            return path_value(f"{owner.name}.{node.attr}")
        raise HostError(node, "unknown-attribute", node.attr)

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if not isinstance(owner, tuple | list | dict | str | range):
            raise HostError(node, "unsupported-construct", "subscript")
        index = self._slice(node.slice) if isinstance(node.slice, ast.Slice) else self.value(node.slice)
        return self._guarded(node, lambda: owner[index])

    def _slice(self, node: ast.Slice) -> slice:
        low, high, step = (part and self.value(part) for part in (node.lower, node.upper, node.step))
        return slice(low, high, step)

    def _binop(self, node: ast.BinOp) -> Any:
        return self.operate(node, node.op, self.value(node.left), self.value(node.right))

    def operate(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        """``left op right`` within the bounds on sizes."""
        function = BINARY.get(type(op))
        if function is None or not (is_plain(left) and is_plain(right)):
            raise HostError(node, "unsupported-construct", type(op).__name__)
        if isinstance(op, ast.Pow | ast.LShift) and isinstance(right, int) and abs(right) > MAX_BITS:
            raise HostError(node, "too-large")
        if isinstance(op, ast.Mult) and not (is_number(left) and is_number(right)):
            count, items = (left, right) if isinstance(left, int) else (right, left)
            # Repeated repetition multiplies: what counts is the length that comes of it.
            if isinstance(count, int) and count * len(items if not is_number(items) else ()) > MAX_ITEMS:
                raise HostError(node, "too-large")
        result = self._guarded(node, lambda: function(left, right))
        if isinstance(result, int) and result.bit_length() > MAX_BITS:
            raise HostError(node, "too-large")
        return result

    def _guarded(self, node: ast.AST, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except (ArithmeticError, TypeError, ValueError, LookupError) as error:
            raise HostError(node, "host-error", f"{type(error).__name__}: {error}") from None

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not operand
        return self._guarded(node, lambda: UNARY[type(node.op)](operand))

    def _boolop(self, node: ast.BoolOp) -> Any:
        result: Any = None
        for part in node.values:
            result = self.value(part)
            if bool(result) == isinstance(node.op, ast.Or):
                return result
        return result

    def _compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            compare = COMPARE.get(type(op))
            if compare is None:
                raise HostError(node, "unsupported-construct", type(op).__name__)
            if not self._guarded(node, partial(compare, left, right)):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        arguments = list(self._items(node.args))
        keywords = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        if isinstance(function, Function):
            return self.call(node, function, arguments, keywords)
        if isinstance(function, Path):
            if function.name in JIT_PATHS and arguments and isinstance(arguments[0], Function):
                return jitted(arguments[0], function.name, keywords)
            if function.name in TABLES:
                return self._table(node, function.name, arguments, keywords)
            known = BUILTINS.get(function.name)
            if known is not None and not keywords:
                for argument in arguments:
                    if isinstance(argument, Function | Path):
                        raise HostError(node, "unsupported-construct", function.name)
                    if isinstance(argument, range) and len(argument) > MAX_ITEMS:
                        raise HostError(node, "too-large")
                return self._guarded(node, lambda: known(*arguments))
        raise HostError(node, "unsupported-call", ast.unparse(node.func)[:80])

    def _table(self, node: ast.AST, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """A NumPy array made from plain values: a table that kernels read as a constant."""
        dtype = keywords.pop("dtype", None)
        if dtype is None and path in ("numpy.array", "numpy.asarray") and len(arguments) == 2:
            dtype = arguments.pop()
        if isinstance(dtype, Path):
            dtype = dtype.name.rsplit(".", 1)[1]
        if keywords or not all(is_plain(argument) for argument in arguments):
            raise HostError(node, "unsupported-call", path)
        make = TABLES[path]
        if path in ("numpy.zeros", "numpy.ones", "numpy.full", "numpy.arange", "numpy.eye", "numpy.linspace"):
            flat = [n for a in arguments for n in (a if isinstance(a, tuple | list) else (a,))]
            if any(isinstance(n, int | float) and abs(n) > MAX_ITEMS for n in flat):
                raise HostError(node, "too-large")
        array = self._guarded(
            node, lambda: make(*arguments) if dtype is None else make(*arguments, dtype=dtype)
        )
        if array.dtype.hasobject or array.size > MAX_ITEMS:
            raise HostError(node, "unsupported-call", path)
        return array

    def call(
        self, node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Call a function of the submission: :class:`~grader.simt.host.Interpreter` runs statements."""
        raise HostError(node, "unsupported-call", f"{function.node.name}/{len(arguments) + len(keywords)}")


def jitted(function: Function, path: str, keywords: Mapping[Any, Any]) -> Function:
    """The function as a jit decorator at ``path`` leaves it."""
    flag = keywords.get("device", False)
    device = flag.value is True if isinstance(flag, ast.Constant) else flag is True
    return Function(function.node, function.scopes, path, device or path != "numba.cuda.jit")
