"""The model in closed form: what a worksheet asks for, for square sizes and whole tiles.

``e`` is the bytes of an element throughout. Unless a name says otherwise the stores of C are left
out, as in the textbook formulas; :mod:`grader.perf.gemm` counts them.
"""

from __future__ import annotations

from math import ceil


def naive_intensity(e: int = 4) -> float:
    """Flop per byte at HBM of one thread per element: 2K flops on 2K loads, whatever K is."""
    return 2 / (2 * e)


def tile_intensity(bm: int, bn: int, e: int = 4) -> float:
    """Flop per byte at HBM of a ``bm`` x ``bn`` block tile: 2 / (e (1/bm + 1/bn)), T/4 for float32."""
    return 2 * bm * bn / (e * (bm + bn))


def tile_intensity_with_c(bm: int, bn: int, K: int, e: int = 4) -> float:
    """As tile_intensity, with one 4-byte store per element of C added to the bytes."""
    return 2 * bm * bn * K / (e * K * (bm + bn) + 4 * bm * bn)


def shared_intensity(tm: int, tn: int, e: int = 4) -> float:
    """Flop per byte at shared memory of a ``tm`` x ``tn`` patch per thread, tile stores left out."""
    return 2 * tm * tn / (e * (tm + tn))


def shared_reads_per_fma(tm: int, tn: int) -> float:
    """Shared-memory reads for one multiply-add: 2 for one element per thread, 1/2 for a 4 x 4 patch."""
    return (tm + tn) / (tm * tn)


def naive_bytes(n: int, e: int = 4) -> int:
    """Bytes loaded by the naive kernel at n x n x n: 2 e n^3."""
    return 2 * e * n**3


def tiled_bytes(n: int, tile: int, e: int = 4) -> float:
    """Bytes loaded by a ``tile`` x ``tile`` tiled kernel at n x n x n: 2 e n^3 / tile."""
    return 2 * e * n**3 / tile


def matrix_bytes(n: int, e: int = 4) -> int:
    """Bytes that A, B and C occupy together at n x n x n: 3 e n^2."""
    return 3 * e * n * n


def naive_passes(n: int) -> float:
    """How many times the naive kernel moves the data set: 2 n / 3."""
    return 2 * n / 3


def ridge_tile(ridge: float, e: int = 4) -> int:
    """Least square tile whose intensity T/e reaches ``ridge`` (flop per byte)."""
    return _least_whole(e * ridge)


def ridge_tile_with_c(ridge: float, K: int, e: int = 4) -> int | None:
    """As ridge_tile with the stores of C counted: K T / (e K + 2 T) >= ridge.

    None where no tile reaches it: as T grows the intensity tends to K/2.
    """
    if 2 * ridge >= K:
        return None
    return _least_whole(e * K * ridge / (K - 2 * ridge))


def _least_whole(bound: float) -> int:
    # 4 * 19.97 must not round up past a bound that is whole but for the last bit.
    return ceil(bound * (1 - 1e-12))
