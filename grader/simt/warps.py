"""Warp-level operations: shuffles, votes, matches, ``syncwarp``.

A lane that does not take part (it is masked off, has returned, or is beyond the block) has no value
to give: reading from it is reported. So are a lane that calls and is not in the mask, and one that is
in the mask, has not returned, and does not call (``lanes.py``): CUDA leaves undefined what the
operation does then.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt import arithmetic, expressions, values, whole_numbers
from grader.simt.context import Context, Typed
from grader.simt.evidence import Site
from grader.simt.lanes import WHOLE, Lanes, Members, Waiting, check
from grader.simt.machine import Machine
from grader.simt.mask import Active
from grader.simt.types import BOOL, INT32, NONE, Scalar, Space, Tuple
from grader.simt.values import as_condition, strip

SHUFFLES = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
VOTES = ("all_sync", "any_sync", "eq_sync", "ballot_sync")
UINT32 = Scalar("I")


def _arguments(context: Context, node: ast.Call, count: int) -> list[Typed]:
    if len(node.args) != count or node.keywords:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=count)
    typed = [expressions.expression(context, item) for item in node.args]
    for part in typed:
        if not isinstance(part.kind, Scalar):
            context.fail(node, "argument-type", name=ast.unparse(node.func), got=part.kind.name)
    return typed


def _name(context: Context, node: ast.Call) -> str:
    kind = expressions.expression(context, node.func).kind
    return kind.path.rsplit(".", 1)[1] if isinstance(kind, Space) else ""


def shuffle(context: Context, node: ast.Call) -> Typed:
    """``cuda.shfl_*_sync(mask, value, lane)``."""
    name = _name(context, node)
    members, value, lane = _arguments(context, node, 3)
    assert isinstance(value.kind, Scalar)
    code = "q" if value.kind.literal is not None else value.kind.code
    if code not in "iqfd":
        name_of = ast.unparse(node.func)
        context.fail(node.args[1], "argument-type", name=name_of, got=value.kind.name, wanted="int32")
    site = context.site(node)
    runs = (arithmetic.convert(members, "q"), arithmetic.convert(value, code), arithmetic.convert(lane, "q"))

    def execute(fr: Any, m: Any) -> Any:
        mask, given, other = (strip(run(fr, m)) for run in runs)
        lanes = Lanes(fr.mc, m)
        source = _source(lanes, name, lanes.spread(np.asarray(other, np.int64), 0))
        check(Members(lanes, mask), site, source)
        data = lanes.spread(np.asarray(given), 0)
        return lanes.gather(np.take_along_axis(data, source, axis=2))

    return Typed(Scalar(code), execute)


def _source(lanes: Lanes, name: str, other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The lane that each lane reads from; its own where the shuffle reaches beyond the warp."""
    own = np.broadcast_to(np.arange(lanes.width), other.shape)
    source: npt.NDArray[Any] = np.mod(own ^ other, lanes.width)
    if name == "shfl_sync":
        source = np.mod(other, lanes.width)
    elif name == "shfl_up_sync":
        source = np.where(own - other >= 0, own - other, own)
    elif name == "shfl_down_sync":
        source = np.where(own + other < lanes.width, own + other, own)
    return source


def vote(context: Context, node: ast.Call) -> Typed:
    """``cuda.all_sync``, ``any_sync``, ``eq_sync`` and ``ballot_sync`` over the lanes that take part."""
    name = _name(context, node)
    members, predicate = _arguments(context, node, 2)
    for part, wanted in ((members, "int"), (predicate, "int, bool")):
        kind = part.kind
        if not isinstance(kind, Scalar) or not kind.is_int or (kind.code == "?" and wanted == "int"):
            context.fail(node, "argument-type", name=ast.unparse(node.func), got=kind.name, wanted=wanted)
    run, named, site = predicate.run, arithmetic.convert(members, "q"), context.site(node)

    def execute(fr: Any, m: Any) -> Any:
        lanes = Lanes(fr.mc, m)
        members = Members(lanes, strip(named(fr, m)))
        check(members, site)
        true = lanes.spread(np.asarray(strip(as_condition(run(fr, m)))), False)
        return lanes.gather(np.broadcast_to(_count(name, true, members.takers()), true.shape))

    return Typed(UINT32 if name == "ballot_sync" else BOOL, execute)


