"""The timing protocol: what makes a measured time one to believe. docs/timing.md argues each step.

It knows no GPU: a ``Bench`` draws, poisons, flushes, records and launches, and here stands in which
order, how often, when it is enough, and what makes a time void. It runs inside the GPU child, beside
``timed_product``, and imports nothing else of ours, so that a sandbox can bind it alone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

__all__ = [
    "Bench",
    "Limits",
    "Samples",
    "Step",
    "floor_milliseconds",
    "judged",
    "measure",
    "quartiles",
    "relative_error",
]

#: Normal quantile of a 95 % interval: its half width over this is the standard error.
_Z = 1.96
#: Resolution of the events' clock, in milliseconds (CUDA Runtime API, cudaEventElapsedTime).
_RESOLUTION = 0.0005
#: Milliseconds that the device may go on after the clock's stop: a host's wake-up takes some.
_LATE = 0.2
#: Times the enqueueing of a launch that the queue must be ahead of it.
_AHEAD = 2.0
_MOST_PASSES = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop: ``target`` is the relative standard error of the median, ``seconds`` are of wall time.

    Past ``seconds`` it is enough with ``fewest`` runs; else no run counts before there are ``least``.
    """

    target: float = 0.01
    warmups: int = 3
    fewest: int = 3
    least: int = 12
    most: int = 200
    seconds: float = 4.0


@dataclass(frozen=True, slots=True)
class Step:
    """One run. ``milliseconds`` by the events; ``enqueue`` what the host took to queue it between them.

    ``late`` is for how long the device still had work after the snapshot of the output, ``flush`` what
    one pass of the flush takes, both in milliseconds; ``wrong`` counts rows of the output that are.
    """

    milliseconds: float
    enqueue: float = 0.0
    late: float = 0.0
    flush: float = 0.0
    wrong: int = 0


class Bench(Protocol):
    """A launch to time, and the device under it. One stream holds all of it, in the order of the calls."""

    def draw(self) -> None:
        """Draw fresh inputs where the old ones were; note what must come of them, out of a launch's reach."""

    def poison(self) -> None:
        """Fill the output with what no product is."""

    def flush(self, passes: int) -> None:
        """Write more than the L2 cache holds, that many times."""

    def run(self) -> None:
        """Record the start, launch, record the stop, copy the output as it is at the stop; wait not."""

    def wait(self) -> Step:
        """Wait for the whole device, then compare the copy with what must come."""

    def seconds(self) -> float:
        """Wall time, from any origin."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The timed runs, warm-ups left out. ``rejected`` names why they are void, from run ``at`` on.

    ``wrong`` counts the wrong rows of that run's output.
    """

    milliseconds: tuple[float, ...]
    late: tuple[float, ...] = ()
    rejected: str = ""
    at: int = -1
    wrong: int = 0


def measure(bench: Bench, limits: Limits | None = None) -> Samples:
    """Warm up, then run until the median is known well enough or a cap is hit.

    Every run, the warm-ups too, is checked against inputs drawn for it alone; the first wrong one ends it.
    """
    limits = limits or Limits()
    began = bench.seconds()
    timed_from: float | None = None
    times: list[float] = []
    late: list[float] = []
    passes = 1
    for at in count():
        step = _one_run(bench, passes)
        if step.wrong:
            return Samples(tuple(times), tuple(late), "wrong-timed-output", at, step.wrong)
        now = bench.seconds()
        # The very first launch pays for loading and the like, and says nothing of what queueing takes.
        passes = max(passes, _passes(step)) if at else 1
        if timed_from is None:
            if at + 1 >= limits.warmups or (at and now - began > limits.seconds / 2):
                timed_from = now
            continue
        times.append(step.milliseconds)
        late.append(step.late)
        if enough(times, now - timed_from, limits):
            break
    return Samples(tuple(times), tuple(late))


def _one_run(bench: Bench, passes: int) -> Step:
    bench.draw()
    bench.poison()
    bench.flush(passes)
    bench.run()
    return bench.wait()


def _passes(step: Step) -> int:
    """Passes of the flush that keep the device busy until the launch is queued.

    Else the device would idle between the start and the kernel, and the host's time would be counted.
    """
    if step.flush <= 0.0:
        return 1
    return max(1, min(math.ceil(_AHEAD * step.enqueue / step.flush), _MOST_PASSES))


def enough(times: Sequence[float], seconds: float, limits: Limits) -> bool:
    """Whether to stop: the median settled, or a cap is hit."""
    if len(times) >= limits.most or (seconds >= limits.seconds and len(times) >= limits.fewest):
        return True
    error = relative_error(times)
    return len(times) >= limits.least and error is not None and error <= limits.target


def relative_error(times: Sequence[float]) -> float | None:
    """The standard error of the median over the median, by order statistics; None below eight times.

    Whatever the distribution, the median lies between the order statistics of ranks
    floor(n/2 - z sqrt(n)/2) and ceil(1 + n/2 + z sqrt(n)/2) with 95 % confidence, z = 1.96 (J.-Y. Le
    Boudec, Performance Evaluation of Computer and Communication Systems, EPFL Press 2010, theorem 2.1).
    """
    n = len(times)
    low = math.floor(n / 2 - _Z * math.sqrt(n) / 2)
    high = math.ceil(1 + n / 2 + _Z * math.sqrt(n) / 2)
    if low < 1 or high > n:
        return None
    ordered = sorted(times)
    return (ordered[high - 1] - ordered[low - 1]) / (2 * _Z) / statistics.median(ordered)


def quartiles(times: Sequence[float]) -> tuple[float, float]:
    """First and third quartile, by linear interpolation between order statistics."""
    if len(times) < 2:
        return times[0], times[0]
    first, _, third = statistics.quantiles(times, n=4, method="inclusive")
    return first, third


def floor_milliseconds(compulsory_bytes: int, flops: int, bytes_per_second: float, peak: float) -> float:
    """The least time that any kernel can take: of traffic and arithmetic the longer, in milliseconds.

    ``compulsory_bytes`` counts each input read once and the output written once.
    """
    return 1e3 * max(compulsory_bytes / bytes_per_second, flops / peak)


def judged(samples: Samples, floor: float) -> str:
    """Why the times are void, by name, or nothing. ``floor`` in milliseconds, 0 where none is known.

    ``wrong-timed-output``: a run's output was not the product of that run's inputs.
    ``work-after-clock``: the device was still at work when the clock had stopped.
    ``below-floor``: a run was faster than memory and arithmetic units can be.
    ``not-timed``: there is no run at all.
    """
    if samples.rejected:
        return samples.rejected
    times = samples.milliseconds
    if not times or not all(0.0 < time < math.inf for time in times):
        return "not-timed"
    middle = statistics.median(times)
    if samples.late and statistics.median(samples.late) > max(_LATE, 0.1 * middle):
        return "work-after-clock"
    if min(times) + 2 * _RESOLUTION < floor:
        return "below-floor"
    return ""
