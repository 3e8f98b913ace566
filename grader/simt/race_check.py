"""The end of a barrier interval: dismiss it by linear forms, or check it exactly, word by word."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine
from grader.simt.evidence import Ledger
from grader.simt.geometry import Chunk
from grader.simt.race import ATOMIC, READ, WRITE, Access, Log, limited
from grader.simt.race_report import Found, report
from grader.simt.race_words import (
    STATEMENT_BITS,
    Folded,
    Owners,
    Scope,
    Words,
    conflicts,
    expand,
    expand_all,
    numbered,
)

MAX_DETAILED = 24
ONE_BY_ONE = 1024
WARP = 32


def close(log: Log, chunk: Chunk, ledger: Ledger, passed: npt.NDArray[np.bool_] | None) -> None:
    """End the interval of the blocks in ``passed`` (None: of all): report its conflicts and forget it."""
    if log.writes and not _plainly_free(log, chunk):
        for found in findings(log, chunk):
            report(found, log, chunk, ledger)
    log.drop(passed, chunk)


def fold(log: Log, chunk: Chunk) -> None:
    """Turn the accesses of a long interval into owners by word; the log's memory is bounded so."""
    if log.folded is None:
        log.folded = Folded(log.buffer)
    for words in expand_all([*log.settled, *log.accesses], Scope.of_blocks(chunk, log.buffer)):
        log.folded.add(words)
    log.accesses, log.settled, log.keys, log.held = [], [], set(), 0


def settle_warps(
    log: Log, chunk: Chunk, ledger: Ledger, mask: npt.NDArray[np.bool_] | None, warp: int
) -> None:
    """A ``syncwarp`` by the threads of ``mask``: what came before it is ordered within each warp."""
    if log.writes and log.accesses:
        found = _within_warps(log.accesses, chunk, log, warp)
        if found is not None:
            report(found, log, chunk, ledger)
    if mask is None:
        log.settled, log.accesses = [*log.settled, *log.accesses], []
    else:
        inside = [limited(access, mask, chunk) for access in log.accesses]
        outside = [limited(access, ~mask, chunk) for access in log.accesses]
        log.settled = [*log.settled, *(access for access in inside if access is not None)]
        log.accesses = [access for access in outside if access is not None]
    log.keys = set()


# -- quick dismissal -------------------------------------------------------------------------------


def _plainly_free(log: Log, chunk: Chunk) -> bool:
    """Whether linear forms alone show that no two threads of a block share a word."""
    if log.folded is not None:
        return False
    groups: dict[tuple[int, tuple[int, ...]], tuple[bool, Access]] = {}
    for access in (*log.settled, *log.accesses):
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
        low, high = _span_of(access, chunk, shared)
        for other, (_, second) in groups.items():
            if other == key:
                continue
            least, greatest = _span_of(second, chunk, shared)
            if low <= greatest and least <= high and not _apart(access, second):
                return False
    return True


def _apart(first: Access, second: Access) -> bool:
    """Whether some dimension's indices of two accesses to one array are never the same.

    They lie in ranges that do not meet, or differ by what no combination of the axes' coefficients
    makes up (the rows ``4 * ty`` and ``4 * ty + 1``, say). Different indices are different words
    only within the array, so both accesses have to stay inside it.
    """
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
        if low < 0 or high >= size:
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


def _span_of(access: Access, chunk: Chunk, shared: bool) -> tuple[int, int]:
    """Least and greatest word; for shared memory within a block's own stretch."""
    address = access.address
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


def one_word_each(access: Access, chunk: Chunk) -> bool:
    """Whether each thread of a block touches a word of its own (for all threads of the chunk's shape).

    Either the address is a mixed-radix number of the block's axes, or each dimension's index is,
    of axes that no other dimension uses: then different indices are different words, provided that
    all are within the array and that the array's own elements do not overlap.
    """
    extents = chunk.shape[chunk.grid_axes :]
    address = access.address
    assert isinstance(address, Affine)
    if _mixed_radix(address.coefs[chunk.grid_axes :], extents):
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
        if low < 0 or high >= size:
            return False
        coefs = dim.coefs[chunk.grid_axes :]
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


# -- exact check, word by word ---------------------------------------------------------------------


def findings(log: Log, chunk: Chunk) -> list[Found]:
    """The conflicts of the interval's words, between threads of one block."""
    accesses = (*log.settled, *log.accesses)
    signature = frozenset((access.kind, access.number) for access in accesses)
    if log.detailed.get(signature, 0) >= MAX_DETAILED:
        return []
    scope = Scope.of_blocks(chunk, log.buffer)
    parts = [] if log.folded is None else list(log.folded.kinds.values())
    if len(accesses) <= ONE_BY_ONE:
        parts += [expand(access, scope) for access in accesses]
    else:
        parts += expand_all(list(accesses), scope)
    found = [_conflicting(parts, WARP if log.settled else 1)]
    if log.settled:
        found.append(_within_warps(log.accesses, chunk, log, WARP))
    conflicting = [each for each in found if each is not None]
    if conflicting:
        log.detailed[signature] = log.detailed.get(signature, 0) + 1
    return conflicting


def _conflicting(parts: list[Words], divisor: int) -> Found | None:
    names, places = numbered([part.keys for part in parts])
    owners = {kind: Owners.nobody(names.size) for kind in (READ, WRITE, ATOMIC)}
    values = Owners.nobody(names.size)
    values.greatest[:] = np.iinfo(np.int64).min
    for part, place in zip(parts, places, strict=True):
        owners[part.kind].touch(place, part.low, part.high)
        if part.bits is not None:
            values.touch(place, *part.bits)
    bad = conflicts(*(owners[kind].by(divisor) for kind in (READ, WRITE, ATOMIC)))
    if not bad.any():
        return None
    reduced = []
    for part, place in zip(parts, places, strict=True):
        where = bad[place]
        if where.any():
            reduced.append(part.chosen(where))
    names = names[bad]
    return Found(reduced, names, values.least[bad] < values.greatest[bad], divisor)


def _by_warp(accesses: list[Access], chunk: Chunk, log: Log, warp: int) -> list[Words]:
    """The words of accesses, with a key of its own for each warp that touches a word."""
    scope = Scope.of_blocks(chunk, log.buffer)
    parts = [expand(access, scope, by_thread=True) for access in accesses]
    for words in parts:
        words.keys = words.keys * _warps(chunk, warp) + (words.low >> STATEMENT_BITS) // warp
    return parts


def _warps(chunk: Chunk, warp: int) -> int:
    return -(-chunk.geometry.threads_per_block // warp)


def _within_warps(accesses: list[Access], chunk: Chunk, log: Log, warp: int) -> Found | None:
    """The conflicts between threads of one warp."""
    if not any(access.kind != READ for access in accesses):
        return None
    found = _conflicting(_by_warp(accesses, chunk, log, warp), 1)
    if found is not None:
        found.per_word = _warps(chunk, warp)
    return found
