"""Calls in host code: builtins, methods of plain values, NumPy tables, jit decorators."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from grader.simt.host_expressions import MAX_ITEMS, Evaluator
from grader.simt.host_functions import ABOUT_TYPES, NUMPY, NUMPY_KEYWORDS, call_numpy
from grader.simt.host_tables import BUILTINS, GROWING, ITERATORS, TABLES, WALKING, is_number, is_plain
from grader.simt.host_values import JIT_PATHS, Function, HostError, JitOptions, Method, Once, Path

#: The types that ``isinstance`` may ask for.
_TYPES = {"int": int, "float": float, "bool": bool, "str": str, "tuple": tuple, "list": list, "dict": dict}
#: Keywords that a builtin takes, beside ``key``, which is followed apart.
_KEYWORDS = {"sum": {"start"}, "max": {"default"}, "min": {"default"}, "sorted": {"reverse"}, "dict": None}


@dataclass(slots=True)
class Caller(Evaluator):
    """Evaluates calls; the arguments are evaluated once, in order."""

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        arguments = list(self._items(node.args))
        keywords = self._keywords(node)
        if isinstance(function, Path) and function.name in JIT_PATHS:
            return self._jit(node, function.name, arguments, keywords)
        return self.apply(node, function, arguments, keywords)

    def _keywords(self, node: ast.Call) -> dict[str, Any]:
        keywords: dict[str, Any] = {}
        for word in node.keywords:
            value = self.value(word.value)
            if word.arg is not None:
                keywords[word.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                keywords |= value
            else:
                raise HostError(word.value, "unsupported-construct", "**")
        return keywords

    def apply(self, node: ast.AST, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Call what an expression gave."""
        if isinstance(function, Function):
            return self.call(node, function, arguments, keywords)
        if isinstance(function, Method):
            return self._method(node, function, arguments, keywords)
        if isinstance(function, JitOptions) and len(arguments) == 1 and isinstance(arguments[0], Function):
            return jitted(arguments[0], function.path, function.keywords, function.signature)
        if is_plain(function) or function is None or isinstance(function, dict | set):
            return self._guarded(node, function)
        if isinstance(function, Path):
            if function.name in TABLES:
                return self._table(node, function.name, arguments, keywords)
            if function.name in NUMPY:
                return self._numpy(node, function.name, arguments, keywords)
            if function.name in ABOUT_TYPES and len(arguments) == 1 and not keywords:
                asked = _type_name(arguments[0])
                return self._guarded(node, lambda: ABOUT_TYPES[function.name](asked))
            lazy = getattr(self, f"_apply_{function.name}", None)
            if lazy is not None and not keywords:
                return self._guarded(node, lambda: lazy(node, *arguments))
            if function.name in BUILTINS:
                return self._builtin(node, function.name, arguments, keywords)
        return self._refuse(node)

    def _refuse(self, node: ast.AST) -> NoReturn:
        called = node.func if isinstance(node, ast.Call) else node
        raise HostError(node, "unsupported-call", ast.unparse(called)[:80])

    def _jit(self, node: ast.Call, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if arguments and isinstance(arguments[0], Function):
            return jitted(arguments[0], path, keywords)
        return JitOptions(path, keywords, node.args[0] if node.args else None)

    def _builtin(self, node: ast.AST, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if name in WALKING:
            arguments = [one.take() if isinstance(one, Once) else one for one in arguments]
        for argument in arguments:
            if isinstance(argument, Function | Path | Method | JitOptions):
                raise HostError(node, "unsupported-call", name)
            if isinstance(argument, range) and len(argument) > MAX_ITEMS:
                raise HostError(node, "too-large")
        key = keywords.pop("key", None) if name in ("sorted", "min", "max") else None
        taken = _KEYWORDS.get(name, set())
        if taken is not None and not set(keywords) <= taken:
            self._refuse(node)
        start = [*arguments[1:2], *keywords.values()] if name == "sum" else []
        if not all(is_number(one) for one in start):
            self._refuse(node)
        if key is not None:
            return self._by_key(node, name, arguments, key, bool(keywords.get("reverse")))
        try:
            result = self._guarded(node, lambda: BUILTINS[name](*arguments, **keywords))
        except NotImplementedError:
            self._refuse(node)
        return Once(list(result)) if name in ITERATORS else self.bounded(node, result)

    def _by_key(self, node: ast.AST, name: str, arguments: list[Any], key: Any, reverse: bool) -> Any:
        items = self.walk(node, arguments[0]) if len(arguments) == 1 else arguments
        keys = [self.apply(node, key, [item], {}) for item in items]
        if name == "sorted":
            order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
            return [items[position] for position in order]
        choose = min if name == "min" else max
        return items[choose(range(len(items)), key=keys.__getitem__)]

    def _apply_map(self, node: ast.AST, function: Any, *parts: Any) -> Once:
        rows = zip(*(self.walk(node, part) for part in parts), strict=False)
        return Once([self.apply(node, function, list(row), {}) for row in rows])

    def _apply_filter(self, node: ast.AST, function: Any, items: Any) -> Once:
        items = self.walk(node, items)
        return Once(
            [item for item in items if (self.apply(node, function, [item], {}) if function else item)]
        )

    def _apply_iter(self, node: ast.AST, items: Any) -> Once:
        return items if isinstance(items, Once) else Once(self.walk(node, items))

    def _apply_next(self, node: ast.AST, items: Any, *default: Any) -> Any:
        if not isinstance(items, Once):
            raise HostError(node, "host-error", f"TypeError: '{type(items).__name__}' is not an iterator")
        if not items.items:
            if default:
                return default[0]
            raise HostError(node, "host-error", "StopIteration")
        return items.items.pop(0)

    def _apply_isinstance(self, node: ast.AST, value: Any, asked: Any) -> bool:
        kinds = asked if isinstance(asked, tuple) else (asked,)
        wanted = [_TYPES.get(getattr(one, "name", "")) for one in kinds]
        if None in wanted or not (is_plain(value) or value is None or isinstance(value, dict)):
            self._refuse(node)
        return isinstance(value, tuple(one for one in wanted if one is not None))

    def _method(self, node: ast.AST, method: Method, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        owner, name = method.owner, method.name
        if name in ("extend", "update", "join"):
            arguments = [self.walk(node, one) if not isinstance(one, dict) else one for one in arguments]
        if any(isinstance(one, Function | Path) for one in keywords.values()):
            self._refuse(node)
        if name == "astype" and arguments:
            arguments = [_type_name(arguments[0]), *arguments[1:]]
        length = len(owner) if isinstance(owner, dict | list | set) else 0
        added = sum(len(one) for one in arguments if isinstance(one, list | dict))
        if name in GROWING and length + added > MAX_ITEMS:
            raise HostError(node, "too-large")
        if name == "join":
            parts = [len(part) for one in arguments for part in one if isinstance(part, str)]
            if sum(parts) + len(owner) * len(parts) > MAX_ITEMS:
                raise HostError(node, "too-large")
        result = self._guarded(node, lambda: getattr(owner, name)(*arguments, **keywords))
        return list(result) if isinstance(owner, dict) and name in ("items", "keys", "values") else result

    def _numpy(self, node: ast.AST, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """A NumPy function of numbers and tables."""
        if isinstance(keywords.get("dtype"), Path):
            keywords = {**keywords, "dtype": _type_name(keywords["dtype"])}
        values = [*arguments, *(value for word, value in keywords.items() if word != "dtype")]
        known = all(is_plain(one) or one is None or isinstance(one, np.ndarray) for one in values)
        if not known or not set(keywords) <= NUMPY_KEYWORDS:
            self._refuse(node)
        return self._guarded(node, lambda: call_numpy(path, arguments, keywords))

    def _table(self, node: ast.AST, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """A NumPy array made from plain values: a table that kernels read as a constant."""
        dtype = keywords.pop("dtype", None)
        if dtype is None and path in ("numpy.array", "numpy.asarray") and len(arguments) == 2:
            dtype = arguments.pop()
        dtype = _type_name(dtype)
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


def _type_name(asked: Any) -> Any:
    """The name of a type that is known by its path, ``float32`` of ``np.float32``."""
    return asked.name.rsplit(".", 1)[-1] if isinstance(asked, Path) else asked


def jitted(
    function: Function, path: str, keywords: Mapping[Any, Any], signature: ast.expr | None = None
) -> Function:
    """The function as a jit decorator at ``path`` leaves it."""
    flag = keywords.get("device", False)
    device = flag.value is True if isinstance(flag, ast.Constant) else flag is True
    device = device or path != "numba.cuda.jit"
    return Function(function.node, function.scopes, path, device, signature, options=keywords)
