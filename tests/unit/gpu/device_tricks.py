"""The tricks as kernels on a device, each with the timer that everybody writes first as its control.

A submission's kernel could not do the stream trick (it queues nothing) or the TF32 one (it has no cuBLAS);
they are here because the protocol has to see through them all the same.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numba.cuda
import numpy as np

from grader.gpu.cublas import NoLibrary, product_by_cublas
from grader.gpu.timed_product import Product, ProductBench
from grader.gpu.timing import Limits, judged, measure
from grader.gpu.timing_kernels import DeviceOperations

cuda: Any = numba.cuda
Launch = Callable[[], Any]


@cuda.jit
def honest(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def remember(A, B, C, kept, seen):
    """Keep what comes out, and two elements to know the inputs by."""
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        kept[row, col] = C[row, col]
        if row == 0 and col == 0:
            seen[0] = A[0, 0]
            seen[1] = B[0, 0]


@cuda.jit
def give_back(C, kept):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = kept[row, col]


@cuda.jit
def give_back_if_seen(A, B, C, kept, seen):
    """Take the inputs for those of before where one element of each is equal; else compute."""
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        if seen[0] == A[0, 0] and seen[1] == B[0, 0]:
            C[row, col] = kept[row, col]
        else:
            acc = np.float32(0)
            for k in range(A.shape[1]):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc


@cuda.jit
def upper_half(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] // 2 and col < C.shape[1]:
        acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def not_a_number(C, nan):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = nan


@cuda.jit
def zero_everything(A, B, C):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        A[row, col] = np.float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = np.float32(0)


class Tricks:
    """The launches on one set of arrays, by name; ``launches`` makes each anew, with a state of its own."""

    def __init__(self, product: Product, flush: int) -> None:
        self.product = product
        self.operations = DeviceOperations(product, flush)
        self.arrays = self.operations.left, self.operations.right, self.operations.out
        side = min(16, product.M)
        self.grid = (-(-product.N // side), -(-product.M // side)), (side, side)
        self.kept = cuda.device_array((product.M, product.N), np.float32)
        self.seen = cuda.device_array(2, np.float32)

    def honest(self) -> Launch:
        return lambda: honest[self.grid](*self.arrays)

    def replay(self) -> Launch:
        first = [True]

        def launch() -> None:
            if first:
                first.clear()
                honest[self.grid](*self.arrays)
                remember[self.grid](*self.arrays, self.kept, self.seen)
            else:
                give_back[self.grid](self.arrays[2], self.kept)

        return launch

    def caching(self) -> Launch:
        first = [True]

        def launch() -> None:
            if first:
                first.clear()
                honest[self.grid](*self.arrays)
                remember[self.grid](*self.arrays, self.kept, self.seen)
            else:
                give_back_if_seen[self.grid](*self.arrays, self.kept, self.seen)

        return launch

    def lazy(self) -> Launch:
        first = [True]

        def launch() -> None:
            (honest if first else upper_half)[self.grid](*self.arrays)
            first.clear()

        return launch

    def nan(self) -> Launch:
        return lambda: not_a_number[self.grid](self.arrays[2], np.float32(np.nan))

    def zeros(self) -> Launch:
        return lambda: zero_everything[self.grid](*self.arrays)

    def stream(self) -> Launch:
        """On a stream that the default one does not wait for."""
        cupy = importlib.import_module("cupy")
        other = cupy.cuda.Stream(non_blocking=True)
        there = cuda.external_stream(other.ptr)
        grid, block = self.grid

        def launch() -> None:
            assert other is not None
            honest[grid, block, there](*self.arrays)

        return launch

    def tf32(self) -> Launch:
        """The library with its inputs rounded to 11 significant bits, on the tensor cores."""
        return product_by_cublas(*self.arrays, tf32=True)

    def cublas(self) -> Launch:
        return product_by_cublas(*self.arrays)


#: What the protocol says of each. A cache that knows its inputs never finds them again: it is timed at work.
EXPECTED = {
    "honest": "",
    "cublas": "",
    "replay": "wrong-timed-output",
    "lazy": "wrong-timed-output",
    "nan": "wrong-timed-output",
    "zeros": "wrong-timed-output",
    "caching": "",
    "stream": "wrong-timed-output",
    "tf32": "wrong-timed-output",
}
#: What only a device with CuPy can do.
WITH_CUPY = ("cublas", "stream", "tf32")


def verdict(tricks: Tricks, name: str, floor: float, limits: Limits | None = None) -> dict[str, Any]:
    """What the protocol says of a launch, and in which run; the median of what it believed."""
    launch = getattr(tricks, name)()
    samples = measure(ProductBench(tricks.product, tricks.operations, launch), limits)
    times = samples.milliseconds
    return {
        "verdict": judged(samples, floor),
        "at": samples.at,
        "milliseconds": float(np.median(times)) if times else None,
        "launches": len(times),
    }


def naive(tricks: Tricks, name: str, runs: int = 12) -> dict[str, Any]:
    """One pair of inputs, a pair of events, one comparison that NaN passes, at the end."""
    operations = tricks.operations
    operations.draw("left", 11, 8)
    operations.draw("right", 12, 8)
    launch = getattr(tricks, name)()
    launch()
    times = []
    for _ in range(runs):
        operations.record("start")
        launch()
        operations.record("stop")
        times.append(operations.elapsed("start", "stop"))
    operations.settle()
    left, right, found = (array.copy_to_host().astype(np.float64) for array in tricks.arrays)
    wrong = np.abs(found - left @ right) > 0.5
    return {"right": not bool(wrong.any()), "milliseconds": float(np.median(times))}


__all__ = ["EXPECTED", "WITH_CUPY", "NoLibrary", "Tricks", "naive", "verdict"]
