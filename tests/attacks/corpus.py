"""Submissions that try to gain points or to do harm. Each is the wrong kernel below with an attack before it.

``loses`` says how the naive grader is beaten: it says "pass" (on its output or by its exit status), a
"canary" is read or changed, it gets "stuck", it is "flooded", or it falls "silent".
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Loss = Literal["pass", "canary", "stuck", "flooded", "silent"]

HEAD = "from numba import cuda, float32\nTILE = 4\n"
WRONG = """
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    col, row = cuda.grid(2)
    if row < M and col < N:
        C[row, col] = float32(1.0)
"""
RIGHT = """
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0.0)
    for t in range((K + TILE - 1) // TILE):
        a_col = t * TILE + tx
        b_row = t * TILE + ty
        if row < M and a_col < K:
            As[ty, tx] = A[row, a_col]
        else:
            As[ty, tx] = float32(0.0)
        if b_row < K and col < N:
            Bs[ty, tx] = B[b_row, col]
        else:
            Bs[ty, tx] = float32(0.0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""
CANARY = "canary-7f3e91"


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: the code that stands before the wrong kernel, and after it."""

    name: str
    loses: Loss
    before: str = ""
    after: str = ""
    kernel: str = WRONG

    @property
    def source(self) -> str:
        return HEAD + self.before + self.kernel + self.after

    @property
    def source_with_right_kernel(self) -> str:
        return HEAD + self.before + RIGHT + self.after


def _read() -> tuple[Attack, ...]:
    entries = tomllib.loads(Path(__file__).with_name("executed.toml").read_text(encoding="utf-8"))
    return tuple(Attack(name, **entry) for name, entry in entries.items())


#: ``executed.toml``: by name, how the naive grader is beaten, the code before and after, another kernel.
EXECUTED = _read()
