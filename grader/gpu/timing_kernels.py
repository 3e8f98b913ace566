"""The timing bench's operations as numba.cuda kernels of our own, on the default stream of one device.

Runs inside the GPU child. A kernel of the submission has its own arrays beside these and no name for them.
"""

from __future__ import annotations

import os
import time
from typing import Any, Literal

import numba
import numba.cuda
import numpy as np
import numpy.typing as npt
from numba import int64

from grader.gpu.timed_product import LARGEST, Event, Operand, Product

__all__ = ["DeviceOperations", "flush_bytes"]

# numba's types say little of cuda, whose names it makes when they are asked for.
cuda: Any = numba.cuda

Integers = npt.NDArray[np.int64]
_THREADS = 64
_BLOCKS = 8192
_NAN = float("nan")


@cuda.jit
def _fill(flat, value):  # type: ignore[no-untyped-def]
    step = cuda.gridsize(1)
    for i in range(cuda.grid(1), flat.size, step):
        flat[i] = value


@cuda.jit
def _copy(source, target):  # type: ignore[no-untyped-def]
    step = cuda.gridsize(1)
    for i in range(cuda.grid(1), source.size, step):
        target[i] = source[i]


@cuda.jit
def _draw(flat, low, high, span):  # type: ignore[no-untyped-def]
    # A 32-bit integer hash (T. Mueller) of the place, twice, each time with half of the seed; both
    # factors are below 2**31, so no product leaves a signed 64-bit integer.
    step = cuda.gridsize(1)
    for i in range(cuda.grid(1), flat.size, step):
        x = i ^ low
        for turn in range(2):
            x = ((x >> 16) ^ x) * 0x45D9F3B & 0xFFFFFFFF
            x = ((x >> 16) ^ x) * 0x45D9F3B & 0xFFFFFFFF
            x = (x >> 16) ^ x
            if turn == 0:
                x = x ^ high
        value = 1 + (x >> 1) % span
        if x & 1:
            value = -value
        flat[i] = value


@cuda.jit
def _sums(matrix, vector, totals, inexact, largest):  # type: ignore[no-untyped-def]
    # A block for each row: its threads walk along the row, then add up in a tree.
    part = cuda.shared.array(64, int64)
    odd = cuda.shared.array(64, int64)
    row = cuda.blockIdx.x
    lane = cuda.threadIdx.x
    total = int64(0)
    bad = int64(0)
    for column in range(lane, matrix.shape[1], 64):
        value = matrix[row, column]
        # NaN fails every comparison, so it is not within bounds.
        within = value >= -largest and value <= largest
        whole = int64(value) if within else int64(0)
        if within and whole == value:
            total += whole * vector[column]
        else:
            bad += 1
    part[lane] = total
    odd[lane] = bad
    cuda.syncthreads()
    half = 32
    while half > 0:
        if lane < half:
            part[lane] += part[lane + half]
            odd[lane] += odd[lane + half]
        cuda.syncthreads()
        half //= 2
    if lane == 0:
        totals[row] = part[0]
        inexact[row] = odd[0]


def flush_bytes(l2_bytes: int) -> int:
    """Bytes that leave nothing of before in a cache of that size: four times it, and 64 MiB at least."""
    return max(4 * l2_bytes, 64 * 2**20)


class DeviceOperations:
    """A, B, C of one product on the current device. ``left``, ``right`` and ``out`` are its arrays."""

    def __init__(self, product: Product, flush: int) -> None:
        M, N, K = product.M, product.N, product.K
        self._flat = {
            "left": cuda.device_array(M * K, product.dtype),
            "right": cuda.device_array(K * N, product.dtype),
            "out": cuda.device_array(M * N, product.out_dtype),
            "copy": cuda.device_array(M * N, product.out_dtype),
        }
        self.left = self._flat["left"].reshape(M, K)
        self.right = self._flat["right"].reshape(K, N)
        self.out = self._flat["out"].reshape(M, N)
        self._matrix = {"left": self.left, "right": self.right, "copy": self._flat["copy"].reshape(M, N)}
        self._cache = cuda.device_array(max(flush // 4, 1), np.float32)
        names: tuple[Event, ...] = ("flush", "start", "stop", "copied")
        self._events: dict[Event, Any] = {name: cuda.event() for name in names}
        self._recorded: dict[Event, float] = {}
        self._largest = float(LARGEST[product.out_dtype])

    def draw(self, operand: Literal["left", "right"], seed: int, span: int) -> None:
        """Fill an input."""
        self._launch(_draw, self._flat[operand], seed & 0x7FFFFFFF, (seed >> 32) & 0x7FFFFFFF, span)

    def sums(self, operand: Operand, vector: Integers) -> tuple[Integers, int]:
        """A matrix times a vector, modulo 2**64."""
        matrix = self._matrix[operand]
        rows = matrix.shape[0]
        there = cuda.to_device(vector)
        totals, inexact = cuda.device_array(rows, np.int64), cuda.device_array(rows, np.int64)
        _sums[rows, _THREADS](matrix, there, totals, inexact, self._largest)
        there.copy_to_device(np.zeros_like(vector))
        result: Integers = totals.copy_to_host()
        return result, int(inexact.copy_to_host().sum())

    def poison(self) -> None:
        """Fill the output with NaN."""
        self._launch(_fill, self._flat["out"], _NAN)

    def flush(self) -> None:
        """Write over the cache."""
        self._launch(_fill, self._cache, 0.0)

    def record(self, event: Event) -> None:
        """Queue an event on the default stream."""
        self._events[event].record()
        self._recorded[event] = self.seconds()

    def copy(self) -> None:
        """Queue a copy of the output."""
        self._launch(_copy, self._flat["out"], self._flat["copy"])

    def elapsed(self, first: Event, last: Event) -> float:
        """Milliseconds between two events."""
        self._events[last].synchronize()
        if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
            # Numba's simulator runs at once what is queued and has no clock of its own.
            return 1e3 * (self._recorded[last] - self._recorded[first])
        return float(self._events[first].elapsed_time(self._events[last]))

    def settle(self) -> None:
        """Wait for the whole device."""
        cuda.synchronize()

    def seconds(self) -> float:
        """Wall time."""
        return time.perf_counter()

    def _launch(self, kernel: Any, flat: Any, *rest: Any) -> None:
        blocks = max(1, min(-(-flat.size // _THREADS), _BLOCKS))
        kernel[blocks, _THREADS](flat, *rest)
