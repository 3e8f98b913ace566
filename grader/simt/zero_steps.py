"""A range whose step is 0: the compiled kernel checks for it and ends the thread, as ``raise`` does."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.simt import affine, branches, expressions, values
from grader.simt.affine import Affine
from grader.simt.context import Context, Frame
from grader.simt.evidence import Entry, Site, count, first_thread, loops_at
from grader.simt.machine import Stop
from grader.simt.mask import DEAD, Active, Dead, State
from grader.simt.values import Tainted

__all__ = ["ending_zero_steps", "may_step_by_zero"]


def may_step_by_zero(context: Context, node: ast.AST) -> bool:
    """Whether this is a loop over a range, and the text alone does not show that its step is other than 0."""
    match node:
        case ast.For(iter=ast.Call(args=[_, _, step])):
            return _plain_number(context, step) in (None, 0)
    return False


def _plain_number(context: Context, node: ast.expr) -> int | None:
    """The number that a literal, or a constant of the module, stands for."""
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _plain_number(context, operand)
            return None if number is None else -number
        case ast.Name(id=name) if name not in context.locals and name not in context.parameters:
            held: Any = next((scope[name] for scope in context.function.scopes if name in scope), None)
            return held if type(held) is int else None
    return None


def ending_zero_steps(fr: Frame, m: Active, step: Any, site: Site, is_device: bool) -> State:
    """The threads whose step is not 0; the others end here, with a ``zero-step``.

    In a device function the whole launch ends: its caller's masks do not know of threads that end inside.
    """
    value = step.value if type(step) is Tainted else step
    if type(value) in (int, Affine):
        zero: Any = affine.compare("eq", value, 0)
    else:
        zero = np.equal(values.numeric(value), 0)
    if type(zero) is bool and not zero:
        return m
    ended: State = m
    others: State = DEAD
    if type(zero) is not bool:
        ended, others = fr.mc.split(m, expressions.decide(fr, zero, m))
    if type(ended) is Dead:
        return m
    entry = _entry(fr, ended, site)  # type: ignore[arg-type]
    if is_device:
        raise Stop(entry.finding())
    if not fr.mc.ledger.seen("zero-step", site.ident, **entry.counts):
        fr.mc.ledger.add(("zero-step", site.ident), entry)
    branches.leave(fr, ended, site)  # type: ignore[arg-type]
    return others


def _entry(fr: Frame, m: Active, site: Site) -> Entry:
    mc, mask = fr.mc, None if m is None else m.array
    flat = 0 if mask is None else first_thread(mask, mc.chunk)
    entry = Entry("zero-step", "error", site.span, threads=(mc.chunk.thread(flat),))
    entry.counts, entry.loops = {"threads": count(mask, mc.chunk)}, loops_at(mc.loops, mc.chunk, flat)
    return entry
