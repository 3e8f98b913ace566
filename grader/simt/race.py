"""Race detection: two threads, one word, one barrier interval, at least one write, not both atomic.

Accesses of an interval are logged, not looked up word by word: an interval in which an array is
only read, or only written by each thread to a word of its own, is dismissed by comparing a few
linear forms. Only what is left is checked per word, exactly, from the least and greatest thread
that read, wrote and atomically updated it. The result does not depend on any schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from grader.records import Slot
from grader.simt.affine import Affine
from grader.simt.evidence import Entry, Ledger, Site, resolve
from grader.simt.geometry import Chunk
from grader.simt.mask import Active, Mask
from grader.simt.memory import Address, Buffer, View
from grader.simt.values import strip

READ: Final = 0
WRITE: Final = 1
ATOMIC: Final = 2

MAX_PAIRS = 12
MAX_DETAILED = 24
FOLD_AT = 20_000


@dataclass(eq=False, slots=True)
class Access:
    """One logged access: by which threads, to which words, at which values of the loops."""

    order: int
    kind: int
    site: Site
    view: View
    address: Address
    dims: tuple[Any, ...]
    mask: Active
    valid: npt.NDArray[np.bool_] | None
    loops: tuple[tuple[str, Any], ...]
    value: Any

    def active(self) -> npt.NDArray[np.bool_] | None:
        """The threads that really touched memory; None for all of them."""
        if self.mask is None:
            return self.valid
        return self.mask.array if self.valid is None else self.mask.array & self.valid


class Log:
    """The accesses to one buffer in the current barrier interval of its blocks."""

    __slots__ = ("accesses", "buffer", "detailed", "keys", "order", "writes")

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.accesses: list[Access] = []
        self.keys: set[Any] = set()
        self.writes = 0
        self.order = 0
        self.detailed = 0

    def add(
        self,
        kind: int,
        site: Site,
        view: View,
        address: Address,
        dims: tuple[Any, ...],
        mask: Active,
        valid: Any,
        loops: list[list[Any]],
        value: Any,
    ) -> None:
        """Log one access; the same access again within the interval adds nothing."""
        self.order += 1
        if kind == READ:
            where = (address.base, address.coefs) if type(address) is Affine else _identity(address)
            key = (site.ident, where, id(mask))
            if key in self.keys and valid is None:
                return
            self.keys.add(key)
        else:
            self.writes += 1
        frozen = tuple([(name, value) for name, value in loops])
        self.accesses.append(
            Access(self.order, kind, site, view, address, dims, mask, valid, frozen, value)
        )

    def clear(self) -> None:
        self.accesses = []
        self.keys = set()
        self.writes = 0


def _identity(address: Address) -> Any:
    return address if type(address) is int else id(address)


def close(log: Log, chunk: Chunk, ledger: Ledger, passed: npt.NDArray[np.bool_] | None) -> None:
    """End the interval of the blocks in ``passed`` (None: of all): report its conflicts and forget it."""
    if log.writes and not _plainly_free(log, chunk):
        _check(log, chunk, ledger)
    if passed is None:
        log.clear()
        return
    log.accesses = [kept for access in log.accesses if (kept := _outside(access, passed, chunk)) is not None]
    log.keys = set()
    log.writes = sum(access.kind != READ for access in log.accesses)


def _outside(access: Access, passed: npt.NDArray[np.bool_], chunk: Chunk) -> Access | None:
    """The access without the threads of blocks whose interval has ended."""
    still = ~passed if access.mask is None else access.mask.array & ~passed
    if not still.any():
        return None
    access.mask = Mask(np.broadcast_to(still, chunk.shape), None)
    return access


# -- quick dismissal -------------------------------------------------------------------------------


def _plainly_free(log: Log, chunk: Chunk) -> bool:
    """Whether linear forms alone show that no two threads of a block share a word."""
    groups: dict[tuple[int, tuple[int, ...]], tuple[bool, Access]] = {}
    for access in log.accesses:
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
        if not _one_word_each(access, chunk):
            return False
        low, high = _span_of(access, chunk, shared)
        for other, (_, second) in groups.items():
            if other == key:
                continue
            least, greatest = _span_of(second, chunk, shared)
            if low <= greatest and least <= high:
                return False
    return True


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


def _one_word_each(access: Access, chunk: Chunk) -> bool:
    """Whether each thread of a block touches a word of its own (for all threads of the chunk's shape).

    Either the address is a mixed-radix number of the block's axes, or each dimension's index is,
    of axes that no other dimension uses: in bounds, different indices are different words.
    """
    extents = chunk.shape[chunk.grid_axes :]
    address = access.address
    assert isinstance(address, Affine)
    if _mixed_radix(address.coefs[chunk.grid_axes :], extents):
        return True
    if access.valid is not None:
        return False
    used: set[int] = set()
    for dim in access.dims:
        if type(dim) is int:
            continue
        if type(dim) is not Affine:
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


@dataclass(slots=True)
class Owners:
    """For one kind of access: the least and greatest thread that touched each word."""

    least: npt.NDArray[np.int64]
    greatest: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Conflict:
    """One word in conflict: flat position of its block's first thread, word in the buffer, totals."""

    block: int
    word: int
    words: int
    threads: int


def _stride(buffer: Buffer) -> int:
    """How far apart the keys of two blocks' words are."""
    return max(1, buffer.words) if buffer.space == "shared" else buffer.words + 1


def _check(log: Log, chunk: Chunk, ledger: Ledger) -> None:
    """Find the words of the interval that two threads of one block conflict on, and report pairs."""
    if log.detailed >= MAX_DETAILED:
        return
    touched = [(access, *_expand(access, chunk)) for access in log.accesses]
    words, names, touched = _compress(touched)
    owners = [_owners(touched, kind, words) for kind in (READ, WRITE, ATOMIC)]
    bad = conflicts(*owners)
    if not bad.any():
        return
    log.detailed += 1
    stride = _stride(log.buffer)
    threads = _write_counts(touched, bad)
    for word in _samples(np.flatnonzero(bad)):
        block, local = divmod(int(names[word]), stride)
        conflict = Conflict(block * chunk.geometry.threads_per_block, local, int(bad.sum()), threads)
        _report(_hits(touched, word), conflict, chunk, ledger)


def _expand(access: Access, chunk: Chunk) -> tuple[Any, Any, Any, Any]:
    """(key of each touched word, least thread, greatest thread, thread positions) of one access.

    Keys tell the words of different blocks apart. An axis that neither address nor mask varies
    along is not expanded: its threads only widen the range from least to greatest.
    """
    address = access.address
    spread = address.array() if isinstance(address, Affine) else np.asarray(address)
    spread = spread.reshape((1,) * (len(chunk.shape) - spread.ndim) + spread.shape)
    active = access.active()
    shape = spread.shape if active is None else np.broadcast_shapes(spread.shape, active.shape)
    if access.view.buffer.space == "global":
        shape = (*chunk.shape[: chunk.grid_axes], *shape[chunk.grid_axes :])
    lanes = chunk.lane_number
    low = np.zeros((1,) * len(shape), np.int64)
    beyond = 0
    if isinstance(lanes, Affine):
        for axis, coef in enumerate(lanes.coefs):
            if shape[axis] > 1:
                low = low + _along(coef * np.arange(shape[axis]), axis, len(shape))
            elif axis >= chunk.grid_axes:
                beyond += coef * (chunk.shape[axis] - 1)
    block = chunk.block_number
    keys = spread
    if access.view.buffer.space == "global" and isinstance(block, Affine):
        keys = spread + block.array() * _stride(access.view.buffer)
    keys = np.broadcast_to(keys, shape)
    low = np.broadcast_to(low, shape)
    if active is not None:
        chosen = np.broadcast_to(active, shape)
        return keys[chosen], low[chosen], low[chosen] + beyond, np.flatnonzero(chosen)
    return keys.ravel(), low.ravel(), low.ravel() + beyond, None


def _along(values: npt.NDArray[Any], axis: int, ndim: int) -> npt.NDArray[Any]:
    shape = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)


