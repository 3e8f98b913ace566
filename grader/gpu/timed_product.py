"""A matrix product as a bench of the timing protocol: fresh inputs for each run, outputs checked exactly.

Inputs are whole numbers whose products sum exactly in the output's type, in any order, so a right output
is right to the last bit. One operand of each run is *wide*: its numbers have more significant bits than
a faster type would keep (TF32 keeps 11, bfloat16 8), so a kernel that rounds its inputs is found out.

The check is Freivalds': for random r, C r = A (B r) (R. Freivalds, Probabilistic machines can use less
running time, IFIP 1977). The sums are whole numbers modulo 2**64 on both sides. A row with a wrong
element goes unseen with a probability of at most 2**-31: the element's error is below 2**26, so at most
one of the 2**31 values that its factor may have makes up for it. A (B r) is worked out before the launch
and kept on the host, and r is gone from the device by then: a launch can reach neither. What is no whole
number of that size (NaN, an infinity, the poison) is counted apart, so no comparison meets it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from grader.gpu.timing import Step

__all__ = ["LARGEST", "SPANS", "Operations", "Product", "ProductBench", "wrong_rows"]

Operand = Literal["left", "right", "copy"]
Event = Literal["flush", "start", "stop", "copied"]
Integers = npt.NDArray[np.int64]

#: Greatest absolute values of the wide operand and of the other, by the inputs' and the output's type. With
#: random signs a sum of K products has a deviation of sqrt(K) times two thirds of their product or less:
#: eight deviations are within ``LARGEST`` up to K = 16384.
SPANS: dict[tuple[str, str], tuple[int, int]] = {
    ("float32", "float32"): (4095, 4),
    ("float64", "float64"): (2**21 - 1, 8),
    ("float16", "float32"): (2047, 4),
    ("bfloat16", "float32"): (255, 8),
}
#: No right output exceeds this; up to 2**24 float32 holds every whole number, up to 2**53 float64 does.
LARGEST: dict[str, int] = {"float32": 2**24, "float64": 2**33}
_VECTOR_BITS = 31


@dataclass(frozen=True, slots=True)
class Product:
    """``C[M, N] = A[M, K] @ B[K, N]`` with the types of its inputs and of its output."""

    M: int
    N: int
    K: int
    dtype: str = "float32"
    out_dtype: str = "float32"

    @property
    def flops(self) -> int:
        """2 M N K."""
        return 2 * self.M * self.N * self.K

    @property
    def compulsory_bytes(self) -> int:
        """A and B read once, C written once."""
        size = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
        return size[self.dtype] * self.K * (self.M + self.N) + size[self.out_dtype] * self.M * self.N


class Operations(Protocol):
    """What a device does for the bench, each in the order of the calls on one stream."""

    def draw(self, operand: Literal["left", "right"], seed: int, span: int) -> None:
        """Fill an input with whole numbers of either sign from 1 to ``span``, by seed and place."""

    def sums(self, operand: Operand, vector: Integers) -> tuple[Integers, int]:
        """Give a matrix times a vector modulo 2**64, and how many elements are no whole number or too large.

        The vector is wiped from the device before this returns.
        """

    def poison(self) -> None:
        """Fill the output with NaN."""

    def flush(self) -> None:
        """Write more than the L2 cache holds."""

    def record(self, event: Event) -> None:
        """Queue an event."""

    def copy(self) -> None:
        """Queue a copy of the output, which ``sums("copy", ...)`` reads."""

    def elapsed(self, first: Event, last: Event) -> float:
        """Milliseconds between two events, waiting for the second."""

    def settle(self) -> None:
        """Wait until the device has nothing left to do, on any stream."""

    def seconds(self) -> float:
        """Wall time."""


class ProductBench:
    """One way to compute a product, as a :class:`grader.gpu.timing.Bench`.

    ``launch`` queues it; ``randbits`` draws what no kernel may foresee.
    """

    def __init__(
        self,
        product: Product,
        operations: Operations,
        launch: Callable[[], Any],
        randbits: Callable[[int], int] = secrets.randbits,
    ) -> None:
        self._product, self._operations, self._launch = product, operations, launch
        self._randbits = randbits
        self._runs = 0
        self._passes = 1
        self._enqueue = 0.0
        self._vector = np.zeros(0, np.int64)
        self._expected = np.zeros(0, np.int64)

    def draw(self) -> None:
        """Draw the inputs of the next run, and what its output must sum to."""
        wide, narrow = SPANS[self._product.dtype, self._product.out_dtype]
        spans = (wide, narrow) if self._runs % 2 == 0 else (narrow, wide)
        self._runs += 1
        operations = self._operations
        operations.draw("left", self._randbits(64), spans[0])
        operations.draw("right", self._randbits(64), spans[1])
        rng = np.random.default_rng(self._randbits(128))
        self._vector = rng.integers(0, 2**_VECTOR_BITS, self._product.N, dtype=np.int64)
        inner, _ = operations.sums("right", self._vector)
        self._expected, _ = operations.sums("left", inner)

    def poison(self) -> None:
        """Fill the output with NaN."""
        self._operations.poison()

    def flush(self, passes: int) -> None:
        """Write over the L2 cache."""
        self._passes = passes
        self._operations.record("flush")
        for _ in range(passes):
            self._operations.flush()

    def run(self) -> None:
        """Queue the launch between its two events, and the copy of its output after them."""
        began = self._operations.seconds()
        self._operations.record("start")
        self._launch()
        self._operations.record("stop")
        self._enqueue = 1e3 * (self._operations.seconds() - began)
        self._operations.copy()
        self._operations.record("copied")

    def wait(self) -> Step:
        """Wait for all of it and check the copy."""
        operations = self._operations
        operations.elapsed("stop", "copied")
        copied = operations.seconds()
        operations.settle()
        late = 1e3 * (operations.seconds() - copied)
        observed, inexact = operations.sums("copy", self._vector)
        return Step(
            operations.elapsed("start", "stop"),
            self._enqueue,
            late,
            operations.elapsed("flush", "start") / self._passes,
            max(wrong_rows(self._expected, observed), min(inexact, 1)),
        )

    def seconds(self) -> float:
        """Wall time."""
        return self._operations.seconds()


def wrong_rows(expected: Integers, observed: Integers) -> int:
    """Rows whose sums differ; all of them where their numbers do."""
    if expected.shape != observed.shape:
        return max(len(expected), 1)
    return int(np.count_nonzero(expected != observed))
