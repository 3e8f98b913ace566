"""Linear forms alone show that an interval has no conflict: no look at a word is needed."""

from __future__ import annotations

import math
from typing import Any

from grader.simt.affine import Affine
from grader.simt.geometry import Chunk
from grader.simt.race import READ, Access, Log
from grader.simt.race_sweep import Sweep


def plainly_free(log: Log, chunk: Chunk) -> bool:
    """Whether linear forms alone show that no two threads of a block share a word."""
    if log.folded is not None or any(isinstance(one, Sweep) and one.stores for one in log.raw):
        return False
    if log.swept:
        # Sweeps that stay clear of all writes need no look at their iterations.
        rest = [access for access in log.raw if isinstance(access, Access)]
        sweeps = [access for access in log.raw if isinstance(access, Sweep)]
        return _clear(sweeps, [*log.settled, *rest], log, chunk) and _free([*log.settled, *rest], log, chunk)
    return _free([*log.settled, *log.accesses], log, chunk)


def _clear(sweeps: list[Sweep], accesses: list[Access], log: Log, chunk: Chunk) -> bool:
    """Whether no write meets the words of a swept loop."""
    shared = log.buffer.space == "shared"
    writes = []
    for access in accesses:
        if type(access.address) is not Affine:
            return False
        if access.kind != READ:
            writes.append(_span_of(access.address, chunk, shared))
    for sweep in sweeps:
        low, high = _span_of(sweep.address, chunk, shared)
        reach = sweep.step * (sweep.count - 1)
        low, high = low + min(reach, 0), high + max(reach, 0)
        if any(least <= high and low <= greatest for least, greatest in writes):
            return False
    return True


def _free(accesses: list[Access], log: Log, chunk: Chunk) -> bool:
    groups: dict[tuple[int, tuple[int, ...]], tuple[bool, Access]] = {}
    for access in accesses:
        if type(access.address) is not Affine:
            return False
        key = (access.address.base, access.address.coefs)
        wrote = access.kind != READ or (key in groups and groups[key][0])
        groups[key] = (wrote, access)
    writers = [(key, access) for key, (wrote, access) in groups.items() if wrote]
    if len(writers) * len(groups) > 4096:
        return False
    shared = log.buffer.space == "shared"
    for key, access in writers:
        if not one_word_each(access, chunk):
            return False
        low, high = _span_of(access.address, chunk, shared)
        for other, (_, second) in groups.items():
            if other == key:
                continue
            least, greatest = _span_of(second.address, chunk, shared)
            if low <= greatest and least <= high and not apart(access, second):
                return False
    return True


def apart(first: Access, second: Access) -> bool:
    """Whether two accesses' addresses, or some dimension's indices of one array, are never the same.

    They lie in ranges that do not meet, or differ by what no combination of the axes' coefficients
    makes up (the rows ``4 * ty`` and ``4 * ty + 1``, say). Different indices are different words
    only within the array, so both accesses have to stay inside it.
    """
    if _differ(first.address, second.address):
        return True
    view = first.view
    if (view.shape, view.strides, view.base) != (second.view.shape, second.view.strides, second.view.base):
        return False
    if not _mixed_radix(view.strides, view.shape) or not (_stays_inside(first) and _stays_inside(second)):
        return False
    return any(_differ(one, two) for one, two in zip(first.dims, second.dims, strict=True))


def _stays_inside(access: Access) -> bool:
    for dim, size in zip(access.dims, access.view.shape, strict=True):
        if not isinstance(dim, int | Affine):
            return False
        low, high = (dim, dim) if isinstance(dim, int) else dim.bounds()
        if (low < 0 or high >= size) and not access.bounded:
            return False
    return access.valid is None


def _differ(one: Any, two: Any) -> bool:
    low, high = (one, one) if isinstance(one, int) else one.bounds()
    least, greatest = (two, two) if isinstance(two, int) else two.bounds()
    if high < least or greatest < low:
        return True
    coefs = [coef for dim in (one, two) if isinstance(dim, Affine) for coef in dim.coefs]
    bases = [dim if isinstance(dim, int) else dim.base for dim in (one, two)]
    step = math.gcd(*coefs)
    return step > 1 and (bases[0] - bases[1]) % step != 0


def _span_of(address: Any, chunk: Chunk, shared: bool) -> tuple[int, int]:
    """Least and greatest word of a linear address; for shared memory within a block's own stretch."""
    assert isinstance(address, Affine)
    if not shared:
        return address.bounds()
    low = high = address.base
    for coef, extent in list(zip(address.coefs, chunk.shape, strict=True))[chunk.grid_axes :]:
        if coef > 0:
            high += coef * (extent - 1)
        else:
            low += coef * (extent - 1)
    return low, high


def one_word_each(access: Access, chunk: Chunk, whole: bool = False) -> bool:
    """Whether each thread of a block touches a word of its own; with ``whole``, each of the chunk.

    Either the address is a mixed-radix number of the block's axes, or each dimension's index is,
    of axes that no other dimension uses: then different indices are different words, provided that
    all are within the array and that the array's own elements do not overlap.
    """
    first = 0 if whole else chunk.grid_axes
    extents = chunk.shape[first:]
    address = access.address
    assert isinstance(address, Affine)
    if _mixed_radix(address.coefs[first:], extents):
        return True
    view = access.view
    if access.valid is not None or not _mixed_radix(view.strides, view.shape):
        return False
    used: set[int] = set()
    for dim, size in zip(access.dims, view.shape, strict=True):
        if type(dim) is int:
            continue
        if type(dim) is not Affine:
            return False
        low, high = dim.bounds()
        if (low < 0 or high >= size) and not access.bounded:
            return False
        coefs = dim.coefs[first:]
        mine = {axis for axis, coef in enumerate(coefs) if coef}
        if mine & used or not _mixed_radix([coefs[a] for a in mine], [extents[a] for a in mine]):
            return False
        used |= mine
    return all(axis in used for axis, extent in enumerate(extents) if extent > 1)


def _mixed_radix(coefs: Any, extents: Any) -> bool:
    reach = 0
    for coef, extent in sorted(zip(map(abs, coefs), extents, strict=True)):
        if extent > 1:
            if coef <= reach:
                return False
            reach += coef * (extent - 1)
    return True
