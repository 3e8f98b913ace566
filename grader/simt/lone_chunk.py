"""A few threads of each block, and the iterations of their loops as axes before those of the grid.

Where one thread or two of every block fill a tile, element by element, a statement costs the same as for
all threads, and the loops repeat it hundreds of times. Over these axes it is executed once.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grader.records import Thread
from grader.simt.affine import Affine, Extents, Whole
from grader.simt.geometry import Chunk


class Round(NamedTuple):
    """A loop: its place and name, what it is told by, and the axes of its iterations, outermost first.

    ``values`` are those of its variable, and ``indices`` what evidence tells: of a ``while``, the passes.
    """

    ident: int
    name: str
    indices: range
    values: range
    extents: tuple[int, ...]


class LoneChunk(Chunk):
    """The threads of ``box``, a range for each block axis of ``root``, in iterations of ``loops``.

    ``loops`` are outermost first; their axes come first, innermost first, then the grid's, and then the
    box's. To what works block by block there are no block axes: a "block" of this chunk is one thread
    in one iteration.
    """

    def __init__(self, root: Chunk, box: tuple[range, ...], loops: tuple[Round, ...] = ()) -> None:
        self.root = root
        self.box = box
        self.loops = loops
        self.geometry = root.geometry
        self.start, self.size = root.start, root.size
        self.counts = tuple(extent for loop in loops for extent in loop.extents)[::-1]
        self.iterations = prod(self.counts)
        self.lanes = prod(len(part) for part in box)
        self.shape = (*self.counts, *root.shape[: root.grid_axes], *(len(part) for part in box))
        self.grid_axes = len(self.shape)
        self.axes = ()
        self.extents = Extents(self.shape)
        self.blocks = self.threads = prod(self.shape)

    def within(self, loop: Round) -> LoneChunk:
        """The same threads in one loop more, inside the others."""
        return LoneChunk(self.root, self.box, (*self.loops, loop))

    # -- values ------------------------------------------------------------------------------------

    def linear(self, value: Affine) -> Whole:
        """A linear form over the root's axes, for these threads."""
        return self._form(value.base + self.start_of(value.coefs), value.coefs)

    def start_of(self, coefs: tuple[int, ...]) -> int:
        """What the box's place adds to a linear form; ``coefs`` end with those of the block's axes."""
        parts = zip(coefs[len(coefs) - len(self.box) :], self.box, strict=True)
        return sum(coef * part.start for coef, part in parts)

    def deeper(self, value: Affine) -> Whole:
        """A linear form over the axes of fewer loops, for these threads."""
        return self._form(value.base, value.coefs)

    def _form(self, base: int, coefs: tuple[int, ...]) -> Whole:
        coefs = (0,) * (len(self.shape) - len(coefs)) + coefs
        return Affine(base, coefs, self.extents) if any(coefs) else base

    def part(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array over the root's axes, for these threads: over the axes of grid and box."""
        found: npt.NDArray[Any] = np.broadcast_to(value, self.root.shape)[self._where]
        return found

    @property
    def _where(self) -> Any:
        inside = (slice(part.start, part.stop) for part in self.box)
        return (*(slice(None),) * self.root.grid_axes, *inside)

    def index_of_innermost(self) -> Whole:
        """The index of the innermost loop."""
        values = self.loops[-1].values
        coefs, step = [], values.step
        for extent in reversed(self.loops[-1].extents):
            coefs.append(step)
            step *= extent
        form = (*coefs, *(0,) * (len(self.shape) - len(coefs)))
        return Affine(values.start, form, self.extents)

    # -- iterations --------------------------------------------------------------------------------

    def number_of_iteration(self) -> Whole:
        """How many iterations come before a thread's own, in linear form."""
        coefs, step = [], 1
        for extent in self.counts:
            coefs.append(step)
            step *= extent
        return Affine(0, (*coefs, *(0,) * (len(self.shape) - len(coefs))), self.extents)

    def in_turn(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array over the chunk's axes, with one axis of all iterations in order, and those of threads."""
        count = len(self.counts)
        full = np.broadcast_to(values, self.shape)
        ordered = full.transpose((*reversed(range(count)), *range(count, full.ndim)))
        return ordered.reshape(self.iterations, *self.shape[count:])

    def at_iteration(self, number: int) -> tuple[int, ...]:
        """Where an iteration lies along the loops' axes."""
        at = []
        for extent in self.counts:
            number, here = divmod(number, extent)
            at.append(here)
        return tuple(at)

    def loops_of(self, number: int) -> tuple[tuple[str, int], ...]:
        """The values of the loops in an iteration, outermost first."""
        found = []
        for loop in reversed(self.loops):
            number, here = divmod(number, len(loop.indices))
            found.append((loop.name, loop.indices[here]))
        return tuple(reversed(found))

    def in_iteration(self, value: Whole, number: int) -> Whole:
        """A linear form in one iteration, over the root's axes again."""
        if isinstance(value, int):
            return value
        at, count = self.at_iteration(number), len(self.counts)
        base = value.base + sum(c * here for c, here in zip(value.coefs[:count], at, strict=True))
        coefs = value.coefs[count:]
        return Affine(base - self.start_of(coefs), coefs, self.root.extents)

    def bases(self, value: Affine) -> tuple[npt.NDArray[np.int64], tuple[int, ...]]:
        """A linear form in all iterations: the bases over the root's axes, in order, and the coefficients."""
        count = len(self.counts)
        coefs = value.coefs[count:]
        form = Affine(value.base - self.start_of(coefs), value.coefs[:count], Extents(self.counts))
        spread = np.broadcast_to(form.array(), self.counts)
        return spread.T.ravel(), coefs

    def spread(self, taken: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array over the axes of grid and box over the root's, 0 or False for all other threads."""
        full = np.zeros(self.root.shape, taken.dtype)
        full[self._where] = taken
        return full

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
        at = list(np.unravel_index(flat, self.shape)[len(self.counts) :])
        for axis, part in enumerate(self.box, start=self.root.grid_axes):
            at[axis] += part.start
        return self.root.thread(int(np.ravel_multi_index(tuple(at), self.root.shape)))
