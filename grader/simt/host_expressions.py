"""Expressions of host code: plain values only, every operation bounded in size."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from grader.simt.host_functions import ARRAY_FACTS, TYPE_FACTS, TooLargeError
from grader.simt.host_tables import BINARY, COMPARE, MAX_BITS, METHODS, UNARY, is_number, is_plain
from grader.simt.host_values import (
    ANY_NAME,
    Budget,
    Function,
    HostError,
    Method,
    Once,
    Path,
    Unknown,
    path_value,
)

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
        try:
            return method(node)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise HostError(node, "host-error", f"{type(error).__name__}: {error}") from None

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        for scope in self.scopes:
            if node.id in scope:
                found = scope[node.id]
                if isinstance(found, Unknown):
                    told = isinstance(found.node, ast.expr) and not isinstance(found.node, ast.Name)
                    raise HostError(found.node if told else node, "unknown-value", node.id)
                return found
        if hasattr(builtins, node.id):
            return Path(node.id)
        if any(ANY_NAME in scope for scope in self.scopes):
            raise HostError(node, "unknown-value", node.id)
        raise HostError(node, "unknown-name", f"NameError: name '{node.id}' is not defined")

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
        return self.walk(node, self.value(node))

    def walk(self, node: ast.AST, items: Any) -> list[Any]:
        """What iterating over a value gives; an iterator is used up."""
        if isinstance(items, Once):
            return items.take()
        if is_number(items) or items is None:
            self._guarded(node, lambda: list(items))
        if not isinstance(items, tuple | list | range | str | dict | set | frozenset | np.ndarray):
            raise HostError(node, "unsupported-construct", "iteration")
        if len(items) > MAX_ITEMS:
            raise HostError(node, "too-large", "iteration")
        return list(items)

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Path):
            return path_value(f"{owner.name}.{node.attr}")
        if isinstance(owner, np.ndarray | np.generic) and node.attr in ARRAY_FACTS:
            return getattr(owner, node.attr)
        if isinstance(owner, np.dtype | np.iinfo | np.finfo) and node.attr in TYPE_FACTS:
            return self._guarded(node, lambda: getattr(owner, node.attr))
        if node.attr in METHODS.get(np.ndarray if isinstance(owner, np.generic) else type(owner), ()):
            return Method(owner, node.attr)
        plain = is_plain(owner) or owner is None or isinstance(owner, dict | set | range)
        if plain and not hasattr(type(owner), node.attr):
            return self._guarded(node, lambda: getattr(owner, node.attr))
        raise HostError(node, "unsupported-construct", node.attr)

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        index = self._slice(node.slice) if isinstance(node.slice, ast.Slice) else self.value(node.slice)
        if is_number(owner) or owner is None:
            return self._guarded(node, lambda: owner[index])
        one = isinstance(owner, np.ndarray) and isinstance(index, int | slice | tuple | np.integer)
        if not one and not isinstance(owner, tuple | list | dict | str | range):
            raise HostError(node, "unsupported-construct", "subscript")
        return self._guarded(node, lambda: owner[index])

    def _slice(self, node: ast.Slice) -> slice:
        low, high, step = (part and self.value(part) for part in (node.lower, node.upper, node.step))
        return slice(low, high, step)

    def _binop(self, node: ast.BinOp) -> Any:
        return self.operate(node, node.op, self.value(node.left), self.value(node.right))

    def operate(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        """``left op right`` within the bounds on sizes."""
        function = BINARY.get(type(op))
        if function is not None and (isinstance(left, np.ndarray) or isinstance(right, np.ndarray)):
            return self._elementwise(node, function, left, right)
        if isinstance(op, ast.Mod) and isinstance(left, str):
            raise HostError(node, "unsupported-construct", "%")
        if function is not None and (left is None) != (right is None):
            return self._guarded(node, lambda: function(left, right))
        if function is None or not (is_plain(left) and is_plain(right)):
            raise HostError(node, "unsupported-construct", type(op).__name__)
        if isinstance(op, ast.Pow | ast.LShift) and isinstance(right, int) and abs(right) > MAX_BITS:
            raise HostError(node, "too-large")
        if isinstance(op, ast.Mult) and not (is_number(left) and is_number(right)):
            count, items = (left, right) if isinstance(left, int) else (right, left)
            # Repeated repetition multiplies: what counts is the length that comes of it.
            if isinstance(count, int) and count * len(items if not is_number(items) else ()) > MAX_ITEMS:
                raise HostError(node, "too-large")
        return self.bounded(node, self._guarded(node, lambda: function(left, right)))

    def bounded(self, node: ast.AST, result: Any) -> Any:
        """The result, unless it is a number of more digits than any kernel has use for."""
        if isinstance(result, int) and result.bit_length() > MAX_BITS:
            raise HostError(node, "too-large")
        return result

    def _elementwise(self, node: ast.AST, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        if not all(is_number(side) or isinstance(side, np.ndarray) for side in (left, right)):
            raise HostError(node, "unsupported-construct", "array")
        shape = self._guarded(node, lambda: np.broadcast_shapes(np.shape(left), np.shape(right)))
        if np.prod(shape, dtype=np.float64) > MAX_ITEMS:
            raise HostError(node, "too-large")
        with np.errstate(all="ignore"):
            return self._guarded(node, lambda: function(left, right))

    def _guarded(self, node: ast.AST, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except TooLargeError:
            raise HostError(node, "too-large") from None
        except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
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

    def call(
        self, node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Call a function of the submission: :class:`~grader.simt.host.Interpreter` runs statements."""
        raise HostError(node, "unsupported-call", f"{function.node.name}/{len(arguments) + len(keywords)}")
