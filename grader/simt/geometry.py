"""The launch's axes, and the chunks of blocks that are interpreted together.

A chunk's arrays have one axis for each grid and block dimension of more than one element, grid
before block and z before y before x, so that the order of elements is the order of threads: the
first True of a mask is its lowest thread. A block axis may be split in two where the kernel divides
thread numbers by a constant (``tid // TILE``), which keeps such indices linear in the axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grader.records import Dim3, Thread
from grader.simt.affine import Affine, Extents, Whole, add, scale

THREADS_PER_CHUNK = 65_536
BYTES_PER_CHUNK = 64 << 20
DIMS = ("x", "y", "z")


class Box(NamedTuple):
    """Some blocks of a grid: the first of them, and how many there are along x, y and z."""

    start: Dim3
    size: Dim3


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: which dimension it is a part of, its step in that dimension, its extent."""

    of_grid: bool
    dim: int
    step: int
    extent: int


@dataclass(frozen=True)
class Geometry:
    """Grid and block of a launch, each as (x, y, z), and how its block axes are split."""

    grid: Dim3
    block: Dim3
    splits: tuple[int, ...] = ()

    @property
    def blocks(self) -> int:
        """How many blocks the grid has."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        """How many threads each block has."""
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def block_axes(self) -> tuple[Axis, ...]:
        """Axes of the block's dimensions of more than one thread, z before y before x."""
        axes = [axis for dim in (2, 1, 0) for axis in self._factored(dim) if axis.extent > 1]
        return tuple(axes)

    def _factored(self, dim: int) -> list[Axis]:
        """Axes of one block dimension, coarsest first, split at the kernel's own divisors."""
        extent, step, axes = self.block[dim], 1, []
        below = self.block[0] * self.block[1] if dim == 2 else self.block[0] if dim else 1
        wanted = {*self.splits, *(split // below for split in self.splits if split % below == 0)}
        for split in sorted(wanted - {0, 1}):
            part, rest = divmod(split, step)
            if rest == 0 and part > 1 and extent % (step * part) == 0 and step * part < extent:
                axes.append(Axis(False, dim, step, part))
                step *= part
        axes.append(Axis(False, dim, step, extent // step))
        return axes[::-1]

    def thread(self, number: int) -> Thread:
        """The thread of a number that counts through the launch, block by block."""
        block, lane = divmod(number, self.threads_per_block)
        return Thread(_coordinates(block, self.grid), _coordinates(lane, self.block))

    def chunks(self, resident: bool = False, block_bytes: int = 0, box: Box | None = None) -> Iterator[Chunk]:
        """All blocks, or those of a box, in order, in chunks whose size depends on the launch alone.

        ``resident`` keeps the whole grid in one chunk, as grid-wide synchronisation needs.
        ``block_bytes`` is the shared and local memory of one block, which a chunk holds for all
        of its blocks.
        """
        room = max(1, THREADS_PER_CHUNK // self.threads_per_block)
        if block_bytes:
            room = max(1, min(room, BYTES_PER_CHUNK // block_bytes))
        if resident:
            room = self.blocks
        (left, top, front), (gx, gy, gz) = box or Box((0, 0, 0), self.grid)
        nx = min(gx, room)
        ny = min(gy, max(1, room // gx)) if nx == gx else 1
        nz = min(gz, max(1, room // (gx * gy))) if ny == gy and nx == gx else 1
        for z in range(0, gz, nz):
            for y in range(0, gy, ny):
                for x in range(0, gx, nx):
                    size = (min(nx, gx - x), min(ny, gy - y), min(nz, gz - z))
                    yield Chunk(self, (left + x, top + y, front + z), size)


def _coordinates(number: int, extents: Dim3) -> Dim3:
    rest, x = divmod(number, extents[0])
    z, y = divmod(rest, extents[1])
    return x, y, z


class Chunk:
    """Some consecutive blocks of a launch and the axes of their threads."""

    def __init__(self, geometry: Geometry, start: Dim3, size: Dim3) -> None:
        self.geometry = geometry
        self.start = start
        self.size = size
        grid_axes = [Axis(True, dim, 1, size[dim]) for dim in (2, 1, 0) if size[dim] > 1]
        self.axes = (*grid_axes, *geometry.block_axes) or (Axis(False, 0, 1, 1),)
        self.grid_axes = len(grid_axes)
        self.shape = tuple(axis.extent for axis in self.axes)
        self.extents = Extents(self.shape)
        self.blocks = size[0] * size[1] * size[2]
        self.threads = self.blocks * geometry.threads_per_block

    def index(self, of_grid: bool, dim: int) -> Whole:
        """``blockIdx`` or ``threadIdx`` in dimension 0, 1, 2 (x, y, z), in linear form."""
        coefs = tuple(axis.step if axis.of_grid == of_grid and axis.dim == dim else 0 for axis in self.axes)
        base = self.start[dim] if of_grid else 0
        return Affine(base, coefs, self.extents) if any(coefs) else base

    @cached_property
    def block_number(self) -> Whole:
        """The number of a thread's block within the chunk, in linear form."""
        coefs, step = [0] * len(self.axes), 1
        for position in reversed(range(self.grid_axes)):
            coefs[position] = step
            step *= self.shape[position]
        return Affine(0, tuple(coefs), self.extents) if any(coefs) else 0

    @cached_property
    def launch_block(self) -> npt.NDArray[np.int64]:
        """The number of a thread's block within the grid, broadcastable to the chunk (int64)."""
        gx, gy, _ = self.geometry.grid
        number: npt.NDArray[np.int64] = np.zeros((1,) * len(self.axes), np.int64)
        for dim, step in zip(range(3), (1, gx, gx * gy), strict=True):
            index = self.index(True, dim)
            number = number + step * (index.array() if isinstance(index, Affine) else index)
        return number

    @cached_property
    def lane_number(self) -> Whole:
        """The linear number of a thread within its block, in linear form."""
        coefs, step = [0] * len(self.axes), 1
        for position in reversed(range(self.grid_axes, len(self.axes))):
            coefs[position] = step
            step *= self.shape[position]
        return Affine(0, tuple(coefs), self.extents) if any(coefs) else 0

    @cached_property
    def chunk_number(self) -> Whole:
        """The linear number of a thread within the chunk, in linear form."""
        coefs, step = [0] * len(self.axes), 1
        for position in reversed(range(len(self.axes))):
            coefs[position] = step
            step *= self.shape[position]
        return Affine(0, tuple(coefs), self.extents) if self.threads > 1 else 0

    @cached_property
    def thread_number(self) -> Whole:
        """The linear number of a thread within the launch, block by block, in linear form."""
        gx, gy, _ = self.geometry.grid
        number: Whole = self.lane_number
        for dim, step in zip(range(3), (1, gx, gx * gy), strict=True):
            index = self.index(True, dim)
            size = step * self.geometry.threads_per_block
            number = add(number, scale(index, size) if isinstance(index, Affine) else index * size)
        return number

    def position(self, thread: Thread) -> int | None:
        """The flat position of a thread, or None where it belongs to another chunk."""
        within = [at - start for at, start in zip(thread.block, self.start, strict=True)]
        if any(not 0 <= at < size for at, size in zip(within, self.size, strict=True)):
            return None
        (bx, by, bz), (tx, ty, tz) = within, thread.thread
        width, height, _ = self.geometry.block
        block = bx + self.size[0] * (by + self.size[1] * bz)
        return block * self.geometry.threads_per_block + tx + width * (ty + height * tz)

    def full(self, array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """``array`` broadcast to the chunk's shape."""
        return np.broadcast_to(array, self.shape)

    def thread(self, flat: int) -> Thread:
        """The thread at a flat position of the chunk."""
        where = np.unravel_index(flat, self.shape)
        block, thread = list(self.start), [0, 0, 0]
        for axis, position in zip(self.axes, where, strict=True):
            target = block if axis.of_grid else thread
            target[axis.dim] += axis.step * int(position)
        return Thread((block[0], block[1], block[2]), (thread[0], thread[1], thread[2]))

    def at(self, value: object, flat: int) -> object:
        """The element of a broadcastable value that belongs to the thread at ``flat``."""
        if isinstance(value, Affine):
            value = value.array()
        if isinstance(value, np.ndarray):
            return np.broadcast_to(value, self.shape)[np.unravel_index(flat, self.shape)]
        return value

    def by_block(self, mask: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.int64]:
        """How many threads of each block are in ``mask`` (int64, one element a block)."""
        if mask is None:
            return np.full(self.blocks, self.geometry.threads_per_block, np.int64)
        full = np.broadcast_to(mask, self.shape).reshape(self.blocks, -1)
        return np.asarray(np.count_nonzero(full, axis=1))