def _compress(touched: list[Any]) -> tuple[int, npt.NDArray[np.int64], list[Any]]:
    """Number the words that occur from 0 up, so that per-word arrays stay small."""
    every = np.concatenate([item[1] for item in touched])
    low, high = int(every.min()), int(every.max())
    if high - low < 4 * every.size + 4096:
        names = np.arange(low, high + 1)
        return names.size, names, [(item[0], item[1] - low, *item[2:]) for item in touched]
    names = np.unique(every)
    return names.size, names, [(item[0], np.searchsorted(names, item[1]), *item[2:]) for item in touched]


def _owners(touched: list[Any], kind: int, words: int) -> Owners:
    least = np.full(words, np.iinfo(np.int64).max)
    greatest = np.full(words, -1)
    for access, keys, low, high, _ in touched:
        if access.kind == kind:
            np.minimum.at(least, keys, low)
            np.maximum.at(greatest, keys, high)
    return Owners(least, greatest)


def conflicts(reads: Owners, writes: Owners, atomics: Owners) -> npt.NDArray[np.bool_]:
    """The words with a conflict (bool, one a word)."""
    wrote, read, updated = (o.greatest >= 0 for o in (writes, reads, atomics))
    many = writes.least != writes.greatest
    bad = wrote & many
    for other, present in ((reads, read), (atomics, updated)):
        differ = (other.least != writes.least) | (other.greatest != writes.greatest)
        bad |= wrote & present & (many | differ)
    differ = (atomics.least != reads.least) | (atomics.greatest != reads.greatest)
    return bad | (updated & read & ((atomics.least != atomics.greatest) | differ))


