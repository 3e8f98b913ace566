"""One product in numba's CUDA simulator, timed, in a process of its own.

NUMBA_ENABLE_CUDASIM counts when numba is imported, so the machine cannot share the process.

Usage: python simulator_peer.py M N K  ->  {"seconds": ..., "error": greatest relative error}
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
# Every launch of few blocks is told that it uses the GPU badly.
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402 - the simulator is chosen before numba is imported
import tiled_kernel  # noqa: E402 - as above


def main() -> None:
    M, N, K = map(int, sys.argv[1:4])
    rng = np.random.default_rng(1)
    A, B = rng.random((M, K), dtype=np.float32), rng.random((K, N), dtype=np.float32)
    C = np.full((M, N), np.nan, dtype=np.float32)
    tile = tiled_kernel.TILE
    grid = (-(-N // tile), -(-M // tile))
    start = time.perf_counter()
    tiled_kernel.tiled_matmul[grid, (tile, tile)](A, B, C, M, N, K)
    seconds = time.perf_counter() - start
    expected = A.astype(np.float64) @ B
    error = float(np.max(np.abs(C - expected) / expected))
    print(json.dumps({"seconds": seconds, "error": error}))


if __name__ == "__main__":
    main()
