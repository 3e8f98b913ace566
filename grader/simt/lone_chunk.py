"""One thread of each block, and the iterations of its loops as axes before those of the grid.

Where a single thread of every block fills a tile, element by element, a statement costs the same as for
all threads, and the loops repeat it hundreds of times. Over these axes it is executed once.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Thread
from grader.simt.affine import Affine, Extents, Whole
from grader.simt.geometry import Chunk

Loops = tuple[tuple[str, range], ...]


class LoneChunk(Chunk):
    """The threads at ``position``, an index for each block axis of ``root``, in iterations of ``loops``.

    ``loops`` are names and indices, outermost first; their axes come first, innermost first, and then
    the grid's. There are no block axes: a "block" of this chunk is one thread in one iteration.
    """

    def __init__(self, root: Chunk, position: tuple[int, ...], loops: Loops = ()) -> None:
        self.root = root
        self.place = position
        self.loops = loops
        self.geometry = root.geometry
        self.start, self.size = root.start, root.size
        counts = tuple(len(indices) for _, indices in reversed(loops))
        self.iterations = prod(counts)
        self.shape = counts + root.shape[: root.grid_axes]
        self.grid_axes = len(self.shape)
        self.axes = ()
        self.extents = Extents(self.shape)
        self.blocks = self.threads = prod(self.shape)

    def within(self, name: str, indices: range) -> LoneChunk:
        """The same threads in one loop more, inside the others."""
        return LoneChunk(self.root, self.place, (*self.loops, (name, indices)))

    # -- values ------------------------------------------------------------------------------------

    def linear(self, value: Affine) -> Whole:
        """A linear form over the root's axes, for these threads."""
        grid = self.root.grid_axes
        base = value.base + sum(c * at for c, at in zip(value.coefs[grid:], self.place, strict=True))
        return self._form(base, value.coefs[:grid])

    def deeper(self, value: Affine) -> Whole:
        """A linear form over the axes of fewer loops, for these threads."""
        return self._form(value.base, value.coefs)

    def _form(self, base: int, coefs: tuple[int, ...]) -> Whole:
        coefs = (0,) * (len(self.shape) - len(coefs)) + coefs
        return Affine(base, coefs, self.extents) if any(coefs) else base

    def part(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array over the root's axes, for these threads: over the grid's axes."""
        full = np.broadcast_to(value, self.root.shape)
        return full[(slice(None),) * self.root.grid_axes + self.place]

    def index_of_innermost(self) -> Whole:
        """The index of the innermost loop."""
        indices = self.loops[-1][1]
        return self._form(indices.start, (indices.step, *(0,) * (len(self.shape) - 1)))

    # -- iterations --------------------------------------------------------------------------------

    def number_of_iteration(self) -> Whole:
        """How many iterations come before a thread's own, in linear form."""
        coefs, step = [], 1
        for _, indices in reversed(self.loops):
            coefs.append(step)
            step *= len(indices)
        return Affine(0, (*coefs, *(0,) * self.root.grid_axes), self.extents)

    def at_iteration(self, number: int) -> tuple[int, ...]:
        """Where an iteration lies along the loops' axes."""
        at = []
        for _, indices in reversed(self.loops):
            number, here = divmod(number, len(indices))
            at.append(here)
        return tuple(at)

    def loops_of(self, number: int) -> tuple[tuple[str, int], ...]:
        """The values of the loops in an iteration, outermost first."""
        at = self.at_iteration(number)[::-1]
        return tuple((name, indices[here]) for (name, indices), here in zip(self.loops, at, strict=True))

    def in_iteration(self, value: Whole, number: int) -> Whole:
        """A linear form in one iteration, over the root's axes again."""
        if isinstance(value, int):
            return value
        at, grid = self.at_iteration(number), len(self.loops)
        base = value.base + sum(c * here for c, here in zip(value.coefs[:grid], at, strict=True))
        return Affine(base, value.coefs[grid:] + (0,) * len(self.place), self.root.extents)

    @property
    def root_shape(self) -> tuple[int, ...]:
        """The root's shape, of extent 1 along the block's axes."""
        return self.root.shape[: self.root.grid_axes] + (1,) * len(self.place)

    def spread(self, taken: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Threads of the grid's axes as a mask of the root's shape."""
        mask = np.zeros(self.root.shape, bool)
        mask[(slice(None),) * self.root.grid_axes + self.place] = taken
        return mask

    # -- numbers of threads ------------------------------------------------------------------------

    def _of(self, value: Any) -> Any:
        return self.linear(value) if isinstance(value, Affine) else value

    def index(self, of_grid: bool, dim: int) -> Whole:
        """``blockIdx`` or ``threadIdx`` in dimension 0, 1, 2 (x, y, z), in linear form."""
        found: Whole = self._of(self.root.index(of_grid, dim))
        return found

    @property
    def block_number(self) -> Whole:
        """The number of a thread's block within the root, in linear form."""
        found: Whole = self._of(self.root.block_number)
        return found

    @property
    def lane_number(self) -> Whole:
        """The linear number of the threads within their blocks."""
        found: Whole = self._of(self.root.lane_number)
        return found

    @property
    def chunk_number(self) -> Whole:
        """The linear number of a thread within the root, in linear form."""
        found: Whole = self._of(self.root.chunk_number)
        return found

    @property
    def thread_number(self) -> Whole:
        """The linear number of a thread within the launch, in linear form."""
        found: Whole = self._of(self.root.thread_number)
        return found

    def thread(self, flat: int) -> Thread:
        """The thread at a flat position."""
        at = np.unravel_index(flat, self.shape)[len(self.loops) :]
        return self.root.thread(int(np.ravel_multi_index((*at, *self.place), self.root.shape)))
