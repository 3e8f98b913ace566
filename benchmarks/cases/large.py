"""A product of 1024 x 1024 x 1024: time and memory with all detection on, and what detection costs."""

from __future__ import annotations

import json
import subprocess

import numpy as np
from measure import HERE, Figure, Result, Skipped, machine_product, median_seconds, python

TARGET_SECONDS = 3.0
TARGET_MEGABYTES = 500
TARGET_COST = 1.5


def run(small: bool) -> Result:
    n, tile = (64, 32) if small else (1024, 32)
    times = 1 if small else 3
    seconds = median_seconds(machine_product(n, n, n, tile), times)
    plain = median_seconds(machine_product(n, n, n, tile, detect=False), times)
    megabytes = _peak(n, tile)
    rng = np.random.default_rng(1)
    A, B = rng.random((n, n), dtype=np.float32), rng.random((n, n), dtype=np.float32)
    bare = median_seconds(lambda: A @ B, 3)

    def met(holds: bool) -> bool | None:
        return None if small else holds

    return Result(
        f"{n}^3 on the machine, TILE {tile}",
        [
            Figure(
                "all detection on", seconds, "s", f"at most {TARGET_SECONDS}", met(seconds <= TARGET_SECONDS)
            ),
            Figure("values alone", plain, "s"),
            Figure(
                "cost of detection",
                seconds / plain,
                "times",
                f"at most {TARGET_COST}",
                met(seconds / plain <= TARGET_COST),
            ),
            Figure(
                "peak memory",
                megabytes,
                "MB",
                f"at most {TARGET_MEGABYTES}",
                met(megabytes <= TARGET_MEGABYTES),
            ),
            Figure("machine over NumPy's A @ B", seconds / bare, "times"),
        ],
    )


def _peak(n: int, tile: int) -> float:
    """Peak resident size, in MB, of a process that runs the product once."""
    done = subprocess.run(
        python(str(HERE / "memory_peer.py"), str(n), str(tile)), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Skipped(f"the process that measures memory failed: {done.stderr.strip()[-200:]}")
    return float(json.loads(done.stdout)["megabytes"])
