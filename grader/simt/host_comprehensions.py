"""Comprehensions, lambdas and f-strings of host code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.simt.host_calls import Caller
from grader.simt.host_expressions import MAX_ITEMS
from grader.simt.host_tables import is_number
from grader.simt.host_values import Function, HostError, Once

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
#: A width in a format of more digits makes texts that are too long.
_WIDE = re.compile(r"\d{4,}")
_CONVERSIONS: dict[int, Callable[[object], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


class ComprehensionScope(dict[str, Any]):
    """The names that a comprehension has for itself."""


@dataclass(slots=True)
class Comprehender(Caller):
    """Evaluates the expressions that have a scope of their own, and text with values in it."""

    def _listcomp(self, node: ast.ListComp) -> Any:
        return [inner.value(node.elt) for inner in self._rounds(node)]

    def _setcomp(self, node: ast.SetComp) -> Any:
        return {inner.value(node.elt) for inner in self._rounds(node)}

    def _generatorexp(self, node: ast.GeneratorExp) -> Any:
        return Once([inner.value(node.elt) for inner in self._rounds(node)])

    def _dictcomp(self, node: ast.DictComp) -> Any:
        return {inner.value(node.key): inner.value(node.value) for inner in self._rounds(node)}

    def _set(self, node: ast.Set) -> Any:
        return set(self._items(node.elts))

    def _rounds(self, node: Comprehension) -> Iterator[Comprehender]:
        """The evaluator of each round; the first iterable belongs to the scope around."""
        inner = type(self)((ComprehensionScope(), *self.scopes), self.budget)
        first = self._iterate(node.generators[0].iter)
        return inner._nested(node.generators, first)

    def _nested(self, generators: list[ast.comprehension], items: list[Any]) -> Iterator[Comprehender]:
        head, *rest = generators
        if head.is_async:
            raise HostError(head.target, "unsupported-construct", "async")
        for item in items:
            self.budget.spend(head.target)
            self.assign(head.target, item)
            if not all(self.value(test) for test in head.ifs):
                continue
            if rest:
                yield from self._nested(rest, self._iterate(rest[0].iter))
            else:
                yield self

    def _namedexpr(self, node: ast.NamedExpr) -> Any:
        value = self.value(node.value)
        scope = next(one for one in self.scopes if not isinstance(one, ComprehensionScope))
        scope[node.target.id] = value
        return value

    def _lambda(self, node: ast.Lambda) -> Any:
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
        made = ast.FunctionDef("<lambda>", node.args, body, [], None, None)
        made.__dict__.setdefault("type_params", [])
        return Function(ast.copy_location(made, node), self.scopes)

    def _joinedstr(self, node: ast.JoinedStr) -> Any:
        text = "".join(self.value(part) for part in node.values)
        if len(text) > MAX_ITEMS:
            raise HostError(node, "too-large")
        return text

    def _formattedvalue(self, node: ast.FormattedValue) -> Any:
        value = self.value(node.value)
        form = self.value(node.format_spec) if node.format_spec is not None else ""
        flat = isinstance(value, tuple | list) and all(is_number(item) for item in value)
        if _WIDE.search(form) or not (is_number(value) or isinstance(value, str) or value is None or flat):
            raise HostError(node.value, "unsupported-construct", "format")
        if node.conversion in _CONVERSIONS:
            value = _CONVERSIONS[node.conversion](value)
        return self._guarded(node, lambda: format(value, form))

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind the target: :class:`~grader.simt.host.Interpreter` knows how."""
        raise HostError(target, "unsupported-construct", type(value).__name__)
