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
    """``old`` is the node of the original tree. ``apply`` makes the change in an edit's copy.

    ``places`` is how many nodes change alike.
    """

    kind: str
    old: ast.expr | ast.stmt
    code: str
    apply: Callable[[Edit], bool]
    places: int = 1

    @property
    def sound(self) -> bool:
        """Whether the text that would stand there is Python."""
        return not self.code or _statement(self.code) is not None


def _statement(code: str) -> ast.stmt | None:
    """What the text says; None where it is no Python."""
    try:
        return next(iter(ast.parse(code).body), None)
    except (SyntaxError, ValueError):
        return None


def spot(kind: str, old: ast.expr | ast.stmt, code: str, own: Own | None = None) -> Spot:
    """The node replaced by ``code``, or changed by ``own`` where a replacement is not enough."""

    def apply(edit: Edit) -> bool:
        node = edit.twin(old)
        if node is None:
            return False
        if own is not None:
            return own(edit, edit.span(node))
        new = _statement(code)
        if new is None:
            return False
        return edit.replace(
            node, new.value if isinstance(old, ast.expr) and isinstance(new, ast.Expr) else new
        )

    return Spot(kind, old, code, apply)
