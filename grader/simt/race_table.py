"""The words that threads conflict on, and what each statement did to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.race import READ, WRITE
from grader.simt.race_sweep import Sweep
from grader.simt.race_words import STATEMENT_BITS, Words

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


class Table:
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

    def writers(self, units: list[int]) -> int:
        """How often a thread wrote or updated a conflicting word; ``units`` is each statement's element."""
        wrote = self.kind != READ
        each = np.array(units)[self.low & STATEMENT_MASK]
        if (each[wrote] == 1).all():
            return int(np.count_nonzero(wrote))
        elements = self.found.names[self.word] // (self.found.per_word * each)
        touches = np.stack([self.low, elements])[:, wrote]
        return int(np.unique(touches, axis=1).shape[1])

    def common(self, first: Hit, second: Hit, units: int) -> int:
        """How many conflicting words both statements touched, told as elements of so many units."""
        touched = []
        for hit in (first, second):
            here = np.zeros(self.found.names.size, bool)
            here[self.word[self.statement == (hit.kind << STATEMENT_BITS) + hit.number]] = True
            touched.append(here)
        both = touched[0] & touched[1]
        if units > 1:
            return int(np.unique(self.found.names[both] // (self.found.per_word * units)).size)
        return int(np.count_nonzero(both))

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


__all__ = ["Found", "Hit", "Table"]
