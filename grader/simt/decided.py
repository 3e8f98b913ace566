"""Conditions that are decided before a kernel runs: what they rule out is never compiled.

Python drops what a literal rules out, and numba what comparisons of two constants, or a constant alone,
rule out: the type errors in there are nobody's.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from grader.simt.context import Context

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def decided(context: Context, test: ast.expr) -> bool | None:
    """Which way a condition goes for every thread; None where that is known only when it runs.

    Of ``and`` and ``or`` the first operand has to tell, or all: what stands before a constant is run.
    """
    match test:
        case ast.UnaryOp(op=ast.Not()):
            inner = decided(context, test.operand)
            return None if inner is None else not inner
        case ast.BoolOp():
            parts = (decided(context, part) for part in test.values)
            return _in_turn(parts, isinstance(test.op, ast.And))
        case ast.Compare():
            return _in_turn(_links(context, test), True)
        case ast.Constant() | ast.Name():
            known, value = _constant(context, test)
            # numba calls `bool` of a float16 constant, for which it has no code.
            return bool(value) if known and not isinstance(value, np.float16) else None
    return None


def _in_turn(parts: Iterator[bool | None], is_and: bool) -> bool | None:
    """The first part that is other than what goes on; None where a part before it is not known."""
    for part in parts:
        if part is not is_and:
            return part
    return is_and


def _links(context: Context, test: ast.Compare) -> Iterator[bool | None]:
    sides = [test.left, *test.comparators]
    for op, left, right in zip(test.ops, sides, sides[1:], strict=False):
        compare = _COMPARISONS.get(type(op))
        (one, first), (two, second) = _constant(context, left), _constant(context, right)
        if compare is None or not (one and two):
            yield None
            continue
        try:
            yield bool(compare(first, second))
        except TypeError:
            yield None


def _constant(context: Context, node: ast.expr) -> tuple[bool, Any]:
    """Whether a literal or a name of the module holds a constant, and which."""
    if isinstance(node, ast.Constant):
        return node.value is not Ellipsis, node.value
    if not isinstance(node, ast.Name) or node.id in context.locals:
        return False, None
    value = context.host_value(node)
    return value is None or isinstance(value, bool | int | float | complex | str | np.generic), value
