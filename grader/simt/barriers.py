"""Barriers: who arrives, who does not, and what a barrier interval ends for."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.records import Finding, Span
from grader.simt import arithmetic, expressions, types
from grader.simt.context import Context, Typed
from grader.simt.evidence import Entry, Site, loops_at
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active, Mask
from grader.simt.schedule import Votes
from grader.simt.types import INT32, NONE, Scalar, Space
from grader.simt.values import as_condition, strip


def syncthreads(context: Context, node: ast.Call) -> Typed:
    """``cuda.syncthreads()``."""
    if node.args or node.keywords:
        context.fail(node, "argument-count", name="cuda.syncthreads", got=len(node.args), wanted=0)
    site = context.site(node)
    return Typed(NONE, lambda fr, m: synchronise(fr.mc, m, site))


def synchronise(mc: Machine, m: Active, site: Site) -> None:
    """The threads of ``m`` reach a barrier: check that their blocks are complete, end the interval."""
    if mc.baton is not None:
        mc.baton.wait(mc.warp_number)
        return
    mc.tally.counters.barriers += 1
    if mc.observers:
        mc.arrive(m, site)
    live = mc.live
    if m is None and live is None:
        mc.settle(None)
        return
    if m is live or (isinstance(m, Mask) and isinstance(live, Mask) and _same(mc, m, live)):
        _note_exits(mc, site)
        mc.settle(None)
        return
    arrived = mc.chunk.by_block(None if m is None else m.array)
    alive = mc.chunk.by_block(None if live is None else live.array)  # type: ignore[union-attr]
    partial = (arrived > 0) & (arrived < alive)
    if partial.any():
        _report_divergence(mc, m, site, arrived, alive, partial)
    _note_exits(mc, site)
    mc.settle(_of_blocks(mc, arrived > 0))


def refuse(construct: str, where: Span) -> Stop:
    """A :class:`Stop` for a barrier that the warp-by-warp schedule does not follow."""
    return Stop(Finding("unsupported-construct", "error", where, facts={"construct": construct}))


def _same(mc: Machine, m: Mask, live: Mask) -> bool:
    found = mc.same_masks.get((id(m), id(live)))
    if found is None:
        found = bool((m.array == live.array).all())
        if len(mc.kept_masks) > MAX_KEPT_MASKS:
            mc.same_masks.clear()
            mc.kept_masks.clear()
        mc.same_masks[(id(m), id(live))] = found
        mc.kept_masks.append((m, live))
    return found


def _of_blocks(mc: Machine, chosen: Any) -> Any:
    """A bool array of the chunk's shape: the threads of the chosen blocks; None for all blocks."""
    if chosen.all():
        return None
    axes = mc.chunk.grid_axes
    shape = mc.chunk.shape[:axes] + (1,) * (len(mc.chunk.shape) - axes)
    return np.broadcast_to(chosen.reshape(shape), mc.chunk.shape)


def _report_divergence(mc: Machine, m: Active, site: Site, arrived: Any, alive: Any, partial: Any) -> None:
    blocks = int(partial.sum())
    if mc.ledger.seen("divergent-barrier", site.ident, blocks=blocks):
        return
    block = int(np.argmax(partial))
    size = mc.chunk.geometry.threads_per_block
    here = np.ones(mc.chunk.shape, bool) if m is None else np.broadcast_to(m.array, mc.chunk.shape)
    here = here.reshape(mc.chunk.blocks, -1)[block]
    live = mc.live
    there = np.ones(size, bool)
    if isinstance(live, Mask):
        there = np.broadcast_to(live.array, mc.chunk.shape).reshape(mc.chunk.blocks, -1)[block]
    absent = there & ~here
    origin = _origin(m, mc, block)
    entry = Entry("divergent-barrier", "error", site.span)
    entry.secondary = origin.span if origin is not None else site.guard
    first = block * size + int(np.argmax(here))
    entry.threads = (mc.chunk.thread(first), mc.chunk.thread(block * size + int(np.argmax(absent))))
    entry.loops = loops_at(mc.loops, mc.chunk, first)
    entry.counts = {"arrived": int(arrived[block]), "live": int(alive[block]), "blocks": blocks}
    mc.ledger.add(("divergent-barrier", site.ident), entry)


def _origin(m: Active, mc: Machine, block: int) -> Site | None:
    """The test that first split the block: of the masks that led here, the outermost partial one."""
    found = None
    step = m
    while step is not None:
        row = np.broadcast_to(step.array, mc.chunk.shape).reshape(mc.chunk.blocks, -1)[block]
        if not row.all() and step.origin is not None:
            found = step.origin
        step = step.parent
    return found


