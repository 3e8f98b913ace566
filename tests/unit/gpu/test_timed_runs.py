"""The parent's side of a timing: floors, what a child may say, and one whole timing under the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grader.gpu import timed_runs
from grader.gpu.devices import DeviceBusyError, VisibleDevice
from grader.gpu.sandbox import Device, find_sandbox
from grader.gpu.timed_answers import TimedShape, timings_of
from grader.gpu.timed_product import Product
from grader.gpu.timed_runs import time_on_device
from grader.gpu.timing import Limits
from grader.gpu.timing_floor import floor_of, known_device
from grader.simt import parse
from grader.simt.plan import Plan, plan

READY = {
    "at": "ready",
    "device": "NVIDIA H200",
    "capability": [9, 0],
    "sms": 132,
    "clock": 1_980_000,
    "memory_clock": 3_201_000,
    "memory_bits": 6144,
}
SHAPE = TimedShape({"M": 4096, "N": 4096, "K": 4096}, Product(4096, 4096, 4096), (1,), (1,), ())


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-40GB", "a100"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("NVIDIA L40S", None),
        ("NVIDIA T400 4GB", None),
    ],
)
def test_a_driver_s_name_is_matched_with_a_known_device(name: str, key: str | None) -> None:
    found = known_device(name)
    assert (found.name if found else None) == key


def test_of_the_two_rates_the_higher_makes_the_floor() -> None:
    """Data sheet: 66.9 TFLOP/s, 4.8 TB/s. Driver: 132 x 128 x 2 x 1.98 GHz, 2 x 3201 MHz x 768 bytes."""
    square, thin = Product(4096, 4096, 4096), Product(4096, 4096, 1)
    assert floor_of(square, "NVIDIA H200", READY) == pytest.approx(2 * 4096**3 / 66.908e9, rel=1e-3)
    assert floor_of(thin, "NVIDIA H200", READY) == pytest.approx(4 * (4096**2 + 8192) / 4.9167e9, rel=1e-3)
    assert floor_of(thin, "NVIDIA H200", {}) == pytest.approx(4 * (4096**2 + 8192) / 4.8e9, rel=1e-3)


def test_an_unknown_device_has_a_floor_from_its_driver_and_else_none() -> None:
    square = Product(4096, 4096, 4096)
    t4 = {"capability": [7, 5], "sms": 40, "clock": 1_590_000, "memory_clock": 5_001_000, "memory_bits": 256}
    assert floor_of(square, "Unheard of", t4) == pytest.approx(2 * 4096**3 / 8.1408e9, rel=1e-3)
    assert floor_of(square, "Unheard of", {}) == 0.0


def test_matrix_units_make_the_floor_of_half_precision() -> None:
    half = Product(4096, 4096, 4096, "bfloat16")
    assert floor_of(half, "NVIDIA H200", READY) == pytest.approx(2 * 4096**3 / 989e9, rel=1e-3)


def said(**more: Any) -> list[dict[str, Any]]:
    told = {"at": "timed", "index": 0, "fault": "", "times": [17.8] * 12, "rejected": "", "late": 0.01}
    return [READY, {**told, **more}]


def test_times_are_read_and_judged() -> None:
    library = {"times": [2.71] * 12, "rejected": ""}
    times = [17.7, 17.75, 17.8, 17.85, 17.9] * 4
    (one,) = timings_of([SHAPE], said(times=times, clock_mhz=1980, highest_clock_mhz=1980, library=library))
    assert one.rejected == ""
    assert (one.milliseconds, one.least, one.quartiles, one.repeats) == (17.8, 17.7, (17.75, 17.85), 20)
    assert one.spread == pytest.approx(0.05 / 17.8)
    assert one.gflops == pytest.approx(2 * 4096**3 / 17.8e6)
    assert one.share_of_library == pytest.approx(2.71 / 17.8)
    assert (one.clock_mhz, one.device) == (1980, "NVIDIA H200")


def test_a_time_below_the_floor_is_rejected() -> None:
    (one,) = timings_of([SHAPE], said(times=[1.9] * 12))
    assert (one.rejected, one.milliseconds) == ("below-floor", 1.9)


def test_a_library_below_the_floor_is_no_measure() -> None:
    (one,) = timings_of([SHAPE], said(library={"times": [1.0] * 12, "rejected": ""}))
    assert (one.share_of_library, one.no_library) == (None, "below-floor")


@pytest.mark.parametrize(
    ("messages", "rejected"),
    [
        ([], "gpu-child-lost"),
        ([READY], "gpu-child-lost"),
        ([{"at": "timed", "index": 0, "times": [17.8] * 12}], "gpu-child-lost"),
        ([{**READY, "fault": "gpu-missing"}], "gpu-missing"),
        (said(fault="gpu-illegal-address"), "gpu-illegal-address"),
        (said(fault="no name at all <b>"), "gpu-child-lost"),
        (said(index=1), "gpu-child-lost"),
        (said(times=[]), "not-timed"),
        (said(times="17.8"), "not-timed"),
        (said(times=[17.8, "17.8"]), "not-timed"),
        (said(times=[float("nan")] * 12), "not-timed"),
        (said(times=[-1.0] * 12), "not-timed"),
        (said(late=40.0), "work-after-clock"),
        (said(rejected="wrong-timed-output", rejected_at=3, wrong=7), "wrong-timed-output"),
    ],
)
def test_what_a_child_leaves_out_or_makes_up_is_no_time(
    messages: list[dict[str, Any]], rejected: str
) -> None:
    (one,) = timings_of([SHAPE], messages)
    assert one.rejected == rejected


def test_a_fault_ends_the_shapes_after_it_too() -> None:
    first, second = timings_of([SHAPE, SHAPE], said(fault="gpu-illegal-address"))
    assert (first.rejected, second.rejected) == ("gpu-illegal-address",) * 2


KERNEL = """
from numba import cuda

