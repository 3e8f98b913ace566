"""Which kernels go on from their own block, so that no grid is too small for them."""

from __future__ import annotations

import ast

import pytest

from grader.checks.grid_stride import walks_along


@pytest.mark.parametrize(
    ("body", "axes"),
    [
        ("for b in range(cuda.blockIdx.y, tiles, cuda.gridDim.y): pass", "y"),
        ("for b in range(cuda.blockIdx.y, tiles, 16): pass", "y"),
        ("first = cuda.blockIdx.x * 16\n    for i in range(first + tx, N, step): pass", "x"),
        ("x, y = cuda.grid(2)\n    for i in range(y, M, cuda.gridsize(2)[1]): pass", "y"),
        ("i = cuda.grid(1)\n    while i < M:\n        i += cuda.gridsize(1)", "x"),
        ("i = cuda.grid(1)\n    while i < M:\n        M = M - 1", ""),
        ("for k in range(0, K, 16): pass", ""),
        ("for i in range(cuda.threadIdx.x, 256, 32): pass", ""),
        # The rows of the block's own tile, and no further ones.
        ("i0 = cuda.blockIdx.y * 16\n    for i in range(i0 + ty, min(i0 + 16, M), 4): pass", ""),
    ],
)
def test_a_loop_over_blocks_begins_at_its_own_and_goes_beyond(body: str, axes: str) -> None:
    [function] = ast.parse(f"def kernel(M, N, K):\n    {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert [axis for axis in "xyz" if walks_along(function, axis)] == list(axes)
