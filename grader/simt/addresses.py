"""From indices to an address, with every check a device does not make."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Severity, Slot
from grader.simt import affine
from grader.simt.affine import Affine
from grader.simt.evidence import Entry, Site, count, first_thread, loops_at
from grader.simt.machine import Machine
from grader.simt.mask import Active
from grader.simt.memory import Address, View, inside
from grader.simt.race import READ
from grader.simt.values import Tainted, Value, strip

Bools = npt.NDArray[np.bool_]
MAX_HARMLESS = 4096
_FAR = 1 << 40


def locate(
    mc: Machine, active: Active, view: View, dims: list[Value], site: Site, kind: int
) -> tuple[Address, Bools | None, tuple[Value, ...]]:
    """The flat address of an element, which threads' addresses exist, and the cleaned indices.

    Signed negative indices wrap once, as numba compiles them. An index beyond its dimension is
    reported and, memory being flat, goes on to whatever lies there. The second result is None
    where the address of every thread of ``active`` lies within the allocation.
    """
    address: Any = view.base
    clean = []
    bounded = True
    for dim, given in enumerate(dims):
        index, size = given, view.shape[dim]
        kind_of = type(index)
        if kind_of is int:
            if not 0 <= index < size:
                index, bounded = _fix(mc, active, view, dims, dim, site, kind), False
        elif kind_of is Affine:
            low, high = index.bounds()
            if low < 0 or high >= size:
                index = _fix(mc, active, view, dims, dim, site, kind)
                bounded = bounded and known_harmless(mc, active, given, size)
        else:
            index, bounded = _fix(mc, active, view, dims, dim, site, kind), False
        clean.append(index)
        address = _advance(address, index, view.strides[dim])
    if bounded and active is not None and type(address) is Affine and _lies_inside(mc, view):
        return address, None, tuple(clean)
    address, valid = _within(mc, address, view)
    return address, valid, tuple(clean)


def bounded(mc: Machine, active: Active, view: View, dims: tuple[Value, ...]) -> bool:
    """Whether linear indices stay within their dimensions for all threads of ``active``."""
    for index, size in zip(dims, view.shape, strict=True):
        if type(index) is int:
            if not 0 <= index < size:
                return False
        elif type(index) is Affine:
            low, high = index.bounds()
            if (low < 0 or high >= size) and not known_harmless(mc, active, index, size):
                return False
        else:
            return False
    return True


def own_part(mc: Machine, view: View, address: Address) -> bool:
    """Whether all threads' addresses, of ``active`` or not, lie where the view's memory is."""
    return _within(mc, address, view)[1] is None


def known_harmless(mc: Machine, active: Active, index: Any, size: int) -> bool:
    """Whether an index was found to stay within a dimension for all threads of ``active``."""
    key = (id(active), index.base, index.coefs, size)
    return key in mc.harmless and mc.harmless[key] is active


def _lies_inside(mc: Machine, view: View) -> bool:
    """Whether a view's own elements all lie within its buffer (for shared memory, the block's part)."""
    start = view.base
    if view.buffer.space == "shared":
        number = mc.chunk.block_number
        start = affine.subtract(
            start, affine.scale(number, view.buffer.pitch) if type(number) is Affine else 0
        )
    if type(start) is not int or view.buffer.space == "local":
        return False
    low = high = start
    for stride, size in zip(view.strides, view.shape, strict=True):
        low += min(0, stride * (size - 1))
        high += max(0, stride * (size - 1))
    return low >= 0 and high < view.buffer.words


def _advance(address: Any, index: Any, stride: int) -> Any:
    if isinstance(index, np.ndarray) or isinstance(address, np.ndarray):
        base = address.array() if isinstance(address, Affine) else address
        step = index.array() if isinstance(index, Affine) else index
        return base + step * stride
    step = index * stride if type(index) is int else affine.scale(index, stride)
    return affine.add(address, step)


def _within(mc: Machine, address: Any, view: View) -> tuple[Address, Bools | None]:
    """Which addresses lie within the allocation: for shared and local memory, the thread's own part."""
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
    start = affine.scale(number, buffer.pitch) if type(number) is Affine else 0
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
    key: Any = None
    if type(index) is Affine:
        key = (id(active), index.base, index.coefs, size)
        if known_harmless(mc, active, index, size):
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
        if len(mc.harmless) > MAX_HARMLESS:
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
    """Report an index out of range; shown is one that lands on another element, if there is one.

    Past the end of a row the store or load goes to the next row and does its damage quietly, which
    is what a reader has to see first.
    """
    name = "out-of-bounds-read" if kind == READ else "out-of-bounds-write"
    key = (name, site.ident)
    threads = count(mask, mc.chunk)
    known = mc.ledger.entries.get(key)
    if known is not None:
        mc.ledger.seen(*key, accesses=threads)
        if known.facts["inside_allocation"]:
            return
    entry = _entry(mc, name, "error", site, view, dims, first_thread(mask, mc.chunk))
    entry.counts = {"threads": threads, "accesses": threads} if known is None else known.counts
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
    if known is None or lands:
        mc.ledger.entries[key] = entry


def _entry(
    mc: Machine, name: str, severity: Severity, site: Site, view: View, dims: list[Value], flat: int
) -> Entry:
    index = tuple(int(mc.chunk.at(strip(part), flat)) for part in dims)  # type: ignore[call-overload]
    entry = Entry(name, severity, site.span, site.guard)
    entry.threads = (mc.chunk.thread(flat),)
    entry.slot = Slot(view.name, view.buffer.space, index)  # type: ignore[arg-type]
    entry.loops = loops_at(mc.loops, mc.chunk, flat)
    return entry
