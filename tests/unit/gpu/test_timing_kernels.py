"""The bench's own kernels under numba's simulator, in a process that has it switched on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba.cuda", reason="needs numba-cuda, of the compile extra")

ROOT = Path(__file__).parents[3]


def simulated(script: str) -> str:
    """Run a script under the simulator; give what it prints."""
    environment = {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


OPERATIONS = """
import numpy as np
from grader.gpu.timed_product import Product
from grader.gpu.timing_kernels import DeviceOperations
product = Product(5, 7, 6)
operations = DeviceOperations(product, 1000)
"""


def test_sums_are_those_of_whole_numbers_modulo_two_to_the_64() -> None:
    out = simulated(
        OPERATIONS
        + """
operations.draw("left", 3**40, 4095)
vector = np.arange(6, dtype=np.int64) * 2**59 + 3
got, inexact = operations.sums("left", vector)
A = operations.left.copy_to_host().astype(np.int64)
assert inexact == 0
assert np.array_equal(got, (A * vector).sum(axis=1)), (got, A)
operations.poison()
operations.copy()
print(operations.sums("copy", np.ones(7, np.int64)))
"""
    )
    assert out == "(array([0, 0, 0, 0, 0]), 35)"


def test_inexact_values_are_counted() -> None:
    out = simulated(
        OPERATIONS
        + """
values = np.zeros((5, 7), np.float32)
values[0, :4] = [0.5, np.inf, -np.inf, np.nan]
values[1] = 16777216.0
values[2, :2] = [16777218.0, -1e30]
operations.out.copy_to_device(values)
operations.copy()
totals, inexact = operations.sums("copy", np.ones(7, np.int64))
print(list(map(int, totals)), inexact)
"""
    )
    assert out == f"[0, {7 * 2**24}, 0, 0, 0] 6"


def test_drawn_numbers_have_both_signs_the_span_and_hang_on_all_of_the_seed() -> None:
    out = simulated(
        """
import numpy as np
from grader.gpu.timed_product import Product
from grader.gpu.timing_kernels import DeviceOperations
operations = DeviceOperations(Product(40, 1, 50), 1000)
seen = []
for seed in (1, 2, 1 + (1 << 32), 1):
    operations.draw("left", seed, 4)
    seen.append(operations.left.copy_to_host().copy())
A = seen[0]
values, counts = np.unique(A, return_counts=True)
assert list(values) == [-4, -3, -2, -1, 1, 2, 3, 4], values
assert counts.min() > 190 and counts.max() < 310, counts
assert not np.array_equal(A, seen[1]) and not np.array_equal(A, seen[2]) and np.array_equal(A, seen[3])
print("ok")
"""
    )
    assert out == "ok"


def test_the_protocol_runs_on_the_kernels() -> None:
    out = simulated(
        """
import numpy as np
from grader.gpu.timed_product import Product, ProductBench
from grader.gpu.timing import Limits, measure
from grader.gpu.timing_kernels import DeviceOperations
product = Product(6, 5, 4)
operations = DeviceOperations(product, 1000)
def right():
    operations.out.copy_to_device(operations.left.copy_to_host() @ operations.right.copy_to_host())
def wrong():
    right()
    values = operations.out.copy_to_host()
    values[2, 3] += 1
    operations.out.copy_to_device(values)
limits = Limits(warmups=1, least=2, most=2, target=1.0)
for launch in (right, wrong, lambda: None):
    samples = measure(ProductBench(product, operations, launch), limits)
    times = samples.milliseconds
    print(len(times), min(times, default=1) > 0, samples.rejected, samples.wrong)
"""
    )
    assert out.splitlines() == ["2 True  0", "0 True wrong-timed-output 1", "0 True wrong-timed-output 6"]
