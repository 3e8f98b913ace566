"""Reads of shared and local words that hold no value of this round, and where they lead.

Such a read is only a note until its value reaches an output, a branch, a loop's trip count or an
index: people write correct kernels whose idle threads read rubbish.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Slot
from grader.simt.affine import Affine
from grader.simt.evidence import Entry, Ledger, Site, freeze, resolve
from grader.simt.geometry import Chunk
from grader.simt.mask import Active
from grader.simt.memory import View
from grader.simt.values import STALE, UNDEFINED


@dataclass(eq=False, slots=True)
class TaintRead:
    """One statement's tainted reads: for each thread the first word it read, and when."""

    site: Site
    view: View
    bit: int
    word: npt.NDArray[np.int64]
    event: npt.NDArray[np.int32]
    interval: npt.NDArray[np.int32]
    events: list[tuple[tuple[tuple[str, Any], ...], Skip | None, Site | None]] = field(default_factory=list)
    reached: bool = False


class TaintTrail:
    """The tainted reads of one chunk."""

    def __init__(self, chunk: Chunk, ledger: Ledger) -> None:
        self.chunk = chunk
        self.ledger = ledger
        self.reads: dict[tuple[int, int], TaintRead] = {}
        self.skips: dict[str, Skip] = {}
        #: By array, where an asynchronous copy to it began that is under way.
        self.under_way: dict[str, Site] = {}
        #: Values of the loop variables at the last guarded array's store of each barrier interval.
        self.rounds: dict[int, tuple[tuple[str, Any], ...]] = {}

    def skipped(self, array: str, skip: Skip) -> None:
        """Note a store that some threads skipped; the latest one before a read explains its gap."""
        self.skips[array] = skip

    def read(
        self,
        site: Site,
        view: View,
        taint: npt.NDArray[np.uint8],
        active: Active,
        address: Any,
        loops: list[list[Any]],
    ) -> None:
        """Note a read of tainted words by the threads of ``active``."""
        for bit in (UNDEFINED, STALE):
            hit = (taint & bit) != 0
            if active is not None:
                hit = hit & active.array
            if hit.any():
                self._note(site, view, bit, hit, address, loops)

    def knows(self, site: Site, taint: npt.NDArray[np.uint8], active: Active) -> bool:
        """Whether such a read would add nothing: each thread's first one at this place is noted."""
        for bit in (UNDEFINED, STALE):
            hit = (taint & bit) != 0
            if active is not None:
                hit = hit & active.array
            record = self.reads.get((site.ident, bit))
            if np.count_nonzero(hit & (record.word < 0) if record is not None else hit):
                return False
        return True

    def _note(self, site: Site, view: View, bit: int, hit: Any, address: Any, loops: list[list[Any]]) -> None:
        key = (site.ident, bit)
        record = self.reads.get(key)
        if record is None:
            shape = self.chunk.shape
            zeros = (np.zeros(shape, np.int32), np.zeros(shape, np.int32))
            record = TaintRead(site, view, bit, np.full(shape, -1), *zeros)
            self.reads[key] = record
        new = np.broadcast_to(hit, self.chunk.shape) & (record.word < 0)
        if new.any():
            spread = address.array() if isinstance(address, Affine) else np.asarray(address)
            np.copyto(record.word, spread, where=new)
            stamp = view.buffer.stamp
            if stamp is not None:
                record.interval[new] = stamp[record.word[new]]
            record.event[new] = len(record.events)
            copy = self.under_way.get(view.name) if bit == UNDEFINED else None
            record.events.append((freeze(loops), self.skips.get(view.name), copy))

    def reach(self, taint: npt.NDArray[np.uint8], active: Active, what: str) -> None:
        """Tainted values of ``active`` threads decide something: report the reads they came from."""
        for bit in (UNDEFINED, STALE):
            left = (taint & bit) != 0
            if active is not None:
                left = left & active.array
            if not left.any():
                continue
            records = [record for record in self.reads.values() if record.bit == bit]
            for record in records:
                hit = left & (record.word >= 0)
                if hit.any():
                    record.reached = True
                    self._enter(record, hit, what)
            for record in records:
                left = left & (record.word < 0)
            if left.any():
                self._from_other_lanes(records, what)

    def _from_other_lanes(self, records: list[TaintRead], what: str) -> None:
        """A value that a thread did not read itself: a warp's instruction dealt it out to it."""
        for record in records:
            if not record.reached:
                record.reached = True
                self._enter(record, record.word >= 0, what)

    def finish(self) -> None:
        """Enter the reads that led nowhere, as notes."""
        for record in self.reads.values():
            if not record.reached:
                self._enter(record, record.word >= 0, "nothing")

    def _enter(self, record: TaintRead, hit: npt.NDArray[np.bool_], what: str) -> None:
        name = _name(record)
        key = (name, record.site.ident)
        known = self.ledger.entries.get(key)
        threads = int(np.count_nonzero(hit))
        if known is not None and (known.facts["reaches"] != "nothing" or what == "nothing"):
            return
        flat = int(np.argmax(np.broadcast_to(hit, self.chunk.shape)))
        severity = "error" if what != "nothing" and record.bit == UNDEFINED else "note"
        entry = Entry(name, severity, record.site.span)  # type: ignore[arg-type]
        entry.threads = (self.chunk.thread(flat),)
        word = int(record.word.ravel()[flat])
        entry.slot = Slot(record.view.name, record.view.buffer.space, _index(record.view, word))  # type: ignore[arg-type]
        loops, skip, copy = record.events[int(record.event.ravel()[flat])]
        entry.loops = resolve(loops, self.chunk, flat)
        entry.counts = {"threads": threads, "words": int(np.unique(record.word[record.word >= 0]).size)}
        entry.facts = {"reaches": what}
        old = self.rounds.get(int(record.interval.ravel()[flat]))
        if record.bit == STALE and old is not None:
            entry.facts["old_loops"] = resolve(old, self.chunk, flat)
        if copy is not None:
            entry.secondary = copy.span
            entry.facts["under_way"] = True
        elif skip is not None:
            size = self.chunk.geometry.threads_per_block
            entry.secondary = skip.site.guard or skip.site.span
            entry.counts |= {"skipped": int(skip.by_block[flat // size]), "block_threads": size}
            entry.facts |= {"store_line": skip.site.span.line}
        self.ledger.add(key, entry)


@dataclass(frozen=True, slots=True)
class Skip:
    """A store under a condition: how many threads of each block of the chunk it left out."""

    site: Site
    by_block: npt.NDArray[np.int64]


def _name(record: TaintRead) -> str:
    if record.bit == STALE:
        return "stale-shared-read"
    return "uninitialised-local-read" if record.view.buffer.space == "local" else "uninitialised-shared-read"


def _index(view: View, word: int) -> tuple[int, ...]:
    base = view.base.base if isinstance(view.base, Affine) else view.base
    return view.index_of(word - base if view.buffer.space == "global" else (word - base) % view.buffer.pitch)