def _note_exits(mc: Machine, site: Site) -> None:
    """Threads that returned while others of their block still meet a barrier."""
    for exit_site, mask in mc.exits:
        if mask is None:
            continue
        counts = mc.chunk.by_block(mask.array)
        alive = mc.chunk.by_block(None if mc.live is None else mc.live.array)  # type: ignore[union-attr]
        partial = (counts > 0) & (alive > 0)
        if not partial.any():
            continue
        key = (id(mask), site.ident)
        if key in mc.noted_exits:
            continue
        mc.noted_exits.add(key)
        if mc.ledger.seen("exit-before-barrier", exit_site.ident, blocks=int(partial.sum())):
            continue
        block = int(np.argmax(partial))
        size = mc.chunk.geometry.threads_per_block
        gone = np.broadcast_to(mask.array, mc.chunk.shape).reshape(mc.chunk.blocks, -1)[block]
        left = np.broadcast_to(mc.live.array, mc.chunk.shape).reshape(mc.chunk.blocks, -1)[block]  # type: ignore[union-attr]
        entry = Entry("exit-before-barrier", "warning", exit_site.span, site.span)
        entry.threads = (
            mc.chunk.thread(block * size + int(np.argmax(gone))),
            mc.chunk.thread(block * size + int(np.argmax(left))),
        )
        entry.counts = {"exited": int(counts[block]), "live": int(alive[block]), "blocks": int(partial.sum())}
        mc.ledger.add(("exit-before-barrier", exit_site.ident), entry)


def counting(context: Context, node: ast.Call) -> Typed:
    """``cuda.syncthreads_count(p)``, ``_and``, ``_or``: a barrier that also votes over the block."""
    path = expressions.expression(context, node.func).kind
    name = path.path.rsplit("_", 1)[1] if isinstance(path, Space) else ""
    if len(node.args) != 1 or node.keywords:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=1)
    argument = expressions.expression(context, node.args[0])
    # numba-cuda takes integers alone: a comparison's bool has to go through int().
    if not isinstance(argument.kind, Scalar) or not argument.kind.is_int or argument.kind.code == "?":
        name_of = ast.unparse(node.func)
        context.fail(node.args[0], "argument-type", name=name_of, got=argument.kind.name, wanted="int32")
    run, site = arithmetic.convert(argument, "i"), context.site(node)

    def execute(fr: Any, m: Any) -> Any:
        value = strip(as_condition(run(fr, m)))
        if fr.mc.baton is not None:
            return _vote_of_warps(fr.mc, m, value, name)
        synchronise(fr.mc, m, site)
        return _vote(fr.mc, m, value, name)

    return Typed(INT32, execute)


def _vote(mc: Machine, m: Active, value: Any, name: str) -> Any:
    chunk = mc.chunk
    active = np.ones(chunk.shape, bool) if m is None else np.broadcast_to(m.array, chunk.shape)
    true = np.broadcast_to(np.asarray(value), chunk.shape) & active
    yes = true.reshape(chunk.blocks, -1).sum(axis=1)
    present = active.reshape(chunk.blocks, -1).sum(axis=1)
    result = {"count": yes, "and": (yes == present) & (present > 0), "or": yes > 0}[name].astype(np.int32)
    axes = chunk.grid_axes
    return result.reshape(chunk.shape[:axes] + (1,) * (len(chunk.shape) - axes))


def _vote_of_warps(mc: Machine, m: Active, value: Any, name: str) -> int:
    """The vote where the warps of a block come to the barrier one by one."""
    active = np.ones(mc.chunk.shape, bool) if m is None else np.broadcast_to(m.array, mc.chunk.shape)
    true = np.broadcast_to(np.asarray(value), mc.chunk.shape) & active
    votes = Votes(int(np.count_nonzero(true)), int(np.count_nonzero(active)))
    block: Votes = mc.baton.wait(mc.warp_number, votes)
    return {"count": block.yes, "and": int(block.yes == block.present), "or": int(block.yes > 0)}[name]


MAX_KEPT_MASKS = 256
GRID = "numba.cuda.cg.this_grid()"


def this_grid(context: Context, node: ast.Call) -> Typed:
    """``cuda.cg.this_grid()``: the whole grid, all of whose blocks are resident together."""
    context.kernel.grid_sync = True
    return Typed(Space(GRID), lambda fr, m: None)


def grid_sync(context: Context, node: ast.Call) -> Typed:
    """``grid.sync()``: a barrier of all blocks."""
    site = context.site(node)
    return Typed(INT32, lambda fr, m: _synchronise_grid(fr.mc, m, site))


def _synchronise_grid(mc: Machine, m: Active, site: Site) -> int:
    """The barrier is complete where every thread that has not returned is at it."""
    if mc.baton is not None:
        raise refuse("grid-barrier", site.span)
    if m is not None or mc.live is not None:
        arrived = mc.chunk.by_block(None if m is None else m.array)
        alive = mc.chunk.by_block(None if mc.live is None else mc.live.array)  # type: ignore[union-attr]
        partial = arrived < alive
        if partial.any():
            _report_divergence(mc, m, site, arrived, alive, partial)
    mc.tally.counters.barriers += 1
    mc.settle(None)
    for grid in mc.grids.values():
        grid.finish(mc.ledger)
        grid.reset()
    return 1


__all__ = ["GRID", "counting", "grid_sync", "synchronise", "syncthreads", "this_grid", "types"]
