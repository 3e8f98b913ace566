"""Loads and stores: from indices to addresses, with every check a device does not make."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Finding, Slot
from grader.simt import affine
from grader.simt.affine import Affine
from grader.simt.evidence import Entry, Site, count, first_thread, freeze, loops_at
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active
from grader.simt.memory import Address, View, inside, window
from grader.simt.race import READ, WRITE
from grader.simt.taint import Skip
from grader.simt.tally import LOAD, STORE
from grader.simt.values import STALE, UNDEFINED, Tainted, Value, cast_scalar, strip, taint_of

Bools = npt.NDArray[np.bool_]
_FAR = 1 << 40
MAX_PLACES = 4096


# -- from indices to an address --------------------------------------------------------------------


def locate(
    mc: Machine, active: Active, view: View, dims: list[Value], site: Site, kind: int
) -> tuple[Address, Bools | None, tuple[Value, ...]]:
    """The flat address of an element, which threads' addresses exist, and the cleaned indices.

    Signed negative indices wrap once, as numba compiles them. An index beyond its dimension is
    reported and, memory being flat, goes on to whatever lies there. The second result is None
    where every address lies within the allocation.
    """
    address: Any = view.base
    clean = []
    for dim, index in enumerate(dims):
        size = view.shape[dim]
        kind_of = type(index)
        if kind_of is int:
            if not 0 <= index < size:
                index = _fix(mc, active, view, dims, dim, site, kind)
        elif kind_of is Affine:
            low, high = index.bounds()
            if low < 0 or high >= size:
                index = _fix(mc, active, view, dims, dim, site, kind)
        else:
            index = _fix(mc, active, view, dims, dim, site, kind)
        clean.append(index)
        address = _advance(address, index, view.strides[dim])
    address, valid = _within(mc, address, view)
    return address, valid, tuple(clean)


def _advance(address: Any, index: Any, stride: int) -> Any:
    if isinstance(index, np.ndarray) or isinstance(address, np.ndarray):
        base = address.array() if isinstance(address, Affine) else address
        step = index.array() if isinstance(index, Affine) else index
        return base + step * stride
    step = index * stride if type(index) is int else affine.scale(index, stride)
    return affine.add(address, step)


def _within(mc: Machine, address: Any, view: View) -> tuple[Address, Bools | None]:
    """Which addresses lie within the allocation: the block's own stretch of shared memory, the
    thread's own of local memory.
    """
    buffer = view.buffer
    if buffer.space == "global":
        if type(address) is int:
            good = 0 <= address < buffer.words
            return (address, None) if good else (0, np.zeros((1,) * len(mc.chunk.shape), bool))
        if type(address) is Affine:
            if inside(address, buffer.words):
                return address, None
            address = address.array()
        valid = (address >= 0) & (address < buffer.words)
        return address, None if valid.all() else valid
    number = mc.chunk.block_number if buffer.space == "shared" else mc.chunk.chunk_number
    start = affine.scale(number, buffer.words) if type(number) is Affine else 0
    if not isinstance(address, np.ndarray):
        local = affine.subtract(address, start)
        low, high = (local, local) if isinstance(local, int) else local.bounds()
        if low >= 0 and high < buffer.words:
            return address, None
        address = (
            address.array() if isinstance(address, Affine) else np.full((1,) * len(mc.chunk.shape), address)
        )
    local = address - (start.array() if isinstance(start, Affine) else start)
    valid = (local >= 0) & (local < buffer.words)
    return address, None if valid.all() else valid


def _fix(mc: Machine, active: Active, view: View, dims: list[Value], dim: int, site: Site, kind: int) -> Any:
    """Wrap a negative index and report one that is out of range; gives the index to go on with."""
    index, size = dims[dim], view.shape[dim]
    if type(index) is Tainted:
        mc.trail.reach(index.taint, active, "index")
        index = index.value
        if type(index) is int or type(index) is Affine:
            return _fix(mc, active, view, [*dims[:dim], index, *dims[dim + 1 :]], dim, site, kind)
    if type(index) is Affine:
        key = (id(active), index.base, index.coefs, size)
        if mc.harmless.get(key) is active and key in mc.harmless:
            return index
        values = index.array()
    else:
        values = np.asarray(index).reshape((1,) * (len(mc.chunk.shape) - np.ndim(index)) + np.shape(index))
        if values.dtype == np.uint64:  # unsigned indices do not wrap: a huge one is past every end
            values = np.minimum(values, np.uint64(_FAR))
        if values.dtype != np.int64:
            values = values.astype(np.int64)
    mask = None if active is None else active.array
    negative = _among(values < 0, mask)
    if negative.any():
        if dim not in site.literal_dims:
            _note_negative(mc, view, dims, dim, site, negative)
        values = np.where(values < 0, values + size, values)
        index = values
    bad = _among((values < 0) | (values >= size), mask)
    if bad.any():
        _report_bounds(mc, view, dims, dim, site, bad, kind)
    elif type(index) is Affine:
        if len(mc.harmless) > MAX_PLACES:
            mc.harmless.clear()
        mc.harmless[key] = active
    if np.ndim(dims[dim]) == 0 and values.size == 1 and type(index) is not Affine:
        return int(values.ravel()[0])
    return index if type(index) is Affine else values


def _among(condition: Bools, mask: Bools | None) -> Bools:
    if mask is None or not condition.any():
        return condition
    return condition & mask


def _note_negative(mc: Machine, view: View, dims: list[Value], dim: int, site: Site, mask: Bools) -> None:
    threads = count(mask, mc.chunk)
    if not mc.ledger.seen("negative-index", site.ident, accesses=threads):
        flat = first_thread(mask, mc.chunk)
        entry = _entry(mc, "negative-index", "note", site, view, dims, flat)
        entry.counts = {"threads": threads, "accesses": threads}
        entry.facts = {"axis": dim, "size": view.shape[dim]}
        mc.ledger.add(("negative-index", site.ident), entry)


def _report_bounds(
    mc: Machine, view: View, dims: list[Value], dim: int, site: Site, mask: Bools, kind: int
) -> None:
    name = "out-of-bounds-read" if kind == READ else "out-of-bounds-write"
    threads = count(mask, mc.chunk)
    if mc.ledger.seen(name, site.ident, accesses=threads):
        return
    flat = first_thread(mask, mc.chunk)
    entry = _entry(mc, name, "error", site, view, dims, flat)
    entry.counts = {"threads": threads, "accesses": threads}
    index = entry.slot.index if entry.slot else ()
    word = sum(i * stride for i, stride in zip(index, view.strides, strict=True))
    start = view.base if isinstance(view.base, int) else view.base.base
    lands = 0 <= start + word < view.buffer.words
    entry.facts = {
        "axis": dim,
        "size": view.shape[dim],
        "shape": tuple(view.shape),
        "inside_allocation": lands,
        "aliases": view.index_of(word) if lands and word >= 0 else None,
    }
    mc.ledger.add((name, site.ident), entry)


def _entry(
    mc: Machine, name: str, severity: Any, site: Site, view: View, dims: list[Value], flat: int
) -> Entry:
    index = tuple(int(mc.chunk.at(strip(part), flat)) for part in dims)  # type: ignore[call-overload]
    entry = Entry(name, severity, site.span, site.guard)
    entry.threads = (mc.chunk.thread(flat),)
    entry.slot = Slot(view.name, view.buffer.space, index)  # type: ignore[arg-type]
    entry.loops = loops_at(mc.loops, mc.chunk, flat)
    return entry


# -- loads -----------------------------------------------------------------------------------------


def load(mc: Machine, active: Active, view: View, dims: list[Value], site: Site) -> Value:
    """The element that each thread reads.

    The result may be a view of the memory itself: whoever keeps it beyond the statement copies it.
    """
    buffer = view.buffer
    key = _key(site, dims)
    place = mc.located.get(key)
    if place is None or place.view is not view:
        address, valid, clean = locate(mc, active, view, dims, site, READ)
        place = Place(view, address, valid, clean, _gather(buffer.data, address, valid, view.code))
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
        taint = _gather(buffer.taint, address, valid, "")
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


def _gather(data: npt.NDArray[Any], address: Address, valid: Bools | None, code: str) -> Any:
    kind = type(address)
    if kind is Affine and valid is None:
        return window(data, address)  # type: ignore[arg-type]
    if kind is int:
        if valid is not None or not data.size:
            return cast_scalar(0, code) if code else np.uint8(0)
        return scalar(data[address], code)
    if valid is None:
        return data.take(address)  # type: ignore[arg-type]
    if not data.size:
        return np.zeros(np.shape(address), data.dtype)
    return np.where(valid, data.take(np.where(valid, address, 0)), data.dtype.type(0))


def scalar(value: Any, code: str) -> Any:
    """A NumPy element as a uniform value: Python's int, float and bool where they are as wide."""
    if code == "q":
        return int(value)
    if code == "d":
        return float(value)
    if code == "?":
        return bool(value)
    return int(value) if code and code in "bhiBHIQ" else value


