"""Chunks, axes and thread numbers against plain enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from grader.records import Thread
from grader.simt.affine import Affine
from grader.simt.geometry import BYTES_PER_CHUNK, THREADS_PER_CHUNK, Chunk, Geometry

LAUNCHES = [
    ((1, 1, 1), (1, 1, 1), ()),
    ((3, 1, 1), (4, 1, 1), ()),
    ((2, 3, 1), (4, 2, 1), ()),
    ((2, 2, 2), (2, 3, 2), ()),
    ((1, 1, 5), (1, 1, 4), ()),
    ((3, 1, 1), (12, 1, 1), (4,)),
    ((2, 1, 1), (64, 2, 1), (16, 4)),
    ((1, 2, 1), (6, 4, 1), (6, 12)),
]


def every_thread(geometry: Geometry) -> list[Thread]:
    """All threads of a launch, x fastest, blocks before threads."""
    (gx, gy, gz), (bx, by, bz) = geometry.grid, geometry.block
    return [
        Thread((x, y, z), (tx, ty, tz))
        for z, y, x in product(range(gz), range(gy), range(gx))
        for tz, ty, tx in product(range(bz), range(by), range(bx))
    ]


def values(chunk: Chunk, value: int | Affine) -> list[int]:
    array = value.array() if isinstance(value, Affine) else np.full((1,) * len(chunk.shape), value)
    return [int(each) for each in np.broadcast_to(array, chunk.shape).ravel()]


@pytest.mark.parametrize(("grid", "block", "splits"), LAUNCHES)
def test_a_chunk_lists_its_threads_in_order(grid: tuple, block: tuple, splits: tuple) -> None:
    geometry = Geometry(grid, block, splits)
    (chunk,) = geometry.chunks()
    expected = every_thread(geometry)
    assert [chunk.thread(flat) for flat in range(chunk.threads)] == expected
    assert [chunk.position(thread) for thread in expected] == list(range(chunk.threads))
    assert [geometry.thread(number) for number in range(len(expected))] == expected


@pytest.mark.parametrize(("grid", "block", "splits"), LAUNCHES)
def test_indices_and_numbers(grid: tuple, block: tuple, splits: tuple) -> None:
    geometry = Geometry(grid, block, splits)
    (chunk,) = geometry.chunks()
    expected = every_thread(geometry)
    for dim in range(3):
        assert values(chunk, chunk.index(True, dim)) == [thread.block[dim] for thread in expected]
        assert values(chunk, chunk.index(False, dim)) == [thread.thread[dim] for thread in expected]
    size = geometry.threads_per_block
    flat = list(range(len(expected)))
    assert values(chunk, chunk.lane_number) == [at % size for at in flat]
    assert values(chunk, chunk.block_number) == [at // size for at in flat]
    assert values(chunk, chunk.chunk_number) == flat
    assert values(chunk, chunk.thread_number) == flat
    assert np.broadcast_to(chunk.launch_block, chunk.shape).ravel().tolist() == [at // size for at in flat]


@pytest.mark.parametrize("grid", [(700, 1, 1), (3, 500, 1), (5, 7, 40), (1, 1, 300), (64, 64, 1)])
def test_chunks_cover_the_grid_once_and_in_order(grid: tuple) -> None:
    geometry = Geometry(grid, (32, 8, 1))
    seen = []
    for chunk in geometry.chunks():
        assert chunk.threads <= max(THREADS_PER_CHUNK, geometry.threads_per_block)
        start = geometry.threads_per_block * np.arange(chunk.blocks)
        seen += [chunk.thread(int(flat)).block for flat in start]
        numbers = np.broadcast_to(chunk.thread_number.array(), chunk.shape).ravel()[start]  # type: ignore[union-attr]
        assert [geometry.thread(int(number)).block for number in numbers] == seen[-chunk.blocks :]
    assert seen == [(x, y, z) for z, y, x in product(*map(range, reversed(grid)))]


def test_a_resident_grid_is_one_chunk() -> None:
    assert len(list(Geometry((700, 1, 1), (256, 1, 1)).chunks(resident=True))) == 1


def test_shared_memory_limits_the_blocks_of_a_chunk() -> None:
    chunks = list(Geometry((20_000, 1, 1), (1, 1, 1)).chunks(block_bytes=48 * 1024))
    assert max(chunk.blocks for chunk in chunks) == BYTES_PER_CHUNK // (48 * 1024)
    assert sum(chunk.blocks for chunk in chunks) == 20_000


def test_axes_are_split_where_the_kernel_divides() -> None:
    assert [axis.extent for axis in Geometry((1, 1, 1), (256, 1, 1), (16,)).block_axes] == [16, 16]
    assert [axis.extent for axis in Geometry((1, 1, 1), (100, 1, 1), (16,)).block_axes] == [100]
    assert [axis.extent for axis in Geometry((1, 1, 1), (256, 1, 1), (8, 64)).block_axes] == [4, 8, 8]


def test_by_block_counts_threads() -> None:
    (chunk,) = Geometry((3, 1, 1), (4, 1, 1)).chunks()
    mask = np.zeros((3, 4), bool)
    mask[1, :2] = mask[2] = True
    assert chunk.by_block(mask).tolist() == [0, 2, 4]
    assert chunk.by_block(None).tolist() == [4, 4, 4]
