"""A place in a kernel's tree and what could stand there: the common form of all suspects."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from grader.checks.rewrite import Edit
from grader.records import Span

__all__ = ["Spot", "spot"]

Own = Callable[[Edit, Span], bool]


@dataclass(frozen=True, slots=True)
class Spot:
    """``old`` is the node of the original tree. ``apply`` makes the change in an edit's copy."""

    kind: str
    old: ast.expr | ast.stmt
    code: str
    apply: Callable[[Edit], bool]


def spot(kind: str, old: ast.expr | ast.stmt, code: str, own: Own | None = None) -> Spot:
    """The node replaced by ``code``, or changed by ``own`` where a replacement is not enough."""

    def apply(edit: Edit) -> bool:
        node = edit.twin(old)
        if node is None:
            return False
        if own is not None:
            return own(edit, edit.span(node))
        new = ast.parse(code).body[0]
        return edit.replace(
            node, new.value if isinstance(old, ast.expr) and isinstance(new, ast.Expr) else new
        )

    return Spot(kind, old, code, apply)
