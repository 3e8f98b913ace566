"""The machine against numba's CUDA simulator: one product of the tiled kernel, in one run."""

from __future__ import annotations

import importlib.util
import json
import subprocess

from measure import HERE, Figure, Result, Skipped, machine_product, median_seconds, python

TARGET = 2000


def run(small: bool) -> Result:
    if importlib.util.find_spec("numba") is None:
        raise Skipped("numba is not installed (pip install '.[dev]' in Tilegrade's checkout)")
    M, N, K = (16, 16, 16) if small else (100, 70, 130)
    machine = median_seconds(machine_product(M, N, K, 16), 3 if small else 9)
    simulator = simulator_seconds(M, N, K)
    ratio = simulator / machine
    return Result(
        f"machine against numba's simulator, {M}x{N}x{K}, TILE 16",
        [
            Figure("simulator, one launch", simulator, "s"),
            Figure("machine, all detection on", machine, "s"),
            Figure(
                "machine is faster by",
                ratio,
                "times",
                f"at least {TARGET}",
                None if small else ratio >= TARGET,
            ),
        ],
    )


def simulator_seconds(M: int, N: int, K: int) -> float:
    words = python(str(HERE / "simulator_peer.py"), str(M), str(N), str(K))
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise Skipped(f"the simulator failed: {done.stderr.strip().splitlines()[-1:]}")
    answer = json.loads(done.stdout)
    if not answer["error"] < 1e-4:
        raise Skipped(f"the simulator's product is wrong by {answer['error']}")
    return float(answer["seconds"])
