"""From the words that threads conflict on to one entry for each pair of statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from grader.records import Slot
from grader.simt.affine import Affine
from grader.simt.aliases import units_of
from grader.simt.evidence import Entry, Ledger, Site, resolve
from grader.simt.geometry import Chunk
from grader.simt.memory import View
from grader.simt.race import ATOMIC, READ, Log
from grader.simt.race_table import Found, Hit, Table
from grader.simt.race_words import stride_of


def report(found: Found, log: Log, chunk: Chunk, ledger: Ledger) -> dict[Any, int]:
    """Enter the pairs of statements that conflict in one interval of one buffer.

    Gives the keys under which they stand in the ledger, and how many words conflict.
    """
    table = Table(found)
    writers = table.writers([units_of(view) for _, view in log.sites])
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
                words = table.common(first, second, units_of(log.sites[second.number][1]))
                entry.counts = {"words": words, "threads": writers}
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
    other = pair.log.sites[first.number][1]
    if other.code != view.code:  # the same bytes are another element there
        entry.facts["other_slot"] = f"{other.name}[{', '.join(map(str, slot_index(other, word)))}]"
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


__all__ = ["enter", "report", "same_values", "slot_index"]
