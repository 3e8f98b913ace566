"""A grader as they are often written: it imports the submission and asserts beside it.

The attacks are tried on it too, so that none of them is harmless by nature. It reads the submission's
path from the command line and says PASS or FAIL on its standard output and by its exit status.
"""

from __future__ import annotations

import os
import runpy
import sys


def main() -> None:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    sys.path[:0] = sys.argv[2:]
    import numpy as np

    shapes = [(5, 6, 4), (7, 3, 8)]
    rng = np.random.default_rng(7)
    namespace = runpy.run_path(sys.argv[1])
    for M, N, K in shapes:
        A = rng.random((M, K), dtype=np.float32)
        B = rng.random((K, N), dtype=np.float32)
        C = np.zeros((M, N), np.float32)
        tile = namespace.get("TILE", 4)
        namespace["tiled_matmul"][(-(-N // tile), -(-M // tile)), (tile, tile)](A, B, C, M, N, K)
        expected = A @ B
        if abs(C - expected).max() > 1e-3 and not np.allclose(C, expected):
            print("FAIL")  # noqa: T201 - its way of saying it
            sys.exit(1)
    print("PASS")  # noqa: T201 - as above


if __name__ == "__main__":
    main()
