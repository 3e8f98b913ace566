"""Who touched each word: the least and the greatest thread of each kind of access, and what conflicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from grader.simt.memory import Buffer
from grader.simt.race import ATOMIC, WRITE
from grader.simt.race_words import STATEMENT_BITS, Ints, Words, stride_of

NOBODY: Final = np.iinfo(np.int64).max


def numbered(keys: list[Ints]) -> tuple[Ints, list[Ints]]:
    """Number the words that occur from 0 up, so that per-word arrays stay small: (names, numbers)."""
    every = np.concatenate(keys)
    if not every.size:
        return every, keys
    low, high = int(every.min()), int(every.max())
    if high - low < 4 * every.size + 4096:
        return np.arange(low, high + 1), [part - low for part in keys]
    names = np.unique(every)
    return names, [np.searchsorted(names, part) for part in keys]


@dataclass(eq=False, slots=True)
class Owners:
    """For one kind of access: the least and greatest code that touched each word."""

    least: Ints
    greatest: Ints

    @staticmethod
    def nobody(words: int) -> Owners:
        """Words that nothing has touched."""
        return Owners(np.full(words, NOBODY), np.full(words, -1, np.int64))

    def touch(self, places: Ints, low: Ints, high: Ints) -> None:
        """Enter touches; a place may occur several times."""
        np.minimum.at(self.least, places, low)
        np.maximum.at(self.greatest, places, high)

    def by(self, divisor: int) -> Owners:
        """The owners themselves (``divisor`` 1: threads; 32: warps; a block's size: blocks)."""
        present = self.greatest >= 0
        least = np.where(present, (self.least >> STATEMENT_BITS) // divisor, NOBODY)
        return Owners(least, np.where(present, (self.greatest >> STATEMENT_BITS) // divisor, -1))


def conflicts(reads: Owners, writes: Owners, atomics: Owners) -> npt.NDArray[np.bool_]:
    """The words with a conflict (bool, one a word)."""
    wrote, read, updated = (o.greatest >= 0 for o in (writes, reads, atomics))
    many = writes.least != writes.greatest
    bad = wrote & many
    for other, present in ((reads, read), (atomics, updated)):
        differ = (other.least != writes.least) | (other.greatest != writes.greatest)
        bad |= wrote & present & (many | differ)
    differ = (atomics.least != reads.least) | (atomics.greatest != reads.greatest)
    return np.asarray(bad | (updated & read & ((atomics.least != atomics.greatest) | differ)))


class Folded:
    """A long interval's accesses by word: for each kind, owners and the range of written values."""

    def __init__(self, buffer: Buffer) -> None:
        self.stride = stride_of(buffer)
        self.kinds: dict[int, Words] = {}

    @property
    def writes(self) -> int:
        """Whether something was written or updated (0 or more)."""
        return sum(words.keys.size for kind, words in self.kinds.items() if kind in (WRITE, ATOMIC))

    def add(self, words: Words) -> None:
        """Fold more accesses in."""
        known = self.kinds.get(words.kind)
        parts = [words] if known is None else [known, words]
        names, places = numbered([part.keys for part in parts])
        owners, values = Owners.nobody(names.size), Owners.nobody(names.size)
        values.greatest[:] = np.iinfo(np.int64).min
        for part, place in zip(parts, places, strict=True):
            owners.touch(place, part.low, part.high)
            if part.bits is not None:
                values.touch(place, *part.bits)
        touched = owners.greatest >= 0
        bits = (values.least, values.greatest) if words.kind == WRITE else None
        whole = Words(words.kind, names, owners.least, owners.greatest, bits)
        self.kinds[words.kind] = whole.chosen(touched)

    def drop(self, blocks: npt.NDArray[np.bool_]) -> None:
        """Forget the words of some blocks of the chunk."""
        for kind, words in list(self.kinds.items()):
            self.kinds[kind] = words.chosen(~blocks[words.keys // self.stride])


__all__ = ["Folded", "Owners", "conflicts", "numbered"]