# -- stores ----------------------------------------------------------------------------------------


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


def put(mc: Machine, data: Any, address: Address, where: Bools | None, value: Any) -> None:
    """Write ``value`` at ``address`` for the threads of ``where``; of several on one word, one wins."""
    if where is not None and not where.any():
        return
    kind = type(address)
    if kind is int:
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.reshape(())[()]
        elif isinstance(value, np.ndarray):
            spread = np.broadcast_to(value, mc.chunk.shape)
            value = spread.ravel()[-1] if where is None else spread[np.broadcast_to(where, spread.shape)][-1]
        data[address] = value
        return
    value = np.asarray(value)
    if isinstance(address, Affine) and inside(address, data.size):
        extents = zip(address.coefs, mc.chunk.shape, strict=True)
        shape = tuple([extent if coef else 1 for coef, extent in extents])
        wide = np.broadcast_shapes(shape, value.shape, () if where is None else where.shape)
        np.copyto(
            window(data, address, wide), value, where=True if where is None else where, casting="unsafe"
        )
        return
    spread = address.array() if isinstance(address, Affine) else address
    parts = [spread, value] if where is None else [spread, value, where]
    shape = np.broadcast_shapes(*(np.shape(part) for part in parts))
    spread, value = np.broadcast_to(spread, shape), np.broadcast_to(value, shape)
    if where is not None:
        chosen = np.broadcast_to(where, shape)
        spread, value = spread[chosen], value[chosen]
    data[spread] = value


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
    skipped = ~active.array
    live = mc.live
    if live is not None and hasattr(live, "array"):
        skipped = skipped & live.array
    grid_axes = mc.chunk.grid_axes
    block_axes = tuple(range(grid_axes, len(mc.chunk.shape)))
    some = active.array.any(axis=block_axes, keepdims=True)
    skipped = skipped & some
    if not skipped.any():
        return
    full = np.broadcast_to(skipped, mc.chunk.shape).reshape(mc.chunk.blocks, -1)
    mc.trail.skipped(view.name, Skip(site, full.sum(axis=1)))
    if site.update >= 0 or buffer.stamp is None or buffer.taint is None or valid is not None:
        return
    stamp, taint = _gather(buffer.stamp, address, None, ""), _gather(buffer.taint, address, None, "")
    old = skipped & (np.asarray(stamp) != mc.interval) & ((np.asarray(taint) & UNDEFINED) == 0)
    old = old & (np.asarray(stamp) > 0)
    if old.any():
        put(mc, buffer.taint, address, old, np.uint8(STALE))
        buffer.dirty = True


def refuse(finding: Finding) -> Stop:
    """A :class:`Stop` with the finding, to be raised."""
    return Stop(finding)
