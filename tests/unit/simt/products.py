"""Tiled products with one or two oddities each: what the machine's short cuts are compared on."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from grader.simt import Program, Run, launch, parse

HEAD = "from numba import cuda, float32, float64\nTILE = 8\n\n@cuda.jit\ndef kernel(A, B, C, M, N, K):\n"
TILED = (
    HEAD
    + """    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    {start}
    for t in range({tiles}):
        {load_a}
        {load_b}
        {first}
        for k in range({low}, TILE{step}):
            {body}
        {second}
    {store}
"""
)
PIECES: dict[str, tuple[str, ...]] = {
    "start": (
        "acc = float32(0.0)",
        "acc = 0.0",
        "acc = float32(0.0); prod = float32(1.0)",
        "acc = float32(tx)",
    ),
    "tiles": ("(K + TILE - 1) // TILE", "K // TILE"),
    "load_a": (
        "As[ty, tx] = A[row, t * TILE + tx] if row < M and t * TILE + tx < K else float32(0.0)",
        "if row < M and t * TILE + tx < K: As[ty, tx] = A[row, t * TILE + tx]",
        "As[ty, tx] = A[row, t * TILE + tx]",
    ),
    "load_b": (
        "Bs[ty, tx] = B[t * TILE + ty, col] if t * TILE + ty < K and col < N else float32(0.0)",
        "Bs[tx, ty] = B[t * TILE + ty, col] if t * TILE + ty < K and col < N else float32(0.0)",
        "if t * TILE + ty < K and col < N: Bs[ty, tx] = B[t * TILE + ty, col]",
    ),
    "first": ("cuda.syncthreads()", "pass", "cuda.syncwarp()"),
    "low": ("0", "1", "tx - tx"),
    "step": ("", ", 2", ", -1"),
    "body": (
        "acc += As[ty, k] * Bs[k, tx]",
        "acc = acc + As[ty, k] * Bs[k, tx]",
        "acc -= Bs[k, tx] * As[ty, k]",
        "acc += As[ty, k] * B[t * TILE + k, col]",
        "acc += As[k, ty] * Bs[k, tx]; acc += As[ty, k]",
        "a = As[ty, k]; b = Bs[k, tx]; acc += a * b",
        "acc = As[ty, k] + acc * float32(0.5)",
        "acc += 2.0 * As[ty, k] * Bs[k, tx] / float32(3.0)",
        "acc += As[ty, TILE - k] * Bs[k, tx]",
        "acc += A[row, k] * B[k, col]",
        "acc += As[ty, k] * C[row, col]",
        "for j in range(2): acc += As[ty, k] * Bs[j, tx]",
        "acc += As[ty, (k * k) % TILE] * Bs[k, tx]",
        "acc, last = acc + As[ty, k], acc",
        "last = acc; acc += As[ty, k]",
    ),
    "second": ("cuda.syncthreads()", "pass"),
    "store": (
        "if row < M and col < N: C[row, col] = acc",
        "C[row, col] = acc",
        "if row < M and col < N: C[row, col] += acc",
        "if row < M: C[row, col % N] = acc",
    ),
}


def product(seed: int) -> tuple[str, tuple[int, int, int]]:
    """A tiled product with one or two oddities, and its sizes."""
    rng = random.Random(seed)
    chosen = {name: choices[0] for name, choices in PIECES.items()}
    for name in rng.sample(sorted(PIECES), rng.randint(1, 3)):
        chosen[name] = rng.choice(PIECES[name])
    chosen["body"] = rng.choice(PIECES["body"])
    sizes = rng.choice([(16, 16, 16), (13, 9, 19), (24, 5, 8), (1, 17, 23), (20, 1, 9), (8, 8, 70)])
    return TILED.format(**chosen), sizes


def launched(source: str, sizes: tuple[int, int, int]) -> tuple[Run, Any]:
    """The run of a product, compiled anew, and C."""
    M, N, K = sizes
    rng = np.random.default_rng(3)
    A, B = rng.random((M, K), dtype=np.float32), rng.random((K, N), dtype=np.float32)
    C = np.full((M, N), 0.25, np.float32)
    program = Program(source, parse(source).tree, parse(source).findings)
    run = launch(program, "kernel", grid=(-(-N // 8), -(-M // 8)), block=(8, 8), args=(A, B, C, M, N, K))
    return run, C
