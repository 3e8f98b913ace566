"""Loads and stores: what each tells the race log, the tally and the taint trail."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Finding
from grader.simt.addresses import locate
from grader.simt.affine import Affine
from grader.simt.elements import gather, put, scalar
from grader.simt.evidence import Site, freeze
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active
from grader.simt.memory import Address, View
from grader.simt.race import READ, WRITE
from grader.simt.taint import Skip
from grader.simt.tally import LOAD, STORE
from grader.simt.values import STALE, UNDEFINED, Tainted, Value, strip, taint_of

Bools = npt.NDArray[np.bool_]
MAX_PLACES = 4096


def load(mc: Machine, active: Active, view: View, dims: list[Value], site: Site) -> Value:
    """The element that each thread reads.

    The result may be a view of the memory itself: whoever keeps it beyond the statement copies it.
    """
    buffer = view.buffer
    key = _key(site, dims)
    place = mc.located.get(key)
    if place is None or place.view is not view:
        address, valid, clean = locate(mc, active, view, dims, site, READ)
        place = Place(view, address, valid, clean, gather(buffer.data, address, valid, view.code))
        if key is not None and valid is None and type(address) is Affine and _in_bounds(view, dims):
            if len(mc.located) > MAX_PLACES:
                mc.located.clear()
            mc.located[key] = place
    address, valid = place.address, place.valid
    if buffer.shadowed:
        full = buffer.log.add(READ, site, view, address, place.dims, active, valid, mc.loops, None)
        if full:
            mc.fold(buffer.log)
    mc.tally.access(site, LOAD, address, active, valid)
    if mc.observers:
        mc.show("load", site, view, address, active, place.value)
    if buffer.dirty and buffer.taint is not None:
        taint = gather(buffer.taint, address, valid, "")
        if np.any(taint):
            taint = np.array(taint)  # a copy: the memory's own taint changes under a kept value
            taint = taint.reshape((1,) * (len(mc.chunk.shape) - taint.ndim) + taint.shape)
            mc.trail.read(site, view, taint, active, address, mc.loops)
            return Tainted(place.value, taint)
    return place.value


class Place:
    """Where an access goes. ``value`` is the memory there, a live view for a linear address."""

    __slots__ = ("address", "dims", "valid", "value", "view")

    def __init__(
        self, view: View, address: Address, valid: Bools | None, dims: tuple[Value, ...], value: Any
    ) -> None:
        self.view = view
        self.address = address
        self.valid = valid
        self.dims = dims
        self.value = value


def _key(site: Site, dims: list[Value]) -> tuple[Any, ...] | None:
    """A key under which a load of linear indices finds its address again in the next iteration."""
    parts: list[Any] = [site.ident]
    for index in dims:
        if type(index) is int:
            parts.append(index)
        elif type(index) is Affine:
            parts.append(index.base)
            parts.append(index.coefs)
        else:
            return None
    return tuple(parts)


def _in_bounds(view: View, dims: list[Value]) -> bool:
    """Whether no thread of the chunk, masked or not, is out of range: then no mask needs a look."""
    for index, size in zip(dims, view.shape, strict=True):
        low, high = (index, index) if type(index) is int else index.bounds()
        if low < 0 or high >= size:
            return False
    return True


def store(mc: Machine, active: Active, view: View, dims: list[Value], value: Value, site: Site) -> None:
    """Write ``value``, already of the array's type, for the threads of ``active``."""
    address, valid, clean = locate(mc, active, view, dims, site, WRITE)
    buffer = view.buffer
    if buffer.shadowed:
        full = buffer.log.add(WRITE, site, view, address, clean, active, valid, mc.loops, value)
        if full:
            mc.fold(buffer.log)
    mc.tally.access(site, STORE, address, active, valid)
    if mc.observers:
        mc.show("store", site, view, address, active, value)
    where = _where(active, valid)
    taint = taint_of(value)
    put(mc, buffer.data, address, where, strip(value))
    if buffer.space == "global":
        written = mc.written[id(buffer)]
        put(mc, written, address, where, True)
        _note_reach(mc, view, clean)
        if taint is not None:
            mc.trail.reach(taint, active, "output")
        return
    if buffer.stamp is not None:
        put(mc, buffer.stamp, address, where, mc.interval)
        mc.trail.rounds[mc.interval] = freeze(mc.loops)
    if buffer.dirty or taint is not None:
        buffer.dirty = True
        put(mc, buffer.taint, address, where, np.uint8(0) if taint is None else taint)
    if active is not None and site.guard is not None:
        _mark_skipped(mc, active, view, address, valid, site)


def _where(active: Active, valid: Bools | None) -> Bools | None:
    if active is None:
        return valid
    return active.array if valid is None else active.array & valid


def _note_reach(mc: Machine, view: View, dims: tuple[Value, ...]) -> None:
    """Keep the greatest index that any thread, masked or not, computes along each axis."""
    known = mc.reached.setdefault(id(view), [-1] * len(view.shape))
    for dim, index in enumerate(dims):
        if type(index) is int:
            high = index
        elif type(index) is Affine:
            high = index.bounds()[1]
        else:
            high = int(np.max(index)) if np.size(index) else -1
            mc.indirect.add((id(view), dim))
        known[dim] = max(known[dim], high)


def _mark_skipped(
    mc: Machine, active: Any, view: View, address: Address, valid: Bools | None, site: Site
) -> None:
    """Words that a guarded store left out although its siblings were rewritten: stale from now on.

    Only words that hold an older value: one written in this interval (zeroed first, say) is fresh,
    and one never written is undefined as it is. A word read and modified in place never counts.
    """
    buffer = view.buffer
    grid_axes = mc.chunk.grid_axes
    if type(address) is int or (type(address) is Affine and not any(address.coefs[grid_axes:])):
        return  # one word for the whole block: whoever skipped it had no word of its own to leave out
    skipped = ~active.array
    live = mc.live
    if live is not None and hasattr(live, "array"):
        skipped = skipped & live.array
    block_axes = tuple(range(grid_axes, len(mc.chunk.shape)))
    some = active.array.any(axis=block_axes, keepdims=True)
    skipped = skipped & some
    if not skipped.any():
        return
    full = np.broadcast_to(skipped, mc.chunk.shape).reshape(mc.chunk.blocks, -1)
    mc.trail.skipped(view.name, Skip(site, full.sum(axis=1)))
    if site.update >= 0 or buffer.stamp is None or buffer.taint is None or valid is not None:
        return
    stamp, taint = gather(buffer.stamp, address, None, ""), gather(buffer.taint, address, None, "")
    old = skipped & (np.asarray(stamp) != mc.interval) & ((np.asarray(taint) & UNDEFINED) == 0)
    old = old & (np.asarray(stamp) > 0)
    if old.any():
        put(mc, buffer.taint, address, old, np.uint8(STALE))
        buffer.dirty = True


def refuse(finding: Finding) -> Stop:
    """A :class:`Stop` with the finding, to be raised."""
    return Stop(finding)


__all__ = ["load", "locate", "put", "refuse", "scalar", "store"]
