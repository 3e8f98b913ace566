from __future__ import annotations

import pytest

from grader.perf.devices import device
from grader.perf.gemm import predict
from grader.perf.ladder import parse_kernel
from grader.perf.reconcile import reconcile

H200 = device("h200")


@pytest.mark.parametrize(
    ("kernel", "measured_ms", "achieved", "gap"),
    [
        # Measured on an H200 at 4096^3; docs/model.md says what each gap means.
        ("naive", 107, 1.07, "at-limit"),
        ("tiled", 17.8, 0.95, "at-limit"),
        ("register:64x64x16/4x4", 10.0, 0.44, "below-limit"),
        ("register", 5.8, 0.38, "below-limit"),
        ("tensor", 1.018, 0.45, "below-limit"),
    ],
)
def test_the_ladder_on_an_h200(kernel: str, measured_ms: float, achieved: float, gap: str) -> None:
    found = reconcile(predict(parse_kernel(kernel), H200, 4096, 4096, 4096), measured_ms / 1e3)
    assert found.achieved == pytest.approx(achieved, abs=0.006)
    assert found.gap == gap


@pytest.mark.parametrize("kernel", ["naive", "tiled"])
def test_naive_and_tiled_are_predicted_within_30_per_cent(kernel: str) -> None:
    measured = {"naive": 0.107, "tiled": 0.0178}[kernel]
    found = reconcile(predict(parse_kernel(kernel), H200, 4096, 4096, 4096), measured)
    assert 0.7 <= found.achieved <= 1.3


def test_speed_and_shares() -> None:
    found = reconcile(predict(parse_kernel("tiled"), H200, 4096, 4096, 4096), 17.8e-3)
    assert found.flops_per_second / 1e12 == pytest.approx(7.72, abs=0.01)
    shares = dict(found.shares)
    assert shares["shared"] == pytest.approx(found.achieved)
    assert shares["hbm"] == pytest.approx(0.202, abs=0.001)
    assert shares["alu"] == pytest.approx(0.115, abs=0.001)


@pytest.mark.parametrize(
    ("factor", "gap"),
    [(0.5, "faster-than-model"), (1, "at-limit"), (2, "below-limit"), (4, "far-below-limit")],
)
def test_gaps_by_size(factor: float, gap: str) -> None:
    prediction = predict(parse_kernel("tiled"), H200, 1024, 1024, 1024)
    assert prediction.seconds is not None
    assert reconcile(prediction, factor * prediction.seconds).gap == gap


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="above zero and finite"):
        reconcile(predict(parse_kernel("tiled"), H200, 64, 64, 64), seconds)


def test_a_kernel_that_cannot_run_has_nothing_to_compare() -> None:
    with pytest.raises(ValueError, match="cannot run on h200"):
        reconcile(predict(parse_kernel("tiled:64"), H200, 64, 64, 64), 1.0)