def _samples(words: npt.NDArray[np.int64]) -> list[int]:
    """A few conflicting words, the lowest first, spread so that each pair of lines shows."""
    chosen = {0, 1, len(words) - 1, *(len(words) * step // 6 for step in range(6))}
    return [int(words[place]) for place in sorted(chosen) if place < len(words)]


def _hits(touched: list[Any], word: int) -> list[tuple[Access, int, int]]:
    """(access, least thread, greatest thread) of everything that touched a word, in program order."""
    hits = []
    for access, keys, low, high, _ in touched:
        where = np.flatnonzero(keys == word)
        if where.size:
            hits.append((access, int(low[where].min()), int(high[where].max())))
    return sorted(hits, key=lambda hit: hit[0].order)


def _write_counts(touched: list[Any], bad: npt.NDArray[np.bool_]) -> int:
    return int(sum(np.count_nonzero(bad[keys]) for access, keys, *_ in touched if access.kind != READ))


def _report(hits: list[Any], conflict: Conflict, chunk: Chunk, ledger: Ledger) -> None:
    pairs = 0
    for later, (second, low2, high2) in enumerate(hits):
        for first, low1, high1 in hits[: later + 1]:
            if first is second and (low1 == high1 or first.kind != WRITE):
                continue
            if not _conflict(first, second) or (low1 == high1 == low2 == high2):
                continue
            two = high2 if high2 != low1 else low2
            one = low1 if two != low1 else high1
            _add(Pair(first, one, second, two), conflict, chunk, ledger)
            pairs += 1
            if pairs >= MAX_PAIRS:
                return


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conflicting accesses, the earlier in program order first, each with its thread in the block."""

    first: Access
    one: int
    second: Access
    two: int


def _conflict(first: Access, second: Access) -> bool:
    if first.kind == second.kind == ATOMIC:
        return False
    return first.kind != READ or second.kind != READ


def _add(pair: Pair, conflict: Conflict, chunk: Chunk, ledger: Ledger) -> None:
    """Enter one conflicting pair of accesses."""
    first, second = pair.first, pair.second
    name, severity, facts = _name(pair, conflict, chunk)
    key = (name, first.site.ident, second.site.ident)
    if ledger.seen(*key, words=conflict.words):
        return
    one, two = conflict.block + pair.one, conflict.block + pair.two
    entry = Entry(name, severity, second.site.span, first.site.span)
    entry.threads = (chunk.thread(two), chunk.thread(one))
    entry.slot = Slot(second.view.name, second.view.buffer.space, _slot_index(second.view, conflict.word))  # type: ignore[arg-type]
    entry.loops = resolve(second.loops, chunk, two)
    entry.counts = {"words": conflict.words, "threads": conflict.threads}
    entry.facts = {**facts, "other_loops": resolve(first.loops, chunk, one)}
    ledger.add(key, entry)


def _slot_index(view: View, word: int) -> tuple[int, ...]:
    base = view.base.base if isinstance(view.base, Affine) else view.base
    return view.index_of(word - base)


def _name(pair: Pair, conflict: Conflict, chunk: Chunk) -> tuple[str, Any, dict[str, Any]]:
    first, second = pair.first, pair.second
    update = first.site.update >= 0 and first.site.update == second.site.update
    both_write = first.kind != READ and second.kind != READ
    shared = second.view.buffer.space == "shared"
    scope = "warp" if pair.one // 32 == pair.two // 32 else "block"
    facts: dict[str, Any] = {"scope": scope, "read_modify": update}
    if both_write or update:
        same = both_write and not update and _same_values(pair, conflict, chunk)
        facts["same_value"] = same
        name = "shared-write-conflict" if shared else "global-write-conflict"
        return name, "note" if same else "error", facts
    if not shared:
        return "global-read-write-race", "error", facts
    name = "shared-overwrite-before-barrier" if first.kind == READ else "shared-read-before-barrier"
    return name, "error", facts


def _same_values(pair: Pair, conflict: Conflict, chunk: Chunk) -> bool:
    """Whether the two threads wrote the same value (atomics never count as equal)."""
    if ATOMIC in (pair.first.kind, pair.second.kind):
        return False
    a = chunk.at(strip(pair.first.value), conflict.block + pair.one)
    b = chunk.at(strip(pair.second.value), conflict.block + pair.two)
    return bool(a == b)
