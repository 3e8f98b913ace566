"""The race rule, written down anew and slowly: pairs of events, no shadow state, no arrays.

An event is ``(thread, kind, word)`` with a kind of "read", "write" or "atomic", or
``("barrier", block)``, which all threads of that block go through.
"""

from __future__ import annotations

from itertools import product
from typing import Any

BLOCK_OF = {0: 0, 1: 0, 2: 1}
KINDS = ("read", "write", "atomic")

Event = tuple[Any, ...]


def events(words: int) -> list[Event]:
    """Everything that three threads in two blocks can do to some words."""
    accesses = list(product(BLOCK_OF, KINDS, range(words)))
    return [*accesses, ("barrier", 0), ("barrier", 1)]


def clash(first: Event, second: Event) -> bool:
    """Two accesses by different threads to one word, not both reads and not both atomic."""
    if first[0] == second[0] or first[2] != second[2]:
        return False
    kinds = {first[1], second[1]}
    return kinds not in ({"read"}, {"atomic"})


def block_races(sequence: tuple[Event, ...]) -> set[tuple[int, int]]:
    """(block, word) of every conflict between threads of one block within one barrier interval."""
    found = set()
    for later, second in enumerate(sequence):
        for earlier, first in enumerate(sequence[:later]):
            if "barrier" in (first[0], second[0]) or not clash(first, second):
                continue
            block = BLOCK_OF[first[0]]
            if BLOCK_OF[second[0]] != block or ("barrier", block) in sequence[earlier:later]:
                continue
            found.add((block, first[2]))
    return found


def grid_races(sequence: tuple[Event, ...]) -> set[int]:
    """Words of global memory that threads of two blocks conflict on; no barrier orders two blocks."""
    accesses = [event for event in sequence if event[0] != "barrier"]
    return {
        second[2]
        for later, second in enumerate(accesses)
        for first in accesses[:later]
        if clash(first, second) and BLOCK_OF[first[0]] != BLOCK_OF[second[0]]
    }
