"""From the words that threads conflict on to one entry for each pair of statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Slot
from grader.simt.affine import Affine
from grader.simt.evidence import Entry, Ledger, Site, resolve
from grader.simt.geometry import Chunk
from grader.simt.memory import View
from grader.simt.race import ATOMIC, READ, WRITE, Log
from grader.simt.race_sweep import Sweep
from grader.simt.race_words import STATEMENT_BITS, Words, stride_of

MAX_WORDS = 40
STATEMENT_MASK = (1 << STATEMENT_BITS) - 1
ROUND_BITS = 32
ROUND_MASK = (1 << ROUND_BITS) - 1


@dataclass(eq=False, slots=True)
class Found:
    """Words in conflict, and what touched them.

    ``names`` are their keys, in order, and ``mixed`` says of which different values were written.
    ``divisor`` is 32 where only threads of different warps conflict. ``per_word`` is how many keys
    each word has: more than one where warps were checked apart.
    """

    parts: list[Words]
    names: npt.NDArray[np.int64]
    mixed: npt.NDArray[np.bool_]
    divisor: int = 1
    per_word: int = 1


@dataclass(eq=False, slots=True)
class Hit:
    """What one statement did to one word: its least and greatest thread, the range of its values."""

    kind: int
    number: int
    order: int
    low: int
    high: int
    loops: tuple[tuple[str, Any], ...]
    bits: tuple[int, int] | None


def report(found: Found, log: Log, chunk: Chunk, ledger: Ledger) -> dict[Any, int]:
    """Enter the pairs of statements that conflict in one interval of one buffer.

    Gives the keys under which they stand in the ledger, and how many words conflict.
    """
    table = _Table(found)
    counted: dict[Any, int] = {}
    for place in table.samples():
        block, word = divmod(int(found.names[place]) // found.per_word, stride_of(log.buffer))
        hits = table.hits(place)
        for later, second in enumerate(hits):
            for first in hits[: later + 1]:
                threads = _two_threads(first, second, found.divisor)
                if threads is None:
                    continue
                pair = Pair(first, second, log, *threads)
                entry = _entry(pair, block * chunk.geometry.threads_per_block, word, chunk)
                words = table.common(first, second)
                entry.counts = {"words": words, "threads": table.writers}
                key = (entry.name, pair.sites[0].ident, pair.sites[1].ident)
                enter(ledger, key, entry, words=0 if key in counted else words)
                counted.setdefault(key, words)
    return counted


def enter(ledger: Ledger, key: tuple[Any, ...], entry: Entry, **more: int) -> None:
    """Add an entry, or count it to the known one, which it replaces where it weighs more."""
    known = ledger.entries.get(key)
    if known is None:
        ledger.add(key, entry)
        return
    counts = {**known.counts, **{name: known.counts.get(name, 0) + more[name] for name in more}}
    if known.severity != "error" and entry.severity == "error":
        ledger.add(key, entry)
        entry.counts = counts
    else:
        known.counts = counts


class _Table:
    """All touches of the conflicting words, sorted by word."""

    def __init__(self, found: Found) -> None:
        self.found = found
        parts = found.parts
        self.low = np.concatenate([part.low for part in parts])
        self.high = np.concatenate([part.high for part in parts])
        self.kind = np.repeat([part.kind for part in parts], [part.keys.size for part in parts])
        #: The access of each touch: its part, and within that the iteration of a swept loop.
        self.part = np.concatenate(
            [
                np.full(part.keys.size, number << ROUND_BITS) + (0 if part.rounds is None else part.rounds)
                for number, part in enumerate(parts)
            ]
        )
        zero = [np.zeros(part.keys.size, np.int64) for part in parts]
        self.least = np.concatenate([p.bits[0] if p.bits else z for p, z in zip(parts, zero, strict=True)])
        self.most = np.concatenate([p.bits[1] if p.bits else z for p, z in zip(parts, zero, strict=True)])
        word = np.searchsorted(found.names, np.concatenate([part.keys for part in parts]))
        order = np.argsort(word, kind="stable")
        for name in ("low", "high", "kind", "part", "least", "most"):
            setattr(self, name, getattr(self, name)[order])
        self.word = word[order]
        self.starts = np.searchsorted(self.word, np.arange(found.names.size + 1))
        self.statement = (self.kind << STATEMENT_BITS) + (self.low & STATEMENT_MASK)
        self.writers = int(np.count_nonzero(self.kind != READ))

    def samples(self) -> list[int]:
        """A few words, the lowest first, such that each statement that touches one is among them."""
        chosen = {0, len(self.found.names) - 1}
        mixed = np.flatnonzero(self.found.mixed)
        if mixed.size:
            chosen.add(int(mixed[0]))
        for where in (slice(None), self.found.mixed[self.word]):
            words, statements = self.word[where], self.statement[where]
            combined = np.unique(statements, return_index=True)[1]
            chosen |= {int(words[at]) for at in combined}
        return sorted(chosen)[:MAX_WORDS]

    def common(self, first: Hit, second: Hit) -> int:
        """How many conflicting words both statements touched."""
        touched = []
        for hit in (first, second):
            here = np.zeros(self.found.names.size, bool)
            here[self.word[self.statement == (hit.kind << STATEMENT_BITS) + hit.number]] = True
            touched.append(here)
        return int(np.count_nonzero(touched[0] & touched[1]))

    def hits(self, place: int) -> list[Hit]:
        """What touched one word, in program order, a few for each statement."""
        rows = np.arange(self.starts[place], self.starts[place + 1])
        hits = []
        for statement in np.unique(self.statement[rows]):
            mine = rows[self.statement[rows] == statement]
            kind = int(statement) >> STATEMENT_BITS
            bits = (int(self.least[mine].min()), int(self.most[mine].max())) if kind == WRITE else None
            picked = (mine[0], mine[np.argmin(self.low[mine])], mine[np.argmax(self.high[mine])], mine[-1])
            parts = dict.fromkeys(int(self.part[row]) for row in picked)
            hits += [self._hit(kind, mine[self.part[mine] == part], part, bits) for part in parts]
        return sorted(hits, key=lambda hit: (hit.order, hit.number))

    def _hit(self, kind: int, rows: Any, part: int, bits: tuple[int, int] | None) -> Hit:
        access = self.found.parts[part >> ROUND_BITS].access
        low, high = int(self.low[rows].min()), int(self.high[rows].max())
        order = -1
        loops: tuple[tuple[str, Any], ...] = ()
        if isinstance(access, Sweep):
            number = part & ROUND_MASK
            order, loops = access.order_of(number), access.loops_of(number)
        elif access is not None:
            order, loops = access.order, access.loops
        threads = (low >> STATEMENT_BITS, high >> STATEMENT_BITS)
        return Hit(kind, low & STATEMENT_MASK, order, *threads, loops, bits)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conflicting hits, the earlier in program order first, each with its thread in the block."""

    first: Hit
    second: Hit
    log: Log
    one: int
    two: int

    @property
    def sites(self) -> tuple[Site, Site]:
        return self.log.sites[self.first.number][0], self.log.sites[self.second.number][0]


