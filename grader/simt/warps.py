"""Warp-level operations: shuffles, votes, matches, ``syncwarp``.

Lanes are the threads of a block in linear order, a warp's worth at a time. A lane that does not
take part (it is masked off, has returned, or is beyond the block) has no value to give: reading
from it is reported. So are a lane that calls and is not in the mask, and one that is in the mask,
has not returned, and does not call: CUDA leaves undefined what the operation does then.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt import arithmetic, expressions, values, whole_numbers
from grader.simt.context import Context, Typed
from grader.simt.evidence import Entry, Site, loops_at
from grader.simt.machine import Machine
from grader.simt.mask import Active, Dead, Mask
from grader.simt.types import BOOL, INT32, NONE, Scalar, Space, Tuple
from grader.simt.values import as_condition, strip

SHUFFLES = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
VOTES = ("all_sync", "any_sync", "eq_sync", "ballot_sync")
UINT32 = Scalar("I")


class Lanes:
    """The chunk's threads laid out as one row of lanes for each warp."""

    def __init__(self, mc: Machine, m: Active) -> None:
        self.mc = mc
        self.width = mc.tally.warp
        # A schedule that runs warps one by one has a chunk of one warp.
        self.threads = mc.chunk.threads // mc.chunk.blocks
        self.rows = -(-self.threads // self.width)
        active = np.ones(mc.chunk.shape, bool) if m is None else np.broadcast_to(m.array, mc.chunk.shape)
        self.active = self.spread(active, False)
        live = mc.live
        gone = isinstance(live, Dead)
        self.live = self.spread(
            live.array if isinstance(live, Mask) else np.full(mc.chunk.shape, not gone), False
        )

    def spread(self, value: Any, filler: Any) -> npt.NDArray[Any]:
        """(blocks, warps, lanes) of a value, lanes beyond the block filled up."""
        full = np.broadcast_to(np.asarray(value), self.mc.chunk.shape).reshape(self.mc.chunk.blocks, -1)
        lack = self.rows * self.width - full.shape[1]
        if lack:
            full = np.concatenate([full, np.full((len(full), lack), filler, full.dtype)], axis=1)
        return full.reshape(len(full), self.rows, self.width)

    def gather(self, lanes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Back to the chunk's shape."""
        flat = lanes.reshape(len(lanes), -1)[:, : self.threads]
        return np.ascontiguousarray(flat).reshape(self.mc.chunk.shape)


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
        _check_members(fr.mc, site, lanes, lanes.spread(np.asarray(mask, np.int64), 0), source)
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


def _check_members(
    mc: Machine,
    site: Site,
    lanes: Lanes,
    members: npt.NDArray[Any],
    source: npt.NDArray[Any] | None = None,
) -> None:
    """What a mask and those that call with it do not agree on; ``source`` is where each lane reads."""
    own = np.arange(lanes.width)
    bits = (members >> own) & 1 == 1
    named = np.bitwise_or.reduce(np.where(lanes.active, members, 0), axis=2, keepdims=True)
    away = lanes.live & ~lanes.active & ((named >> own) & 1 == 1)
    found = [("lane-not-in-mask", lanes.active & ~bits), ("inactive-lane-in-mask", away)]
    if source is not None:
        there = np.take_along_axis(lanes.active, source, axis=2)
        found.insert(0, ("shuffle-from-inactive-lane", lanes.active & ~there))
    for name, wrong in found:
        if not wrong.any() or mc.ledger.seen(name, site.ident):
            continue
        flat = int(np.argmax(lanes.gather(wrong)))
        entry = Entry(name, "error", site.span, site.guard)
        entry.threads = (mc.chunk.thread(flat),)
        entry.loops = loops_at(mc.loops, mc.chunk, flat)
        entry.counts = {"threads": int(np.count_nonzero(wrong))}
        lane = own if source is None or name == "inactive-lane-in-mask" else source
        entry.facts = {"lane": int(lanes.gather(np.broadcast_to(lane, wrong.shape)).ravel()[flat])}
        mc.ledger.add((name, site.ident), entry)


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
        _check_members(fr.mc, site, lanes, lanes.spread(np.asarray(strip(named(fr, m)), np.int64), 0))
        true = lanes.spread(np.asarray(strip(as_condition(run(fr, m)))), False) & lanes.active
        return lanes.gather(np.broadcast_to(_count(name, true, lanes), true.shape))

    return Typed(UINT32 if name == "ballot_sync" else BOOL, execute)


def _count(name: str, true: npt.NDArray[Any], lanes: Lanes) -> npt.NDArray[Any]:
    some: npt.NDArray[Any] = np.asarray(true.any(axis=2, keepdims=True))
    every: npt.NDArray[Any] = np.asarray((true | ~lanes.active).all(axis=2, keepdims=True))
    if name == "any_sync":
        return some
    if name == "all_sync":
        return every
    if name == "eq_sync":
        same: npt.NDArray[Any] = np.logical_or(every, ~some)
        return same
    weights = np.left_shift(np.int64(1), np.arange(lanes.width))
    ballot: npt.NDArray[Any] = (true * weights).sum(axis=2, keepdims=True).astype(np.uint32)
    return ballot


def match(context: Context, node: ast.Call) -> Typed:
    """``cuda.match_any_sync`` and ``match_all_sync``: the lanes that hold the same value."""
    name = _name(context, node)
    members, value = _arguments(context, node, 2)
    assert isinstance(value.kind, Scalar)
    run = arithmetic.convert(value, "q" if value.kind.literal is not None else value.kind.code)
    named, site = arithmetic.convert(members, "q"), context.site(node)

    def execute(fr: Any, m: Any) -> Any:
        lanes = Lanes(fr.mc, m)
        _check_members(fr.mc, site, lanes, lanes.spread(np.asarray(strip(named(fr, m)), np.int64), 0))
        data = lanes.spread(np.asarray(strip(run(fr, m))), 0)
        same = (data[..., :, None] == data[..., None, :]) & lanes.active[..., None, :]
        weights = np.left_shift(np.int64(1), np.arange(lanes.width))
        masks = (same * weights).sum(axis=3).astype(np.uint32)
        if name == "match_any_sync":
            return lanes.gather(masks)
        whole = (lanes.active * weights).sum(axis=2, keepdims=True).astype(np.uint32)
        agree = (masks == whole) | ~lanes.active
        every = np.broadcast_to(agree.all(axis=2, keepdims=True), masks.shape)
        return (lanes.gather(np.where(every, masks, np.uint32(0))), lanes.gather(every))

    return Typed(UINT32 if name == "match_any_sync" else Tuple((UINT32, BOOL)), execute)


def activemask(context: Context, node: ast.Call) -> Typed:
    """``cuda.activemask()``: the lanes of the warp that run this statement together."""

    def execute(fr: Any, m: Any) -> Any:
        lanes = Lanes(fr.mc, m)
        return lanes.gather(np.broadcast_to(_count("ballot_sync", lanes.active, lanes), lanes.active.shape))

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
    for item in node.args:
        expressions.expression(context, item)
    return Typed(NONE, lambda fr, m: fr.mc.settle_warps(m))


__all__ = ["INT32", "activemask", "lanemask_lt", "match", "shuffle", "syncwarp", "vote"]
