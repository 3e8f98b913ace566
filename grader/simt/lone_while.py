"""``while`` loops that count: ``while n < TILE: ...; n += 1``, whose passes are known before the first."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from grader.simt import arithmetic, expressions
from grader.simt.context import Context, Frame, Run
from grader.simt.evidence import Site
from grader.simt.lone_body import step_of, stored_in
from grader.simt.lone_plan import LonePlan, lone_plan
from grader.simt.mask import Active, contains
from grader.simt.types import INT64, Kind, Scalar, plain

#: How far the limit of a range is from that of the test.
_BEYOND: dict[type[ast.cmpop], int] = {ast.Lt: 0, ast.LtE: 1, ast.Gt: 0, ast.GtE: -1}


@dataclass(frozen=True, slots=True)
class Counted:
    """A ``while`` loop over a variable that grows by ``step`` until it comes to a limit."""

    site: Site
    slot: int
    body: Any
    lone: LonePlan
    limit: Run
    beyond: int
    step: int
    name: str = "while"
    by_passes: bool = True

    def values_in(self, fr: Frame, m: Active) -> range | None:
        """The variable's value in each pass to come; None where they differ between threads."""
        start = fr.values[self.slot]
        if type(start) is not int or not contains(fr.defined[self.slot], m):
            return None
        limit = self.limit(fr, m)
        return range(start, limit + self.beyond, self.step) if type(limit) is int else None


def counted(
    context: Context, node: ast.While, head: dict[str, Kind], body: Any, site: Site
) -> Counted | None:
    """A loop as one that counts, if it is one whose passes may be run in one go."""
    match node.test:
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[limit]) if type(op) in _BEYOND:
            step = step_of(node, name)
        case _:
            return None
    up = isinstance(op, ast.Lt | ast.LtE)
    if not step or (step > 0) is not up or plain(head.get(name, INT64)) != INT64 or name not in head:
        return None
    set_here = stored_in(node)
    parts = list(ast.walk(limit))
    if any(isinstance(part, ast.Call | ast.Subscript) for part in parts):
        return None
    if any(isinstance(part, ast.Name) and part.id in set_here for part in parts):
        return None
    plan = lone_plan(context, node, name, head)
    typed = None if plan is None else expressions.expression(context, limit)
    if plan is None or typed is None or not isinstance(typed.kind, Scalar) or not typed.kind.is_int:
        return None
    run = arithmetic.convert(typed, "q")
    return Counted(site, context.slot(name, INT64), body, plan, run, _BEYOND[type(op)], step)


__all__ = ["Counted", "counted"]
