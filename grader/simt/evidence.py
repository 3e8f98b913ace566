"""What a launch gathers while it runs: one entry for each fault and place, the first one in full."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Finding, Severity, Slot, Span, Thread
from grader.simt.affine import Affine
from grader.simt.geometry import Chunk


@dataclass(eq=False, slots=True)
class Site:
    """One access in the kernel's text: a subscript, or a barrier, or a branch.

    ``guard`` is the test of the nearest enclosing condition on an access, and ``update`` names the
    augmented assignment (by its own number) that both reads and writes here. ``literal_dims`` are
    the dimensions indexed by a literal: ``shape[-1]`` is meant. ``covered`` says of a store that the other
    side of its condition stores the same element; ``in_place`` that its value, or its condition, is read
    from the array it goes to. ``ends`` says of a loop that its rounds are counted before it starts.
    """

    ident: int
    span: Span
    array: str = ""
    space: str = ""
    guard: Span | None = None
    update: int = -1
    itemsize: int = 4
    is_store: bool = False
    waits: bool = False
    literal_dims: tuple[int, ...] = ()
    covered: bool = False
    in_place: bool = False
    ends: bool = False


@dataclass(slots=True)
class Entry:
    """A finding in the making."""

    name: str
    severity: Severity
    primary: Span | None
    secondary: Span | None = None
    threads: tuple[Thread, ...] = ()
    slot: Slot | None = None
    loops: tuple[tuple[str, int], ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def finding(self) -> Finding:
        """The record of it."""
        return Finding(
            self.name,
            self.severity,
            self.primary,
            self.secondary,
            self.threads,
            self.slot,
            self.loops,
            dict(self.counts),
            dict(self.facts),
        )


class Ledger:
    """All entries of a launch, in the order in which they were first seen."""

    def __init__(self) -> None:
        self.entries: dict[tuple[Any, ...], Entry] = {}

    def seen(self, *key: Any, **counts: int) -> bool:
        """Whether this fault is known; if so, ``counts`` are added to it."""
        entry = self.entries.get(key)
        if entry is None:
            return False
        for name, count in counts.items():
            entry.counts[name] = entry.counts.get(name, 0) + count
        return True

    def add(self, key: tuple[Any, ...], entry: Entry) -> None:
        """Enter a fault, in place of the one known under the same key."""
        self.entries[key] = entry

    def findings(self) -> tuple[Finding, ...]:
        """The records of all entries."""
        return tuple(entry.finding() for entry in self.entries.values())


def first_thread(mask: npt.NDArray[np.bool_], chunk: Chunk) -> int:
    """Flat position of the lowest thread of a mask that has one."""
    return int(np.argmax(np.broadcast_to(mask, chunk.shape)))


def loops_at(loops: list[list[Any]], chunk: Chunk, flat: int) -> tuple[tuple[str, int], ...]:
    """The values of the enclosing loops' variables for one thread, outermost first."""
    return tuple((name, int(chunk.at(value, flat))) for name, value in loops)  # type: ignore[call-overload]


def freeze(loops: list[list[Any]]) -> tuple[tuple[str, Any], ...]:
    """The loop variables as they stand, to be resolved for a thread later."""
    return tuple((name, value) for name, value in loops)


def resolve(frozen: tuple[tuple[str, Any], ...], chunk: Chunk, flat: int) -> tuple[tuple[str, int], ...]:
    """Values of :func:`freeze` for the thread at ``flat``."""
    return tuple((name, int(chunk.at(value, flat))) for name, value in frozen)  # type: ignore[call-overload]


def count(mask: npt.NDArray[np.bool_] | None, chunk: Chunk) -> int:
    """How many threads a mask holds."""
    if mask is None:
        return chunk.threads
    return int(np.count_nonzero(mask)) * (chunk.threads // mask.size)


__all__ = ["Affine", "Entry", "Ledger", "Site", "count", "first_thread", "freeze", "loops_at", "resolve"]
