"""Races between blocks: kept for the whole launch, since no barrier orders two blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Slot
from grader.simt.affine import Affine
from grader.simt.evidence import Entry, Ledger, resolve
from grader.simt.geometry import Chunk
from grader.simt.memory import Buffer
from grader.simt.race import ATOMIC, READ, WRITE, Access, Owners, conflicts
from grader.simt.values import strip

MAX_HISTORY = 4_000


class GridShadow:
    """For each word of a buffer that the kernel writes: the least and greatest block that touched it."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.owners: dict[int, Owners] = {}
        self.history: list[tuple[Access, Chunk]] = []

    def update(self, accesses: list[Access], chunk: Chunk, passed: Any) -> None:
        """Fold the accesses of a finished interval in; ``passed`` limits them to some blocks."""
        for access in accesses:
            active = access.active()
            if passed is not None:
                active = passed if active is None else active & passed
                if not active.any():
                    continue
            words, blocks = _touched(access, active, chunk)
            owners = self.owners.get(access.kind)
            if owners is None:
                size = max(1, self.buffer.words)
                owners = Owners(np.full(size, np.iinfo(np.int64).max), np.full(size, -1, np.int64))
                self.owners[access.kind] = owners
            np.minimum.at(owners.least, words, blocks)
            np.maximum.at(owners.greatest, words, blocks)
            if len(self.history) < MAX_HISTORY:
                self.history.append((access, chunk))

    def finish(self, ledger: Ledger) -> None:
        """Report the lowest word that two blocks conflict on, for each pair of statements found there."""
        if WRITE not in self.owners and ATOMIC not in self.owners:
            return
        size = max(1, self.buffer.words)
        none = Owners(np.full(size, np.iinfo(np.int64).max), np.full(size, -1, np.int64))
        reads, writes, atomics = (self.owners.get(kind, none) for kind in (READ, WRITE, ATOMIC))
        bad = np.flatnonzero(conflicts(reads, writes, atomics))
        if bad.size:
            self._report(int(bad[0]), int(bad.size), ledger)

    def _report(self, word: int, words: int, ledger: Ledger) -> None:
        hits = [
            (access, chunk, flat)
            for access, chunk in self.history
            for flat in _threads_at(access, chunk, word)
        ]
        for later, (second, chunk2, flat2) in enumerate(hits):
            for first, chunk1, flat1 in hits[:later]:
                a, b = chunk1.thread(flat1), chunk2.thread(flat2)
                if a.block == b.block or {first.kind, second.kind} in ({READ}, {ATOMIC}):
                    continue
                both = first.kind != READ and second.kind != READ
                same = both and bool(
                    chunk1.at(strip(first.value), flat1) == chunk2.at(strip(second.value), flat2)
                )
                same = same and ATOMIC not in (first.kind, second.kind)
                name = "global-write-conflict" if both else "global-read-write-race"
                key = (name, first.site.ident, second.site.ident, "grid")
                if ledger.seen(*key):
                    continue
                entry = Entry(name, "note" if same else "error", second.site.span, first.site.span)
                entry.threads = (b, a)
                entry.slot = Slot(second.view.name, "global", second.view.index_of(word - _start(second)))
                entry.loops = resolve(second.loops, chunk2, flat2)
                entry.counts = {"words": words, "threads": 2}
                entry.facts = {"scope": "grid", "same_value": same, "read_modify": False}
                entry.facts["other_loops"] = resolve(first.loops, chunk1, flat1)
                ledger.add(key, entry)


def _start(access: Access) -> int:
    return access.view.base if isinstance(access.view.base, int) else access.view.base.base


def _touched(
    access: Access, active: npt.NDArray[np.bool_] | None, chunk: Chunk
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Words and the numbers of the blocks that touch them, as flat arrays."""
    address = access.address
    spread = address.array() if isinstance(address, Affine) else np.asarray(address)
    spread = spread.reshape((1,) * (len(chunk.shape) - spread.ndim) + spread.shape)
    blocks = chunk.launch_block
    parts = [spread.shape, blocks.shape, *([active.shape] if active is not None else [])]
    shape = np.broadcast_shapes(*parts)
    words, numbers = np.broadcast_to(spread, shape), np.broadcast_to(blocks, shape)
    if active is None:
        return words.ravel(), numbers.ravel()
    chosen = np.broadcast_to(active, shape)
    return words[chosen], numbers[chosen]


def _threads_at(access: Access, chunk: Chunk, word: int) -> list[int]:
    """The first and the last thread of a chunk that an access lets touch ``word``."""
    address = access.address
    spread = address.array() if isinstance(address, Affine) else np.asarray(address)
    hit = np.broadcast_to(spread == word, chunk.shape)
    active = access.active()
    if active is not None:
        hit = hit & active
    where = np.flatnonzero(hit)
    return sorted({int(where[0]), int(where[-1])}) if where.size else []