def _two_threads(first: Hit, second: Hit, divisor: int) -> tuple[int, int] | None:
    """Two threads (of different warps, for a divisor of 32) between which the hits conflict."""
    if first.kind == second.kind and first.kind in (READ, ATOMIC):
        return None
    for one, two in ((first.low, second.high), (first.low, second.low), (first.high, second.low)):
        if one // divisor != two // divisor:
            return one, two
    return None if first.high // divisor == second.high // divisor else (first.high, second.high)


def _entry(pair: Pair, start: int, word: int, chunk: Chunk) -> Entry:
    first, second = pair.first, pair.second
    view = pair.log.sites[second.number][1]
    name, severity, facts = _name(pair, view)
    one, two = pair.sites
    entry = Entry(name, severity, two.span, one.span)
    entry.threads = (chunk.thread(start + pair.two), chunk.thread(start + pair.one))
    entry.slot = Slot(view.name, view.buffer.space, slot_index(view, word))  # type: ignore[arg-type]
    entry.loops = resolve(second.loops, chunk, start + pair.two)
    entry.facts = {**facts, "other_loops": resolve(first.loops, chunk, start + pair.one)}
    return entry


def slot_index(view: View, word: int) -> tuple[int, ...]:
    """The index, in the array that a statement names, of a word of its buffer."""
    return view.index_of(word - (view.base.base if isinstance(view.base, Affine) else view.base))


def same_values(first: Hit, second: Hit) -> bool:
    """Whether all threads of two statements wrote the same value (atomics never count as equal)."""
    if first.bits is None or second.bits is None:
        return False
    return min(first.bits[0], second.bits[0]) == max(first.bits[1], second.bits[1])


def _name(pair: Pair, view: View) -> tuple[str, Any, dict[str, Any]]:
    first, second = pair.first, pair.second
    one, two = pair.sites
    update = one.update >= 0 and one.update == two.update
    both_write = READ not in (first.kind, second.kind)
    shared = view.buffer.space == "shared"
    scope = "warp" if pair.one // 32 == pair.two // 32 else "block"
    facts: dict[str, Any] = {"scope": scope, "read_modify": update}
    if both_write or update:
        same = both_write and not update and same_values(first, second)
        facts["same_value"] = same
        name = "shared-write-conflict" if shared else "global-write-conflict"
        return name, "note" if same else "error", facts
    if not shared:
        return "global-read-write-race", "error", facts
    name = "shared-overwrite-before-barrier" if first.kind == READ else "shared-read-before-barrier"
    return name, "error", facts


__all__ = ["ATOMIC", "Found", "Hit", "enter", "report", "same_values", "slot_index"]
