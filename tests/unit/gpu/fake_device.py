"""A device on NumPy with a clock of its own: launches take the time they say, work may be put off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.gpu.timed_product import LARGEST, Product, ProductBench
from grader.gpu.timing import Limits, Samples, measure

Launch = Callable[["FakeDevice"], None]


class FakeDevice:
    """``Operations`` for a product; ``clock`` in milliseconds, ``later`` for work on another stream."""

    def __init__(self, product: Product, jitter: float = 0.01, seed: int = 1) -> None:
        M, N, K = product.M, product.N, product.K
        self.A, self.B = np.zeros((M, K), np.float32), np.zeros((K, N), np.float32)
        self.C, self.copied = np.zeros((M, N), np.float32), np.zeros((M, N), np.float32)
        self.clock = 0.0
        self.calls: list[str] = []
        self._events: dict[str, float] = {}
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._rng = np.random.default_rng(seed)
        self._jitter = jitter

    def spend(self, milliseconds: float) -> None:
        self.clock += milliseconds * (1 + self._jitter * self._rng.standard_normal())

    def later(self, milliseconds: float, work: Callable[[], None]) -> None:
        self._later.append((milliseconds, work))

    def draw(self, operand: str, seed: int, span: int) -> None:
        self.calls.append("draw")
        array = {"left": self.A, "right": self.B}[operand]
        rng = np.random.default_rng(seed)
        array[:] = rng.integers(1, span, array.shape, endpoint=True) * rng.choice((-1, 1), array.shape)

    def sums(self, operand: str, vector: Any) -> tuple[Any, int]:
        self.calls.append(f"sums {operand}")
        array = {"left": self.A, "right": self.B, "copy": self.copied}[operand]
        whole = (np.abs(array) <= LARGEST["float32"]) & (np.rint(array) == array)
        numbers = np.where(whole, array, 0).astype(np.int64)
        with np.errstate(over="ignore"):
            return (numbers * vector).sum(axis=1), int((~whole).sum())

    def poison(self) -> None:
        self.calls.append("poison")
        self.C[:] = np.nan

    def flush(self) -> None:
        self.calls.append("flush")
        self.clock += 0.05

    def record(self, event: str) -> None:
        self.calls.append(event)
        self._events[event] = self.clock

    def copy(self) -> None:
        self.calls.append("copy")
        self.copied[:] = self.C

    def elapsed(self, first: str, last: str) -> float:
        return self._events[last] - self._events[first]

    def settle(self) -> None:
        self.calls.append("settle")
        for milliseconds, work in self._later:
            self.spend(milliseconds)
            work()
        self._later.clear()

    def seconds(self) -> float:
        return self.clock / 1e3


PRODUCT = Product(24, 20, 32)


def run(launch: Launch, limits: Limits | None = None, product: Product = PRODUCT) -> Samples:
    device = FakeDevice(product)
    numbers = np.random.default_rng(7)
    bench = ProductBench(
        product, device, lambda: launch(device), lambda bits: int.from_bytes(numbers.bytes(bits // 8), "big")
    )
    return measure(bench, limits or Limits())


def naive_run(launch: Launch, runs: int = 20, product: Product = PRODUCT) -> tuple[bool, float]:
    """The timer that everybody writes first: one pair of inputs, a clock, one comparison at the end."""
    device = FakeDevice(product)
    device.draw("left", 1, 8)
    device.draw("right", 2, 8)
    expected = device.A.astype(np.float64) @ device.B.astype(np.float64)
    times = []
    for _ in range(runs):
        device.record("start")
        launch(device)
        device.record("stop")
        times.append(device.elapsed("start", "stop"))
    device.settle()
    wrong = np.abs(device.C - expected) > 1e-4
    return not wrong.any(), float(np.median(times))
