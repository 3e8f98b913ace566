"""What one execution of a load or store asks of the memory system: requests, sectors, bank conflicts.

Blocks that differ only in where they start cost the same, so one of them is worked out for all. What
a pattern costs is kept for the next launch: the shapes of a suite come again with every submission.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine, Extents
from grader.simt.geometry import Chunk

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
#: Costs that are kept, and the largest mask or address array that is compared to find one.
MAX_KEPT = 20_000
MAX_COMPARED_BYTES = 1 << 16

Cost = tuple[int, int, int]
_kept: OrderedDict[Any, Cost] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Pattern:
    """The addresses of one access, in elements, and the threads (a bool array) that make it; None: all."""

    space: str
    itemsize: int
    warp: int
    address: Any
    mask: npt.NDArray[np.bool_] | None


def cost(pattern: Pattern, chunk: Chunk) -> Cost:
    """(requests, sectors or bank conflicts, active threads) of one execution by all blocks of a chunk."""
    key = _key(pattern, chunk)
    if key is None:
        return _cost(pattern, chunk)
    found = _kept.get(key)
    if found is None:
        found = _kept[key] = _cost(pattern, chunk)
        if len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    else:
        _kept.move_to_end(key)
    return found


def _key(pattern: Pattern, chunk: Chunk) -> Any:
    """What the cost hangs on, by value; None where that is large."""
    address, mask = pattern.address, pattern.mask
    where: Any = None
    if isinstance(address, Affine):
        where = (address.base % period(pattern.space, pattern.itemsize), address.coefs)
    elif isinstance(address, np.ndarray):
        where = _digest(address)
    threads = None if mask is None else _digest(mask)
    if where is False or threads is False:
        return None
    shape = (chunk.shape, chunk.grid_axes)
    return (pattern.space, pattern.itemsize, pattern.warp, where, threads, shape)


def _digest(array: npt.NDArray[Any]) -> Any:
    if array.nbytes > MAX_COMPARED_BYTES:
        return False
    return (array.shape, hashlib.blake2b(array.tobytes(), digest_size=16).digest())


def period(space: str, itemsize: int) -> int:
    """How many elements further on an access costs the same again: those of a sector, or of a bank's word."""
    return max(1, (SECTOR_BYTES if space == "global" else BANK_BYTES) // itemsize)


def _cost(pattern: Pattern, chunk: Chunk) -> Cost:
    address, axes = pattern.address, chunk.grid_axes
    if pattern.mask is not None or not isinstance(address, Affine) or not any(address.coefs[:axes]):
        return _of_all_blocks(pattern, chunk)
    # Blocks that start at the same place of a sector (or a bank's word) cost the same.
    every = period(pattern.space, pattern.itemsize)
    starts: Any = np.zeros((1,) * axes, np.int64)
    for axis, coef in enumerate(address.coefs[:axes]):
        along = [1] * axes
        along[axis] = -1
        starts = starts + (coef * np.arange(chunk.shape[axis], dtype=np.int64)).reshape(along)
    times = np.bincount((np.broadcast_to(starts, chunk.shape[:axes]) % every).ravel(), minlength=every)
    if np.count_nonzero(times) >= chunk.blocks:
        return _of_all_blocks(pattern, chunk)
    total = np.zeros(3, np.int64)
    block = Extents(chunk.shape[axes:])
    for start in np.flatnonzero(times):
        there = Affine(address.base + int(start), address.coefs[axes:], block).array()
        lanes = _by_warp(np.broadcast_to(there, block.shape).reshape(1, -1), pattern.warp, -1)
        total += times[start] * np.array(of_lanes(lanes, pattern))
    requests, second, threads = (int(part) for part in total)
    return requests, second, threads


def _of_all_blocks(pattern: Pattern, chunk: Chunk) -> Cost:
    address, mask = pattern.address, pattern.mask
    spread = address.array() if isinstance(address, Affine) else np.asarray(address)
    spread = spread.reshape((1,) * (len(chunk.shape) - spread.ndim) + spread.shape)
    shape = spread.shape if mask is None else np.broadcast_shapes(spread.shape, mask.shape)
    grid = shape[: chunk.grid_axes]
    shape = (*grid, *chunk.shape[chunk.grid_axes :])
    blocks = int(np.prod(grid)) if grid else 1
    repeat = chunk.blocks // blocks
    lanes = _by_warp(np.broadcast_to(spread, shape).reshape(blocks, -1), pattern.warp, -1)
    if mask is not None:
        on = _by_warp(np.broadcast_to(mask, shape).reshape(blocks, -1), pattern.warp, False)
        lanes = np.where(on, lanes, -1)
    requests, second, threads = of_lanes(lanes, pattern)
    return repeat * requests, repeat * second, repeat * threads


def _by_warp(values: npt.NDArray[Any], warp: int, filler: Any) -> npt.NDArray[Any]:
    """Rows of one warp each, the last warp of a block filled up (int64 or bool)."""
    blocks, threads = values.shape
    lack = -threads % warp
    if lack:
        values = np.concatenate([values, np.full((blocks, lack), filler, values.dtype)], axis=1)
    return np.ascontiguousarray(values).reshape(-1, warp)


def of_lanes(lanes: npt.NDArray[np.int64], pattern: Pattern) -> Cost:
    """The cost of warps, a row each: the element that each lane asks for, -1 where it asks for none."""
    active = lanes >= 0
    requests = int(np.count_nonzero(active.any(axis=1)))
    threads = int(np.count_nonzero(active))
    if pattern.space == "global":
        return requests, _sectors(lanes, active, pattern.itemsize), threads
    return requests, _bank_conflicts(lanes, pattern.itemsize), threads


def _sectors(lanes: npt.NDArray[np.int64], active: npt.NDArray[np.bool_], itemsize: int) -> int:
    """Distinct 32-byte sectors of each warp, summed."""
    sectors = np.where(active, lanes * itemsize // SECTOR_BYTES, -1)
    ordered = np.sort(sectors, axis=1)
    fresh = ordered[:, 1:] != ordered[:, :-1]
    return int(np.count_nonzero(fresh & (ordered[:, 1:] >= 0)) + np.count_nonzero(ordered[:, 0] >= 0))


def _bank_conflicts(lanes: npt.NDArray[np.int64], itemsize: int) -> int:
    """Extra wavefronts: for each warp, the most distinct words on one bank, less one.

    A value wider than a bank is served in as many passes as it has words, each by part of the
    warp, so its words are counted for half warps (8 bytes) or quarter warps (16 bytes).
    """
    passes = max(1, itemsize // BANK_BYTES)
    rows = lanes.reshape(-1, lanes.shape[1] // passes)
    words = np.where(rows >= 0, rows * itemsize // BANK_BYTES, -1)
    ordered = np.sort(words, axis=1)
    fresh = np.ones(ordered.shape, bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    fresh &= ordered >= 0
    banks = ordered % BANKS
    number = np.arange(len(rows))[:, None] * BANKS + banks
    load = np.bincount(number[fresh], minlength=len(rows) * BANKS).reshape(-1, BANKS)
    return int(np.maximum(load.max(axis=1) - 1, 0).sum())
