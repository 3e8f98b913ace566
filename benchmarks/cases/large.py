"""A product of 1024 x 1024 x 1024 on the machine with race detection on."""

from __future__ import annotations

import numpy as np
from measure import Figure, Result, machine_product, median_seconds, seconds_of

TARGET_SECONDS = 10.0


def run(small: bool) -> Result:
    n, tile = (64, 32) if small else (1024, 32)
    seconds = seconds_of(machine_product(n, n, n, tile))
    rng = np.random.default_rng(1)
    A, B = rng.random((n, n), dtype=np.float32), rng.random((n, n), dtype=np.float32)
    bare = median_seconds(lambda: A @ B, 3)
    met = None if small else seconds <= TARGET_SECONDS
    return Result(
        f"{n}^3 on the machine, TILE {tile}, all detection on",
        [
            Figure("machine", seconds, "s", f"at most {TARGET_SECONDS}", met),
            Figure("per multiply-add", seconds / n**3 * 1e9, "ns"),
            Figure("NumPy A @ B, float32", bare, "s"),
            Figure("machine over NumPy", seconds / bare, "times"),
        ],
    )
