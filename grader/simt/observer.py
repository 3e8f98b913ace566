"""What a launch tells those who watch it.

A launch without observers pays for none of this. Events come in bulk, once for all threads of a
chunk of blocks: arrays are broadcastable to ``event.chunk.shape``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Span
from grader.simt.affine import Affine
from grader.simt.geometry import Chunk
from grader.simt.memory import View


@dataclass(frozen=True, slots=True)
class AccessEvent:
    """A load, store or atomic operation.

    ``address`` counts elements from the start of the allocation (for shared memory: of all blocks
    of the chunk, one after the other); ``view`` turns it into an index. ``active`` is a bool array,
    or None for all threads.
    """

    kind: str
    span: Span
    array: str
    space: str
    address: npt.NDArray[np.int64]
    active: npt.NDArray[np.bool_] | None
    value: Any
    loops: tuple[tuple[str, Any], ...]
    chunk: Chunk
    view: View


@dataclass(frozen=True, slots=True)
class BarrierEvent:
    """A barrier; ``active`` holds the threads that arrive, None for all."""

    span: Span
    active: npt.NDArray[np.bool_] | None
    interval: int
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class StatementEvent:
    """A statement that has run, with the variables that it set (name, value)."""

    span: Span
    active: npt.NDArray[np.bool_] | None
    sets: tuple[tuple[str, Any], ...]
    loops: tuple[tuple[str, Any], ...]
    chunk: Chunk


class Observer:
    """Override what interests you. ``wants_statements`` asks for :meth:`statement` events too."""

    wants_statements = False

    def block_start(self, chunk: Chunk) -> None:
        """A chunk of blocks begins."""

    def load(self, event: AccessEvent) -> None:
        """Threads read memory."""

    def store(self, event: AccessEvent) -> None:
        """Threads write memory."""

    def barrier(self, event: BarrierEvent) -> None:
        """Threads arrive at a barrier."""

    def statement(self, event: StatementEvent) -> None:
        """A statement has run."""

    def block_end(self, chunk: Chunk) -> None:
        """A chunk of blocks has ended."""


def spread(address: Any) -> npt.NDArray[np.int64]:
    """An address as an array (int64)."""
    return address.array() if isinstance(address, Affine) else np.asarray(address, np.int64)