@cuda.jit
def product(A, B, C, M, N, K):
    row, col = cuda.grid(2)
    if row < M and col < N:
        acc = 0.0
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
"""
QUICK = Limits(warmups=1, fewest=1, least=2, most=2, seconds=60.0)


def simulated(text: str, sandbox: Any = None) -> Any:
    planned = plan(parse(text), "product")
    assert isinstance(planned, Plan)
    shape = TimedShape(
        {"M": 3, "N": 4, "K": 5}, Product(3, 4, 5), (1, 1), (4, 4), ("left", "right", "out", 3, 4, 5)
    )
    (one,) = time_on_device(planned.request(), [shape], sandbox=sandbox, limits=QUICK, simulated=True)
    return one


def test_a_kernel_is_timed_in_a_child() -> None:
    one = simulated(KERNEL)
    assert (one.rejected, one.repeats, one.flops) == ("", 2, 120)
    assert one.milliseconds > 0
    assert (one.device, one.no_library) == ("numba's simulator", "not-measured")


def test_a_kernel_is_timed_in_a_sandbox() -> None:
    sandbox = find_sandbox()
    if sandbox is None:
        pytest.skip("no sandbox here: bubblewrap is not installed or does not hold")
    assert simulated(KERNEL, sandbox).rejected == ""


def test_a_kernel_that_leaves_a_row_out_has_no_time() -> None:
    one = simulated(KERNEL.replace("row < M", "row < M - 1"))
    assert (one.rejected, one.rejected_at, one.wrong_rows) == ("wrong-timed-output", 0, 1)


def test_a_kernel_that_does_not_run_has_no_time() -> None:
    one = simulated(KERNEL.replace("acc = 0.0", "acc = A[row, 99]"))
    assert one.rejected == "gpu-illegal-address"


def test_a_device_that_stays_taken_leaves_the_shapes_untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def taken(uuid: str, seconds: float) -> Any:
        asked.append((uuid, seconds))
        raise DeviceBusyError(uuid)

    device = VisibleDevice("GPU-x", "NVIDIA H200", "0")
    monkeypatch.setattr(timed_runs, "visible_devices", lambda: (device,))
    monkeypatch.setattr(timed_runs, "nvidia_device", Device)
    monkeypatch.setattr(timed_runs, "exclusive", taken)
    (one,) = time_on_device({"file": "x.py"}, [SHAPE], sandbox=None, wait=5)
    assert (one.rejected, one.repeats) == ("device-busy", 0)
    assert asked == [("GPU-x", 5)]


def test_clocks_that_a_sandbox_keeps_from_the_child_are_read_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def clocks(uuid: str) -> tuple[int, int]:
        asked.append(uuid)
        return 1965, 1980

    monkeypatch.setattr(timed_runs, "visible_devices", lambda: (VisibleDevice("GPU-x", "", "0"),))
    monkeypatch.setattr(timed_runs, "sm_clocks", clocks)
    given = timed_runs._with_clocks(said(clock_mhz=0)[1])
    assert (given["clock_mhz"], given["highest_clock_mhz"]) == (1965, 1980)
    assert timed_runs._with_clocks(said(clock_mhz=1410)[1])["clock_mhz"] == 1410
    assert timed_runs._with_clocks(READY) == READY
    assert asked == ["GPU-x"]


def test_the_child_lives_within_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    order = []

    @contextmanager
    def noted(name: str, *_: Any, **__: Any) -> Iterator[Any]:
        order.append(name)
        yield None
        order.append(f"end of {name}")

    monkeypatch.setattr(timed_runs, "visible_devices", lambda: (VisibleDevice("GPU-x", "", "0"),))
    monkeypatch.setattr(timed_runs, "nvidia_device", Device)
    monkeypatch.setattr(timed_runs, "exclusive", lambda *_: noted("lock"))
    monkeypatch.setattr(timed_runs, "started", lambda *_, **__: noted("child"))
    monkeypatch.setattr(timed_runs, "_messages", lambda *_: iter(()))
    (one,) = time_on_device({"file": "x.py"}, [SHAPE], sandbox=None)
    assert order == ["lock", "child", "end of child", "end of lock"]
    assert one.rejected == "gpu-child-lost"
