"""One rung of the ladder as a bench of the timing protocol: every timed result is compared with float64.

Each run draws its inputs anew, uniform in (0, 1], so that nothing cancels and a relative error means
something. The reference is a float64 product of the very inputs that the rung reads (for bfloat16 of
the rounded ones), by cuBLAS; its own first rows are checked against NumPy on the host, once. The
output lies between margins, and all of it is NaN before a launch.

Runs inside the ladder's child, on CuPy's default stream, which is numba's too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

from grader.gpu.timing import Step
from grader.gpu.timing_kernels import flush_bytes

__all__ = ["LadderBench", "RungArrays", "WrongReference"]

MARGIN = 4096
_HOST_ROWS = 8
_NAN = float("nan")

_round_to_bfloat16 = cp.ElementwiseKernel(
    "float32 x",
    "uint16 bits",
    """
    unsigned int u = __float_as_uint(x);
    bits = (unsigned short)((u + 0x7FFFu + ((u >> 16) & 1u)) >> 16);
    """,
    "round_to_bfloat16",
)
_widen_bfloat16 = cp.ElementwiseKernel(
    "uint16 bits", "float64 x", "x = (double)__uint_as_float((unsigned int)bits << 16);", "widen_bfloat16"
)
_largest_error = cp.ReductionKernel(
    "float32 found, float64 wanted",
    "float64 largest",
    # A NaN has to come through: fmax would drop it.
    "isnan((double)found) ? 1.0 / 0.0 : fabs((double)found - wanted) / wanted",
    "a > b ? a : b",
    "largest = a",
    "0.0",
    "largest_error",
)


class WrongReference(Exception):
    """The float64 product of the library is not that of NumPy: nothing can be verified."""


class RungArrays:
    """The arrays of one product: ``left`` and ``right`` as the rung reads them, ``out`` within margins.

    float32, or for bfloat16 inputs their bits as uint16.
    """

    def __init__(self, M: int, N: int, K: int, bfloat16: bool) -> None:
        self.M, self.N, self.K, self.bfloat16 = M, N, K, bfloat16
        dtype = cp.uint16 if bfloat16 else cp.float32
        self.left, self.right = cp.empty((M, K), dtype), cp.empty((K, N), dtype)
        self._flat = cp.empty(MARGIN + M * N + MARGIN, cp.float32)
        self.out = self._flat[MARGIN : MARGIN + M * N].reshape(M, N)
        self._copy = cp.empty_like(self._flat)
        self._reference: Any = None
        cp.random.seed(1)

    def draw(self) -> None:
        """Draw inputs and work out what must come of them."""
        wide = []
        for operand in (self.left, self.right):
            drawn = 1 - cp.random.random(operand.shape, dtype=cp.float32)
            if self.bfloat16:
                _round_to_bfloat16(drawn, operand)
                wide.append(_widen_bfloat16(operand))
            else:
                operand[...] = drawn
                wide.append(operand.astype(cp.float64))
        self._reference = cp.matmul(*wide)

    def check_reference(self) -> None:
        """Compare the reference's first rows with NumPy's. Raises ``WrongReference``."""
        rows, right = cp.asnumpy(self.left[:_HOST_ROWS]), cp.asnumpy(self.right)
        if self.bfloat16:
            rows, right = ((part.astype(np.uint32) << 16).view(np.float32) for part in (rows, right))
        wanted = rows.astype(np.float64) @ right.astype(np.float64)
        found = cp.asnumpy(self._reference[:_HOST_ROWS])
        if not np.allclose(found, wanted, rtol=1e-12, atol=0):
            raise WrongReference

    def poison(self) -> None:
        """Fill output and margins with NaN."""
        self._flat.fill(_NAN)

    def copy(self) -> None:
        """Queue a copy of output and margins."""
        cp.copyto(self._copy, self._flat)

    def error(self) -> float:
        """The copy's largest relative error; infinite where an element is NaN or a margin was written."""
        margins = (self._copy[:MARGIN], self._copy[-MARGIN:])
        if not all(bool(cp.isnan(margin).all()) for margin in margins):
            return float("inf")
        found = self._copy[MARGIN:-MARGIN].reshape(self.M, self.N)
        return float(_largest_error(found, self._reference))


class LadderBench:
    """A :class:`grader.gpu.timing.Bench`; ``error`` is the largest relative error of all its runs."""

    def __init__(self, arrays: RungArrays, launch: Callable[[], Any], tolerance: float) -> None:
        self._arrays, self._launch, self._tolerance = arrays, launch, tolerance
        self.error = 0.0
        self._is_checked = False
        l2_bytes = int(cp.cuda.Device().attributes["L2CacheSize"])
        self._cache = cp.empty(flush_bytes(l2_bytes) // 4, cp.float32)
        self._events = {name: cp.cuda.Event() for name in ("flush", "start", "stop", "copied")}
        self._passes = 1
        self._enqueue = 0.0

    def draw(self) -> None:
        """Draw the next run's inputs."""
        self._arrays.draw()
        if not self._is_checked:
            self._arrays.check_reference()
            self._is_checked = True

    def poison(self) -> None:
        """Fill the output with NaN."""
        self._arrays.poison()

    def flush(self, passes: int) -> None:
        """Write over the L2 cache."""
        self._passes = passes
        self._events["flush"].record()
        for _ in range(passes):
            self._cache.fill(0)

    def run(self) -> None:
        """Queue the launch between its events, and the copy of its output."""
        began = time.perf_counter()
        self._events["start"].record()
        self._launch()
        self._events["stop"].record()
        self._enqueue = 1e3 * (time.perf_counter() - began)
        self._arrays.copy()
        self._events["copied"].record()

    def wait(self) -> Step:
        """Wait for all of it and compare."""
        self._events["copied"].synchronize()
        copied = time.perf_counter()
        cp.cuda.runtime.deviceSynchronize()
        late = 1e3 * (time.perf_counter() - copied)
        error = self._arrays.error()
        self.error = max(self.error, error)
        return Step(
            self._elapsed("start", "stop"),
            self._enqueue,
            late,
            self._elapsed("flush", "start") / self._passes,
            0 if error <= self._tolerance else 1,
        )

    def seconds(self) -> float:
        """Wall time."""
        return time.perf_counter()

    def _elapsed(self, first: str, last: str) -> float:
        return float(cp.cuda.get_elapsed_time(self._events[first], self._events[last]))
