"""Races between blocks: kept for the whole launch, since no barrier orders two blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from grader.records import Slot, Thread
from grader.simt.affine import Affine
from grader.simt.evidence import Entry, Ledger, Site, resolve
from grader.simt.geometry import Chunk, Geometry
from grader.simt.memory import Buffer, View
from grader.simt.race import ATOMIC, READ, WRITE, Access
from grader.simt.race_forms import apart, one_word_each
from grader.simt.race_owners import Owners, conflicts
from grader.simt.race_report import enter, same_values, slot_index
from grader.simt.race_table import Hit
from grader.simt.race_words import STATEMENT_BITS, Scope, Words, expand_all

MAX_HISTORY = 1_000
HISTORY_BYTES = 8 << 20
MAX_WORDS = 24
MAX_WAITING = 64
STATEMENT_MASK = (1 << STATEMENT_BITS) - 1


class GridShadow:
    """For each word of a buffer that the kernel writes: the least and greatest thread that touched it.

    Threads are numbered over the launch, so that the blocks of the least and the greatest tell
    whether two blocks met. ``history`` keeps some of the accesses, for the values of their loops.
    ``waiting`` are stores that plainly go to a word of its own for each thread; they are entered
    when others come.
    """

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.reset()

    def reset(self) -> None:
        """Forget everything: a barrier of the whole grid orders it."""
        self.owners: dict[int, Owners] = {}
        self.values: Owners | None = None
        self.history: list[tuple[Access, Chunk]] = []
        self.held = 0
        self.sites: dict[int, tuple[Site, View]] = {}
        self.geometry: Geometry | None = None
        self.waiting: list[tuple[Access, Chunk]] = []

    def update(self, accesses: list[Access], chunk: Chunk) -> None:
        """Enter accesses, each once, whatever barriers its blocks go through later."""
        if chunk.geometry.blocks == 1:
            return
        self.geometry = chunk.geometry
        fresh = [access for access in accesses if not access.gridded]
        if not fresh:
            return
        for access in fresh:
            access.gridded = True
        if self._alone(fresh, chunk):
            self.waiting.append((fresh[0], chunk))
            return
        waiting, self.waiting = self.waiting, []
        for access, earlier in waiting:
            self._take([access], earlier)
        self._take(fresh, chunk)

    def _alone(self, fresh: list[Access], chunk: Chunk) -> bool:
        """Whether the linear forms of a store, and of those before, show that no two threads share a word."""
        first = fresh[0]
        if len(fresh) > 1 or self.owners or first.kind != WRITE or not isinstance(first.address, Affine):
            return False
        if len(self.waiting) >= MAX_WAITING or not one_word_each(first, chunk, whole=True):
            return False
        return all(apart(first, access) for access, _ in self.waiting)

    def _take(self, fresh: list[Access], chunk: Chunk) -> None:
        for access in fresh:
            self.sites[access.number] = (access.site, access.view)
            if len(self.history) < MAX_HISTORY and self.held < HISTORY_BYTES:
                self.history.append((replace(access, value=None), chunk))
                self.held += access.nbytes()
        for words in expand_all(fresh, Scope.of_launch(chunk)):
            self._enter(words)

    @property
    def _size(self) -> int:
        return self.geometry.threads_per_block if self.geometry is not None else 1

    def _enter(self, words: Words) -> None:
        size = max(1, self.buffer.words)
        owners = self.owners.get(words.kind)
        if owners is None:
            owners = self.owners[words.kind] = Owners.nobody(size)
        owners.touch(words.keys, words.low, words.high)
        if words.bits is not None:
            if self.values is None:
                self.values = Owners.nobody(size)
                self.values.greatest[:] = np.iinfo(np.int64).min
            self.values.touch(words.keys, *words.bits)

    def conflicting(self) -> Any:
        """Places of the words that two blocks conflict on (int64, in order)."""
        if WRITE not in self.owners and ATOMIC not in self.owners:
            return np.zeros(0, np.int64)
        if len(self.owners) == 1 and WRITE in self.owners:
            alone = self.owners[WRITE]
            if not (alone.least < alone.greatest).any():
                return np.zeros(0, np.int64)
        none = Owners.nobody(max(1, self.buffer.words))
        reads, writes, atomics = (
            self.owners.get(kind, none).by(self._size) for kind in (READ, WRITE, ATOMIC)
        )
        return np.flatnonzero(conflicts(reads, writes, atomics))

    def finish(self, ledger: Ledger) -> None:
        """Report each pair of statements that conflicts between blocks, at the lowest such word."""
        bad = self.conflicting()
        for word in self._samples(bad):
            hits = self._hits(word)
            for later, second in enumerate(hits):
                for first in hits[: later + 1]:
                    self._pair(first, second, word, int(bad.size), ledger)

    def _samples(self, bad: Any) -> list[int]:
        """The lowest word of each combination of statements, and of those that differ in value."""
        if not bad.size:
            return []
        columns = [owners.least[bad] & STATEMENT_MASK for owners in self.owners.values()]
        columns += [owners.greatest[bad] & STATEMENT_MASK for owners in self.owners.values()]
        if self.values is not None:
            columns.append(self.values.least[bad] < self.values.greatest[bad])
        first = np.unique(np.stack(columns), axis=1, return_index=True)[1]
        return [int(bad[at]) for at in np.sort(first)[:MAX_WORDS]]

    def _hits(self, word: int) -> list[Hit]:
        """The least and greatest thread of each kind at a word, with their statements."""
        hits = []
        for kind, owners in self.owners.items():
            low, high = int(owners.least[word]), int(owners.greatest[word])
            if high < 0:
                continue
            bits = None
            if kind == WRITE and self.values is not None:
                bits = (int(self.values.least[word]), int(self.values.greatest[word]))
            for code in dict.fromkeys((low, high)):
                thread, number = code >> STATEMENT_BITS, code & STATEMENT_MASK
                hits.append(Hit(kind, number, number, thread, thread, (), bits))
        return sorted(hits, key=lambda hit: (hit.number, hit.low))

    def _pair(self, first: Hit, second: Hit, word: int, words: int, ledger: Ledger) -> None:
        if first.kind == second.kind and first.kind in (READ, ATOMIC):
            return
        if first.low // self._size == second.low // self._size:
            return
        (one, _), (two, view) = self.sites[first.number], self.sites[second.number]
        both = READ not in (first.kind, second.kind)
        update = one.update >= 0 and one.update == two.update
        same = both and not update and same_values(first, second)
        name = "global-write-conflict" if both or update else "global-read-write-race"
        entry = Entry(name, "note" if same else "error", two.span, one.span)
        (thread, loops), (other, other_loops) = self._thread(second, word), self._thread(first, word)
        entry.threads, entry.loops = (thread, other), loops
        entry.slot = Slot(view.name, "global", slot_index(view, word))
        entry.counts = {"words": words, "threads": 2}
        entry.facts = {"scope": "grid", "same_value": same, "read_modify": update, "other_loops": other_loops}
        enter(ledger, (name, one.ident, two.ident, "grid"), entry)

    def _thread(self, hit: Hit, word: int) -> tuple[Thread, tuple[tuple[str, int], ...]]:
        """The thread of a hit, and its loops where the access is still known."""
        assert self.geometry is not None
        thread = self.geometry.thread(hit.low)
        for access, chunk in self.history:
            if access.kind != hit.kind or access.number != hit.number:
                continue
            flat = chunk.position(thread)
            if flat is None or (access.active() is not None and not chunk.at(access.active(), flat)):
                continue
            address = access.address.array() if isinstance(access.address, Affine) else access.address
            if chunk.at(address, flat) == word:
                return thread, resolve(access.loops, chunk, flat)
        return thread, ()
