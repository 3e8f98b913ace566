"""What host code assigns to, updates in place and deletes: names, tuples of them, elements."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from grader.simt.host_comprehensions import Comprehender
from grader.simt.host_expressions import MAX_ITEMS
from grader.simt.host_values import HostError


@dataclass(slots=True)
class Assigner(Comprehender):
    """Binds, updates and deletes, in the innermost scope."""

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
