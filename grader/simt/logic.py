"""Conditions: comparisons in a chain, ``and``, ``or``, ``not``, membership, the conditional expression."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import arithmetic, expressions, types
from grader.simt.arguments import parts_of
from grader.simt.context import Context, Run, Typed
from grader.simt.decided import decided
from grader.simt.machine import Machine, Stop
from grader.simt.types import Clash, Kind, Scalar, Tuple
from grader.simt.values import Tainted, as_condition, cast, join, select, strip


def _chain(context: Context, node: ast.Compare, operands: list[Typed]) -> Typed:
    """A comparison, chained ones as the conjunction of their links."""
    links = [
        arithmetic.binary(context, node, op, operands[i], operands[i + 1]) for i, op in enumerate(node.ops)
    ]
    result = links[0]
    for link, last in zip(links[1:], node.comparators[1:], strict=True):
        result = conjunction(result, link, _touches(last), True)
    return result


def conjunction(left: Typed, right: Typed, narrow: bool, is_and: bool) -> Typed:
    """``left and right`` (or ``or``) of two conditions.

    ``narrow`` evaluates the right one only for the threads that need it.
    """
    first, second = left.run, right.run

    def run(fr: Any, m: Any) -> Any:
        a = as_condition(first(fr, m))
        if type(a) is bool:
            return as_condition(second(fr, m)) if a is is_and else a
        if not narrow:
            return _combine(fr.mc, a, as_condition(second(fr, m)), is_and)
        plain = strip(a)
        yes, no = fr.mc.split(m, plain)
        rest = yes if is_and else no
        if rest is not None and not hasattr(rest, "array"):
            return a
        return _combine(fr.mc, a, as_condition(second(fr, rest)), is_and)

    return Typed(types.BOOL, run)


def _combine(mc: Machine, a: Any, b: Any, is_and: bool) -> Any:
    if type(b) is bool:
        return (a if b else _constant_like(a, False)) if is_and else (_constant_like(a, True) if b else a)
    if type(a) is Tainted or type(b) is Tainted:
        return _combine_tainted(a, b, is_and)
    return mc.narrowing.combine(a, b, is_and)


def _constant_like(a: Any, value: bool) -> bool:
    return value


def _combine_tainted(a: Any, b: Any, is_and: bool) -> Any:
    """Kleene logic: a clean operand that decides the result alone leaves it clean."""
    x, y = strip(a), strip(b)
    result = x & y if is_and else x | y
    joined = join(result, a, b)
    decided = np.zeros(result.shape, bool)
    for part, plain in ((a, x), (b, y)):
        clean = np.ones((1,) * result.ndim, bool) if type(part) is not Tainted else part.taint == 0
        decided = decided | (clean & (plain != is_and))
    taint = np.where(decided, np.uint8(0), joined.taint)
    return Tainted(result, taint) if taint.any() else result


def negation(operand: Typed) -> Typed:
    """``not x``."""
    run = operand.run
    return Typed(types.BOOL, lambda fr, m: _negate(as_condition(run(fr, m))))


def _negate(value: Any) -> Any:
    return not value if type(value) is bool else np.logical_not(value)


def boolean(context: Context, node: ast.BoolOp) -> Typed:
    """``a and b``, ``a or b``."""
    is_and = isinstance(node.op, ast.And)
    parts = [expressions.expression(context, node.values[0])]
    parts += [_on_some_paths(context, part) for part in node.values[1:]]
    result, conditions = parts[0], 1
    while conditions < len(parts) and result.kind == parts[conditions].kind == types.BOOL:
        result = conjunction(result, parts[conditions], _touches(node.values[conditions]), is_and)
        conditions += 1
    if conditions == len(parts):
        return result
    return _value_of_boolop(context, node, [result, *parts[conditions:]], is_and)


def _value_of_boolop(context: Context, node: ast.BoolOp, parts: list[Typed], is_and: bool) -> Typed:
    """``a or b`` on numbers gives one of the operands: a later one where those before it do not tell."""
    kind: Kind = types.plain(parts[0].kind)
    for part in parts[1:]:
        kind = types.unify(kind, types.plain(part.kind))
    if not isinstance(kind, Scalar):
        context.fail(
            node, "operand-type", operator="and" if is_and else "or", got=tuple(p.kind.name for p in parts)
        )
    first, code = parts[0].run, kind.code
    runs = [arithmetic.convert(part, code) for part in parts[1:]]

    def run(fr: Any, m: Any) -> Any:
        value = first(fr, m)
        condition, value = as_condition(value), cast(value, code)
        for following in runs:
            value = _one_or_other(fr, m, condition, value, following, is_and)
            condition = as_condition(value)
        return value

    return Typed(kind, run)


def _one_or_other(fr: Any, m: Any, condition: Any, value: Any, following: Run, is_and: bool) -> Any:
    """``value``, or what follows it: that is evaluated by those threads alone that come to it."""
    if type(condition) is bool:
        return following(fr, m) if condition is is_and else value
    plain = strip(condition)
    yes, no = fr.mc.split(m, plain)
    rest = yes if is_and else no
    if rest is not None and not hasattr(rest, "array"):
        return join(value, condition)
    other = following(fr, rest)
    return join(select(plain, *((other, value) if is_and else (value, other))), condition)


def _on_some_paths(context: Context, node: ast.expr) -> Typed:
    """An expression that not all threads evaluate: what ``:=`` sets in it keeps its type for the others."""
    before = dict(context.kinds)
    made = expressions.expression(context, node)
    for part in ast.walk(node):
        if isinstance(part, ast.NamedExpr) and part.target.id in before:
            name = part.target.id
            if types.plain(before[name]) != types.plain(context.kinds[name]):
                context.unsupported(part, "walrus-of-another-type")
            context.kinds[name] = types.plain(before[name])
    return made


def _touches(node: ast.expr) -> bool:
    """Whether evaluating the expression may touch memory or act, so that it must be narrowed."""
    return any(isinstance(part, ast.Subscript | ast.Call | ast.NamedExpr) for part in ast.walk(node))


def comparison(context: Context, node: ast.Compare) -> Typed:
    """``a < b``, chained ones too, ``x in (...)``, ``x is None``."""
    operands = [expressions.sequence(context, part) for part in (node.left, *node.comparators)]
    if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        return _membership(context, node, operands)
    if all(isinstance(operand.kind, types.Space) for operand in operands):
        context.unsupported(node, "comparison-of-types")
    if any(operand.kind == types.NONE for operand in operands):
        return _compare_none(context, node, operands)
    return _chain(context, node, operands)


def _membership(context: Context, node: ast.Compare, operands: list[Typed]) -> Typed:
    """``x in (1, 2, 4)``: equal to one of a tuple's items."""
    if len(operands) != 2 or not isinstance(operands[1].kind, Tuple):
        context.unsupported(node, "in")
    found = Typed(types.BOOL, lambda fr, m: False)
    for item in parts_of(operands[1]):
        link = arithmetic.binary(context, node, ast.Eq(), operands[0], item)
        found = conjunction(found, link, False, False)
    return negation(found) if isinstance(node.ops[0], ast.NotIn) else found


