"""A store by one thread of each block in many iterations of its loops, logged as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine, Whole
from grader.simt.evidence import Site
from grader.simt.lone_chunk import LoneChunk
from grader.simt.mask import Active, Mask
from grader.simt.memory import Address, View
from grader.simt.race import WRITE, Access
from grader.simt.race_sweep import Sweep
from grader.simt.race_words import Scope, Words, expand
from grader.simt.values import strip


@dataclass(eq=False, slots=True)
class Stored:
    """One store of a loop's body, by the lone threads of a chunk, in all iterations.

    ``address``, ``dims`` and ``mask`` are over the axes of ``chunk``; ``value`` is broadcastable to it.
    """

    site: Site
    view: View
    address: Affine
    dims: tuple[Whole, ...]
    mask: Active
    value: Any
    chunk: LoneChunk

    def last(self) -> int:
        """The number of the last iteration in which some thread stores."""
        if self.mask is None:
            return self.chunk.iterations - 1
        taken = np.broadcast_to(self.mask.array, self.chunk.shape)
        some = self.chunk.in_turn(taken).reshape(self.chunk.iterations, -1).any(axis=1)
        return int(np.flatnonzero(some)[-1])

    def threads_in(self, number: int) -> npt.NDArray[np.bool_]:
        """The threads that store in an iteration, over the axes of grid and box."""
        taken = np.broadcast_to(np.True_ if self.mask is None else self.mask.array, self.chunk.shape)
        found: npt.NDArray[np.bool_] = taken[self.chunk.at_iteration(number)]
        return found


class Batch(Sweep):
    """A :class:`Stored` in the log of a barrier interval, with its place there and the loops around.

    ``order`` is the first iteration's place among all accesses, and how far the next one's is from it.
    """

    __slots__ = ("around", "stored")
    stores = True

    def __init__(
        self,
        stored: Stored,
        view: View,
        order: tuple[int, int],
        around: tuple[tuple[str, Any], ...],
        number: int,
    ) -> None:
        form = (*(part.start for part in stored.chunk.box), *stored.chunk.shape)
        loops = (around, "", range(stored.chunk.iterations), ())
        place = (stored.address, stored.dims, form, stored.mask)
        super().__init__(order, stored.site, view, *place, loops, number)
        self.stored = stored
        self.around = around

    def loops_of(self, number: int) -> tuple[tuple[str, Any], ...]:
        """The values of the loops in an iteration."""
        return (*self.around, *self.stored.chunk.loops_of(number))

    def words(self) -> Words:
        """The words of all iterations, with the number of each one's iteration."""
        one, chunk = self.stored, self.stored.chunk
        access = self._access(one.address)
        found = expand(access, Scope(chunk, chunk.lane_number, None), by_thread=True)
        every = expand(self._access(chunk.number_of_iteration()), Scope(chunk, 0, None), by_thread=True)
        return Words(WRITE, found.keys, found.low, found.high, found.bits, self, every.keys)

    def _access(self, address: Address) -> Access:
        one, order = self.stored, self.order[0]
        return Access(
            order, WRITE, one.site, self.view, address, one.dims, one.mask, None, (), one.value, self.number
        )

    def separately(self) -> Iterator[Access]:
        """The store of each iteration for itself, over the axes of the whole chunk."""
        one, chunk = self.stored, self.stored.chunk
        values = np.broadcast_to(np.asarray(strip(one.value)), chunk.shape)
        for number in range(chunk.iterations):
            taken = one.threads_in(number)
            if not taken.any():
                continue
            mask = Mask(chunk.spread(taken), None)
            value = chunk.spread(values[chunk.at_iteration(number)])
            dims = tuple(chunk.in_iteration(dim, number) for dim in one.dims)
            address = chunk.in_iteration(one.address, number)
            parts = (self.order_of(number), WRITE, one.site, self.view, address, dims, mask, None)
            yield Access(*parts, self.loops_of(number), value, self.number)


__all__ = ["Batch", "Stored"]
