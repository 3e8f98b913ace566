"""Loads and stores: what each tells the race log, the tally and the taint trail."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Finding
from grader.simt.addresses import bounded, locate
from grader.simt.affine import Affine
from grader.simt.aliases import adder, as_bool
from grader.simt.elements import gather, poison, put, scalar
from grader.simt.evidence import Site, freeze
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active
from grader.simt.memory import Address, View
from grader.simt.race import READ, WRITE
from grader.simt.shadows import mark, mark_skipped, read_taint
from grader.simt.tally import LOAD, STORE
from grader.simt.values import UNDEFINED, Tainted, Value, strip, taint_of

Bools = npt.NDArray[np.bool_]
MAX_PLACES = 4096


def load(
    mc: Machine, active: Active, view: View, dims: list[Value], site: Site, counted: bool = True
) -> Value:
    """The element that each thread reads.

    The result may be a view of the memory itself: whoever keeps it beyond the statement copies it.
    ``counted`` is False where the caller counts the request itself.
    """
    buffer = view.buffer
    place = _place(mc, active, view, dims, site, READ)
    address, valid = place.address, place.valid
    if place.value is None:
        place.value = gather(buffer.data, address, valid, view.code)
    if buffer.shadowed:
        add = buffer.log.add if buffer.plain else adder(buffer)
        if add(READ, site, view, address, place.dims, active, valid, mc.loops, None):
            mc.fold(buffer.log)
    if counted:
        mc.ask(site, LOAD, (view, tuple(dims), address), active, valid)
    if mc.observers:
        mc.show("load", site, view, address, active, place.value)
    value = place.value if buffer.plain or view.code != "?" else as_bool(place.value)
    if buffer.dirty and buffer.taint is not None:
        taint = read_taint(mc, active, view, address, valid, site)
        if taint is not None:
            return Tainted(value, taint)
    return value


class Place:
    """Where an access goes. ``value`` is the memory there, once read: a live view for a linear address."""

    __slots__ = ("address", "bounded", "dims", "valid", "value", "view")

    def __init__(
        self, view: View, address: Address, valid: Bools | None, dims: tuple[Value, ...], bounded: bool
    ) -> None:
        self.view = view
        self.address = address
        self.valid = valid
        self.dims = dims
        self.bounded = bounded
        self.value: Any = None


def _place(mc: Machine, active: Active, view: View, dims: list[Value], site: Site, kind: int) -> Place:
    """Where an access goes; found again where linear indices are in bounds whatever the mask."""
    key = _key(site, dims)
    place: Place | None = mc.located.get(key)
    if place is not None and place.view is view:
        return place
    address, valid, clean = locate(mc, active, view, dims, site, kind)
    whole = key is not None and type(address) is Affine and in_bounds(view, dims)
    inside = valid is None and (whole or (kind == WRITE and bounded(mc, active, view, clean)))
    place = Place(view, address, valid, clean, inside)
    if whole and valid is None:
        if len(mc.located) > MAX_PLACES:
            mc.located.clear()
        mc.located[key] = place
    return place


def _key(site: Site, dims: list[Value]) -> tuple[Any, ...] | None:
    """A key under which an access with linear indices finds its address again in the next iteration."""
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


def in_bounds(view: View, dims: list[Value]) -> bool:
    """Whether no thread of the chunk, masked or not, is out of range: then no mask needs a look."""
    for index, size in zip(dims, view.shape, strict=True):
        low, high = (index, index) if type(index) is int else index.bounds()
        if low < 0 or high >= size:
            return False
    return True


def store(
    mc: Machine,
    active: Active,
    view: View,
    dims: list[Value],
    value: Value,
    site: Site,
    counted: bool = True,
    under_way: bool = False,
) -> None:
    """Write ``value``, already of the array's type, for the threads of ``active``.

    ``counted`` is False where the caller counts the request itself. A value that is ``under_way``
    has not arrived: until it is stored once more, what the word holds is undefined.
    """
    place = _place(mc, active, view, dims, site, WRITE)
    address, valid, clean = place.address, place.valid, place.dims
    buffer = view.buffer
    if buffer.shadowed:
        add = buffer.log.add if buffer.plain else adder(buffer)
        if add(WRITE, site, view, address, clean, active, valid, mc.loops, value, place.bounded):
            mc.fold(buffer.log)
    if counted:
        mc.ask(site, STORE, (view, tuple(dims), address), active, valid)
    if mc.observers:
        mc.show("store", site, view, address, active, value)
    where = _where(active, valid)
    if under_way:
        value = Tainted(poison(buffer.data.dtype), np.full((1,) * len(mc.chunk.shape), UNDEFINED, np.uint8))
    taint = taint_of(value)
    put(mc, buffer.data, address, where, strip(value))
    if buffer.space == "global":
        written = mc.written[id(buffer)]
        put(mc, written, address, where, True)
        _note_reach(mc, view, clean)
        if taint is not None:
            mc.trail.reach(taint, active, "output")
        return
    if mc.proxy is not None and buffer.space == "shared" and not under_way:
        mc.proxy.wrote(mc, buffer, address, where)
    if buffer.stamp is not None:
        mark(mc, buffer, buffer.stamp, address, where, mc.interval)
        mc.trail.rounds[mc.interval] = freeze(mc.loops)
    if buffer.taint is not None and (buffer.dirty or taint is not None):
        buffer.dirty = True
        mark(mc, buffer, buffer.taint, address, where, np.uint8(0) if taint is None else taint)
    if active is not None and site.guard is not None and not site.covered:
        mark_skipped(mc, active, view, address, valid, site)


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


def refuse(finding: Finding) -> Stop:
    """A :class:`Stop` with the finding, to be raised."""
    return Stop(finding)


__all__ = ["in_bounds", "load", "locate", "put", "refuse", "scalar", "store"]
