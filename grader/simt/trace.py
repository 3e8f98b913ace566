"""What one thread did: every statement it ran, with the values that it loaded, stored and set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.records import Dim3, Span, Thread
from grader.simt.geometry import Chunk
from grader.simt.memory import View
from grader.simt.observer import AccessEvent, BarrierEvent, Observer, StatementEvent
from grader.simt.values import strip

MAX_LINES = 100_000


@dataclass(frozen=True, slots=True)
class Traced:
    """One statement of the thread: its place, (name, value) of what it loaded, stored and set."""

    span: Span
    loaded: tuple[tuple[str, Any], ...]
    stored: tuple[tuple[str, Any], ...]
    sets: tuple[tuple[str, Any], ...]
    loops: tuple[tuple[str, int], ...]


class ThreadTrace(Observer):
    """Follows the thread ``thread`` of the block ``block``, both (x, y, z)."""

    wants_statements = True

    def __init__(self, block: Dim3, thread: Dim3) -> None:
        self.wanted = Thread(block, thread)
        self.lines: list[Traced] = []
        self.flat = -1
        self._loaded: list[tuple[str, Any]] = []
        self._stored: list[tuple[str, Any]] = []

    def block_start(self, chunk: Chunk) -> None:
        """Find the thread's place in the chunk, if it is there."""
        self.flat = find(chunk, self.wanted)
        self._loaded, self._stored = [], []

    def load(self, event: AccessEvent) -> None:
        """Keep what the thread loaded for the statement that ends next."""
        self._access(event, self._loaded)

    def store(self, event: AccessEvent) -> None:
        """Keep what the thread stored for the statement that ends next."""
        self._access(event, self._stored)

    def _access(self, event: AccessEvent, into: list[tuple[str, Any]]) -> None:
        if not self._runs(event.active, event.chunk):
            return
        word = int(event.chunk.at(event.address, self.flat))  # type: ignore[call-overload]
        view = event.view
        label = f"{event.array}[{', '.join(map(str, _index(view, word)))}]"
        into.append((label, plain(event.chunk.at(event.value, self.flat))))

    def barrier(self, event: BarrierEvent) -> None:
        """A barrier shows as the statement that it is."""

    def statement(self, event: StatementEvent) -> None:
        """Write down a statement that the thread ran."""
        if not self._runs(event.active, event.chunk) or len(self.lines) >= MAX_LINES:
            return
        sets = tuple((name, plain(_of(event.chunk, value, self.flat))) for name, value in event.sets)
        loops = tuple((name, int(event.chunk.at(value, self.flat))) for name, value in event.loops)  # type: ignore[call-overload]
        self.lines.append(Traced(event.span, tuple(self._loaded), tuple(self._stored), sets, loops))
        self._loaded, self._stored = [], []

    def _runs(self, active: Any, chunk: Chunk) -> bool:
        return self.flat >= 0 and (active is None or bool(chunk.at(active, self.flat)))


def _of(chunk: Chunk, value: Any, flat: int) -> Any:
    if isinstance(value, tuple):
        return tuple(_of(chunk, item, flat) for item in value)
    return chunk.at(strip(value), flat)


def plain(value: Any) -> Any:
    """A value as Python's own number, or the name of an array."""
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, int | float | complex | bool) else getattr(value, "name", "?")


def _index(view: View, word: int) -> tuple[int, ...]:
    base = view.base if isinstance(view.base, int) else view.base.base
    return view.index_of((word - base) % view.buffer.pitch if view.buffer.space == "shared" else word - base)


def find(chunk: Chunk, thread: Thread) -> int:
    """Flat position of a thread in a chunk, -1 where its block is not part of it."""
    for dim in range(3):
        if not 0 <= thread.block[dim] - chunk.start[dim] < chunk.size[dim]:
            return -1
        if not 0 <= thread.thread[dim] < chunk.geometry.block[dim]:
            return -1
    here = np.ones((1,) * len(chunk.shape), bool)
    for of_grid, wanted in ((True, thread.block), (False, thread.thread)):
        for dim in range(3):
            index = chunk.index(of_grid, dim)
            here = here & (index == wanted[dim] if isinstance(index, int) else index.array() == wanted[dim])
    return int(np.argmax(np.broadcast_to(here, chunk.shape)))