def _compare_none(context: Context, node: ast.Compare, operands: list[Typed]) -> Typed:
    same = all(operand.kind == types.NONE for operand in operands)
    known = same == isinstance(node.ops[0], ast.Is | ast.Eq)
    return Typed(types.BOOL, lambda fr, m: known)


def conditional(context: Context, node: ast.IfExp) -> Typed:
    """``a if test else b``: each side is evaluated for the threads that take it."""
    taken = decided(context, node.test)
    if taken is not None:
        return expressions.expression(context, node.body if taken else node.orelse)
    test = expressions.expression(context, node.test)
    outer, context.guard = context.guard, node.test
    yes, no = _on_some_paths(context, node.body), _on_some_paths(context, node.orelse)
    context.guard = outer
    kind = types.unify(types.plain(yes.kind), types.plain(no.kind))
    if isinstance(kind, Clash) and types.NONE in (yes.kind, no.kind):
        context.unsupported(node, "none-or-value")
    if isinstance(kind, Clash):
        context.fail(node, "no-common-type", got=(yes.kind.name, no.kind.name))
    condition, site = test.run, context.site(node.test)
    if not isinstance(kind, Scalar):
        return Typed(kind, _choose_whole(context, node, condition, yes, no))
    code = kind.code
    first, second = arithmetic.convert(yes, code), arithmetic.convert(no, code)

    def run(fr: Any, m: Any) -> Any:
        chosen = as_condition(condition(fr, m))
        if type(chosen) is bool:
            return first(fr, m) if chosen else second(fr, m)
        plain = expressions.decide(fr, chosen, m)
        taken, other = fr.mc.split(m, plain)
        if taken is not None and not hasattr(taken, "array"):
            return second(fr, m)
        if other is not None and not hasattr(other, "array"):
            return first(fr, m)
        for part in (taken, other):
            if part is not None and part.origin is None:
                part.origin = site
        return select(plain, first(fr, taken), second(fr, other))

    return Typed(kind, run)


def _choose_whole(context: Context, node: ast.IfExp, condition: Any, yes: Typed, no: Typed) -> Any:
    """A conditional expression over arrays or tuples: only one that is the same for all threads."""
    site = context.site(node)

    def run(fr: Any, m: Any) -> Any:
        chosen = as_condition(condition(fr, m))
        if type(chosen) is not bool:
            facts = {"construct": "array-per-thread"}
            raise Stop(Finding("unsupported-construct", "error", primary=site.span, facts=facts))
        return (yes if chosen else no).run(fr, m)

    return run