def _count(name: str, true: npt.NDArray[Any], takers: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """(blocks, warps, lanes): what each lane gets of the predicates of those that vote with it."""
    votes = true[..., None, :] & takers
    some: npt.NDArray[Any] = np.asarray(votes.any(axis=3))
    every: npt.NDArray[Any] = np.asarray((votes == takers).all(axis=3))
    if name == "any_sync":
        return some
    if name == "all_sync":
        return every
    if name == "eq_sync":
        same: npt.NDArray[Any] = np.logical_or(every, ~some)
        return same
    return _bits(votes)


def _bits(lanes: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint32]:
    """The lanes of the last axis as a mask, bit i for lane i."""
    weights = np.left_shift(np.int64(1), np.arange(lanes.shape[-1]))
    mask: npt.NDArray[np.uint32] = (lanes * weights).sum(axis=-1).astype(np.uint32)
    return mask


def match(context: Context, node: ast.Call) -> Typed:
    """``cuda.match_any_sync`` and ``match_all_sync``: the lanes that hold the same value."""
    name = _name(context, node)
    members, value = _arguments(context, node, 2)
    assert isinstance(value.kind, Scalar)
    run = arithmetic.convert(value, "q" if value.kind.literal is not None else value.kind.code)
    named, site = arithmetic.convert(members, "q"), context.site(node)

    def execute(fr: Any, m: Any) -> Any:
        lanes = Lanes(fr.mc, m)
        members = Members(lanes, strip(named(fr, m)))
        check(members, site)
        data, takers = lanes.spread(np.asarray(strip(run(fr, m))), 0), members.takers()
        same = (data[..., :, None] == data[..., None, :]) & takers
        masks = _bits(same)
        if name == "match_any_sync":
            return lanes.gather(masks)
        # All hold one value where each lane's likes are all those that take part with it.
        agree = (same == takers).all(axis=3)
        every = np.broadcast_to(agree, masks.shape)
        return (lanes.gather(np.where(every, masks, np.uint32(0))), lanes.gather(every))

    return Typed(UINT32 if name == "match_any_sync" else Tuple((UINT32, BOOL)), execute)


def activemask(context: Context, node: ast.Call) -> Typed:
    """``cuda.activemask()``: the lanes of the warp that run this statement together."""

    def execute(fr: Any, m: Any) -> Any:
        lanes = Lanes(fr.mc, m)
        return lanes.gather(np.broadcast_to(_bits(lanes.active)[..., None], lanes.active.shape))

    return Typed(UINT32, execute)


def lanemask_lt(context: Context, node: ast.Call) -> Typed:
    """``cuda.lanemask_lt()``: the bits below the thread's own lane."""

    def execute(fr: Any, m: Any) -> Any:
        own = whole_numbers.int_remainder(fr.mc.chunk.lane_number, fr.mc.tally.warp)
        return values.cast(
            whole_numbers.int_subtract(whole_numbers.int_shift_left(1, values.numeric(own)), 1), "I"
        )

    return Typed(UINT32, execute)


def syncwarp(context: Context, node: ast.Call) -> Typed:
    """``cuda.syncwarp()``: orders the memory accesses of a warp's lanes, not of a block."""
    if len(node.args) > 1 or node.keywords:
        context.fail(node, "argument-count", name="cuda.syncwarp", got=len(node.args), wanted=1)
    mask: Any = None
    for item in node.args:
        typed = expressions.expression(context, item)
        if not isinstance(typed.kind, Scalar):
            context.fail(item, "argument-type", name="cuda.syncwarp", got=typed.kind.name, wanted="int32")
        mask = arithmetic.convert(typed, "q")
    site = context.site(node)

    def execute(fr: Any, m: Any) -> None:
        named = WHOLE if mask is None else strip(mask(fr, m))
        _meet(fr.mc, m, site, named)
        fr.mc.settle_warps(m)

    return Typed(NONE, execute)


def _meet(mc: Machine, m: Active, site: Site, named: Any) -> None:
    """Lanes come to a ``syncwarp`` with their masks."""
    everybody = m is mc.live and isinstance(named, int) and named & WHOLE == WHOLE
    if everybody and mc.waiting is None:
        return
    members = Members(Lanes(mc, m), named)
    check(members, site, call="syncwarp")
    if mc.waiting is None:
        mc.waiting = Waiting()
    mc.waiting.arrive(members, site)


__all__ = ["INT32", "activemask", "lanemask_lt", "match", "shuffle", "syncwarp", "vote"]
