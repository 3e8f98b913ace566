"""The timing protocol on a fake device: what it believes, and the tricks that it does not.

Each trick comes with a control, the timer that everybody writes first, which takes it for a fast and
right kernel: so no trick is turned away for a reason of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from grader.gpu.timed_product import LARGEST, SPANS, Product, ProductBench, wrong_rows
from grader.gpu.timing import (
    Limits,
    Samples,
    Step,
    enough,
    floor_milliseconds,
    judged,
    measure,
    quartiles,
    relative_error,
)
from tests.unit.gpu.fake_device import PRODUCT, FakeDevice, Launch, naive_run, run

HONEST = 2.0
QUICK = 0.5
FLOOR = 0.1


def honest(device: FakeDevice) -> None:
    device.C[:] = device.A @ device.B
    device.spend(HONEST)


def replay() -> Launch:
    kept: list[np.ndarray] = []

    def launch(device: FakeDevice) -> None:
        if not kept:
            honest(device)
            kept.append(device.C.copy())
            return
        device.C[:] = kept[0]
        device.spend(QUICK)

    return launch


def caching() -> Launch:
    """Looks at where the inputs lie, and gives the result of what lay there before."""
    results: dict[tuple[int, int], np.ndarray] = {}

    def launch(device: FakeDevice) -> None:
        where = (device.A.ctypes.data, device.B.ctypes.data)
        if where in results:
            device.C[:] = results[where]
            device.spend(QUICK)
            return
        honest(device)
        results[where] = device.C.copy()

    return launch


def lazy() -> Launch:
    """Writes all of the output once, and the first half of it from then on."""
    first = [True]

    def launch(device: FakeDevice) -> None:
        if first.pop() if first else False:
            honest(device)
            return
        half = device.C.shape[0] // 2
        device.C[:half] = device.A[:half] @ device.B
        device.spend(QUICK)

    return launch


def stream(device: FakeDevice) -> None:
    """Queues the work where the clock does not look."""

    def work() -> None:
        device.C[:] = device.A @ device.B

    device.later(HONEST, work)
    device.spend(QUICK)


def nan(device: FakeDevice) -> None:
    device.C[:] = np.nan
    device.spend(QUICK)


def too_fast(device: FakeDevice) -> None:
    device.C[:] = device.A @ device.B
    device.spend(0.01)


TRICKS: dict[str, tuple[Callable[[], Launch], str]] = {
    "replay": (replay, "wrong-timed-output"),
    "caching": (caching, "wrong-timed-output"),
    "lazy output": (lazy, "wrong-timed-output"),
    "stream": (lambda: stream, "wrong-timed-output"),
    "nan": (lambda: nan, "wrong-timed-output"),
    "too fast": (lambda: too_fast, "below-floor"),
}


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_is_turned_away(name: str) -> None:
    make, verdict = TRICKS[name]
    assert judged(run(make()), FLOOR) == verdict


@pytest.mark.parametrize("name", TRICKS)
def test_a_naive_timer_believes_the_trick(name: str) -> None:
    make, _ = TRICKS[name]
    right, milliseconds = naive_run(make())
    assert right
    assert milliseconds < 1.1 * QUICK


def test_both_timers_believe_an_honest_kernel() -> None:
    samples = run(honest)
    assert judged(samples, FLOOR) == ""
    assert np.median(samples.milliseconds) == pytest.approx(HONEST, rel=0.02)
    assert naive_run(honest) == (True, pytest.approx(HONEST, rel=0.02))


def test_work_that_goes_on_after_the_clock_is_seen_though_the_output_was_right() -> None:
    def launch(device: FakeDevice) -> None:
        device.C[:] = device.A @ device.B
        device.later(HONEST, lambda: None)
        device.spend(QUICK)

    assert judged(run(launch), FLOOR) == "work-after-clock"


@pytest.mark.parametrize("bits", [8, 11])
@pytest.mark.parametrize("operand", ["A", "B"])
def test_inputs_rounded_to_a_faster_type_are_found_out(bits: int, operand: str) -> None:
    """bfloat16 keeps 8 significant bits, TF32 keeps 11; small whole numbers would survive both."""

    def rounded(array: np.ndarray) -> np.ndarray:
        fraction, exponent = np.frexp(array)
        return np.ldexp(np.rint(fraction * 2**bits) / 2**bits, exponent).astype(np.float32)

    def launch(device: FakeDevice) -> None:
        left = rounded(device.A) if operand == "A" else device.A
        right = rounded(device.B) if operand == "B" else device.B
        device.C[:] = left @ right
        device.spend(QUICK)

    assert judged(run(launch), FLOOR) == "wrong-timed-output"
    assert naive_run(launch)[0]


def test_one_wrong_element_in_one_run_voids_the_times() -> None:
    runs = itertools.count()

    def launch(device: FakeDevice) -> None:
        honest(device)
        if next(runs) == 9:
            device.C[5, 7] += 1

    samples = run(launch)
    assert (samples.rejected, samples.at, samples.wrong) == ("wrong-timed-output", 9, 1)


def test_inputs_are_drawn_anew_for_each_run_and_the_output_poisoned() -> None:
    seen: list[bytes] = []
    poisoned: list[bool] = []

    def launch(device: FakeDevice) -> None:
        seen.append(device.A.tobytes() + device.B.tobytes())
        poisoned.append(bool(np.isnan(device.C).all()))
        honest(device)

    run(launch)
    assert len(set(seen)) == len(seen) > 10
    assert all(poisoned)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.5, 2.0**100])
def test_what_is_no_whole_number_is_wrong_where_the_sum_would_not_show_it(value: float) -> None:
    """The right element is 0: taken for a 0, what stands there would leave every sum as it is."""

    class Cancelling(FakeDevice):
        def draw(self, operand: str, seed: int, span: int) -> None:
            self.A[:] = [1, -1]
            self.B[:] = 1

    product = Product(1, 1, 2)
    device = Cancelling(product)

    def launch() -> None:
        device.C[:] = value
        device.spend(HONEST)

    samples = measure(ProductBench(product, device, launch))
    assert (samples.rejected, samples.wrong) == ("wrong-timed-output", 1)


def test_the_order_of_a_run() -> None:
    device = FakeDevice(PRODUCT)
    limits = Limits(warmups=1, fewest=1, least=1, most=1)

    def launch() -> None:
        device.calls.append("launch")
        honest(device)

    measure(ProductBench(PRODUCT, device, launch), limits)
    once = [
        *("draw", "draw", "sums right", "sums left", "poison", "flush", "flush"),
        *("start", "launch", "stop", "copy", "copied", "settle", "sums copy"),
    ]
    # The event before the flush has the same name as the flush itself.
    assert device.calls == once * 2


def test_what_must_come_is_settled_before_the_launch() -> None:
    """A launch that zeroes the inputs makes a product of zeros right afterwards, and stays wrong."""

    def launch(device: FakeDevice) -> None:
        device.A[:] = 0
        device.C[:] = 0
        device.spend(QUICK)

    assert judged(run(launch), FLOOR) == "wrong-timed-output"


def test_the_wide_operand_changes_sides() -> None:
    widths: list[tuple[float, float]] = []

    def launch(device: FakeDevice) -> None:
        widths.append((np.abs(device.A).max(), np.abs(device.B).max()))
        honest(device)

    run(launch)
    assert widths[0][0] > 2048
    assert widths[0][1] == 4
    assert widths[1][0] == 4
    assert widths[1][1] > 2048


@pytest.mark.parametrize("types", SPANS)
def test_sums_of_the_drawn_numbers_stay_exact(types: tuple[str, str]) -> None:
    """Eight standard deviations of a sum of 16,384 products."""
    wide, narrow = SPANS[types]
    square = lambda span: (span + 1) * (2 * span + 1) / 6  # noqa: E731 - the mean square of 1 to span
    deviation = math.sqrt(16384 * square(wide) * square(narrow))
    assert 8 * deviation < LARGEST[types[1]]


class Steps:
    """A bench that gives the times it is told, a second of wall time apart or as told."""

    def __init__(self, times: list[float], wall: float = 0.001, enqueue: float = 0.0) -> None:
        self.times, self.wall, self.enqueue = iter(times), wall, enqueue
        self.now, self.passes = 0.0, []

    def draw(self) -> None:
        self.now += self.wall

    def poison(self) -> None: ...

    def flush(self, passes: int) -> None:
        self.passes.append(passes)

    def run(self) -> None: ...

    def wait(self) -> Step:
        return Step(next(self.times), self.enqueue, flush=0.05)

    def seconds(self) -> float:
        return self.now


def test_warm_ups_are_left_out() -> None:
    samples = measure(Steps([900.0, 50.0, 3.0] + [2.0] * 50))
    assert samples.milliseconds == (2.0,) * 12


def test_it_stops_once_the_median_is_known() -> None:
    steady = measure(Steps([9.0] * 3 + [2.0, 2.001] * 100))
    restless = measure(Steps([9.0] * 3 + [2.0, 2.4, 1.7, 2.9] * 100))
    assert len(steady.milliseconds) == 12
    assert len(restless.milliseconds) == 200


def test_wall_time_is_a_cap_for_slow_kernels() -> None:
    samples = measure(Steps([1000.0, 1010.0] * 50, wall=1.0))
    assert len(samples.milliseconds) == 4


def test_the_queue_is_kept_ahead_of_the_host() -> None:
    """0.3 ms to queue a launch, 0.05 ms a pass: twelve passes are twice as long as the queueing."""
    bench = Steps([2.0] * 50, enqueue=0.3)
    measure(bench)
    assert bench.passes[:2] == [1, 1]
    assert set(bench.passes[2:]) == {12}


def test_the_error_of_the_median_by_order_statistics() -> None:
    # Of ten times the least and the greatest enclose the median with 95 % confidence.
    times = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    assert relative_error(times) == pytest.approx((10 - 1) / (2 * 1.96) / 5.5)
    assert relative_error(times[:7]) is None
    assert relative_error([3.0] * 8) == 0.0


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        times = list(rng.lognormal(0.0, 0.3, 30))
        error = relative_error(times)
        assert error is not None
        inside += abs(np.median(times) - 1.0) <= 1.96 * error * np.median(times)
    assert 0.92 < inside / 400 <= 1.0


def test_enough() -> None:
    limits = Limits()
    assert not enough([1.0] * 11, 0.1, limits)
    assert enough([1.0] * 12, 0.1, limits)
    assert enough([1.0, 1.5, 2.0], 4.0, limits)
    assert not enough([1.0, 1.5], 60.0, limits)


def test_quartiles() -> None:
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 4.0)
    assert quartiles([2.5]) == (2.5, 2.5)


def floor_of_h200(product: Product) -> float:
    """66.9 TFLOP/s in FP32, 4.8 TB/s."""
    return floor_milliseconds(product.compulsory_bytes, product.flops, 4.8e12, 66.9e12)


def test_the_floor_is_the_longer_of_traffic_and_arithmetic() -> None:
    square, thin = Product(4096, 4096, 4096), Product(4096, 4096, 1)
    assert (square.flops, square.compulsory_bytes) == (2 * 4096**3, 3 * 4 * 4096**2)
    assert floor_of_h200(square) == pytest.approx(2.0544, rel=1e-4)
    assert floor_of_h200(thin) == pytest.approx(0.013988, rel=1e-3)


@pytest.mark.parametrize(
    ("samples", "verdict"),
    [
        (Samples((2.0, 2.1)), ""),
        (Samples((2.0, 1.9)), "below-floor"),
        (Samples(()), "not-timed"),
        (Samples((math.nan,)), "not-timed"),
        (Samples((-1.0,)), "not-timed"),
        (Samples((2.1, 2.1), late=(0.5, 0.5)), "work-after-clock"),
        (Samples((20.0, 20.0), late=(0.5, 0.5)), ""),
        (Samples((2.1,), rejected="wrong-timed-output"), "wrong-timed-output"),
    ],
)
def test_judged(samples: Samples, verdict: str) -> None:
    assert judged(samples, 2.0) == verdict


def test_rows_of_another_number_are_all_wrong() -> None:
    assert wrong_rows(np.arange(5), np.arange(5)) == 0
    assert wrong_rows(np.arange(5), np.arange(4)) == 5
    assert wrong_rows(np.arange(5), np.array([0, 1, 9, 3, -9])) == 2


def test_a_bench_draws_its_secrets_from_the_system() -> None:
    device = FakeDevice(PRODUCT)
    bench = ProductBench(PRODUCT, device, lambda: honest(device))
    bench.draw()
    first = device.A.copy()
    bench.draw()
    assert not np.array_equal(first, device.A)
