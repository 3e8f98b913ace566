"""Which words of shared memory the tensor cores of a warpgroup may not see yet.

They read by a way of their own, the asynchronous proxy. What a thread has written becomes visible there
once that thread has executed ``fence.proxy.async`` after it (PTX ISA, "Async proxy").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.geometry import Chunk
from grader.simt.memory import Address, Buffer
from grader.simt.shadows import mark


class AsyncProxy:
    """When each word of a chunk's shared memory was written, and by whom; when each thread fenced."""

    def __init__(self, chunk: Chunk) -> None:
        self.clock = 0
        self.threads = np.arange(chunk.threads).reshape(chunk.shape)
        self.fenced = np.zeros(chunk.shape, np.int64)
        #: By buffer (the same for all arrays that share memory): the time of the last write, the writer.
        self.words: dict[int, tuple[Any, Any]] = {}

    def wrote(self, mc: Any, buffer: Buffer, address: Address, where: Any) -> None:
        """Note a write to shared memory by the threads of ``where`` (None: all of them)."""
        self.clock += 1
        times, writers = self._of(buffer)
        mark(mc, buffer, times, address, where, np.int64(self.clock))
        mark(mc, buffer, writers, address, where, self.threads)

    def fence(self, active: Any) -> None:
        """``fence.proxy.async`` by the threads of a mask."""
        self.clock += 1
        self.fenced[... if active is None else np.broadcast_to(active.array, self.fenced.shape)] = self.clock

    def hidden(self, buffer: Buffer, words: npt.NDArray[Any]) -> bool:
        """Whether some of the words was written, and not fenced by its writer since.

        A word whose writing was not noted counts as hidden, unless nobody wrote it.
        """
        times, writers = self._of(buffer)
        seen = times[words]
        assert buffer.taint is not None
        unnoted = (seen == 0) & (buffer.taint[words] == 0)
        late = (seen > 0) & (seen > self.fenced.ravel()[writers[words]])
        return bool((unnoted | late).any())

    def _of(self, buffer: Buffer) -> tuple[Any, Any]:
        memory = buffer.taint
        assert memory is not None
        known = self.words.get(id(memory))
        if known is None:
            known = np.zeros(memory.size, np.int64), np.zeros(memory.size, np.int64)
            self.words[id(memory)] = known
        return known


__all__ = ["AsyncProxy"]
