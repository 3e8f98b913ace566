"""The launches that the independent oracles make: small, with a tile of 4, of every kind that matters."""

from __future__ import annotations

from typing import Any

import numpy as np

TILE = 4
#: M, N, K: aligned, each ragged, all ragged, below one tile, one, one more than tiles, tall, wide, deep.
SHAPES = (
    (8, 8, 8),
    (4, 12, 8),
    (12, 4, 8),
    (6, 7, 8),
    (8, 4, 10),
    (5, 9, 6),
    (3, 9, 2),
    (9, 5, 1),
    (1, 5, 9),
    (6, 1, 17),
    (1, 1, 1),
    (2, 3, 13),
    (13, 3, 5),
)
TOLERANCE = 2e-5


def inputs(sizes: tuple[int, int, int]) -> tuple[Any, Any, Any]:
    """A, B of float32 fractions, and the product in float64."""
    m, n, k = sizes
    rng = np.random.default_rng([m, n, k])
    a = rng.uniform(0.2, 3.0, (m, k)).astype(np.float32)
    b = rng.uniform(0.2, 3.0, (k, n)).astype(np.float32)
    return a, b, a.astype(np.float64) @ b.astype(np.float64)


def block_of(style: str) -> tuple[int, int]:
    return (TILE // 2, TILE // 2) if style == "register_block" else (TILE, TILE)


def grid_of(sizes: tuple[int, int, int]) -> tuple[int, int]:
    return -(-sizes[1] // TILE), -(-sizes[0] // TILE)


def small(source: str) -> str:
    """The submission with the small tile."""
    return source.replace("TILE = 16\n", f"TILE = {TILE}\n")
