from __future__ import annotations

import pytest

from grader.perf.devices import device
from grader.perf.ladder import LADDER, parse_kernel
from grader.perf.roofline import roofline, roofs, submission_point

H200 = device("h200")


def test_a_roof_is_the_lesser_of_peak_and_bandwidth() -> None:
    fp32, matrix = roofs(H200)
    assert fp32.ridge == pytest.approx(66.9e12 / 4.8e12)
    assert fp32.attainable(1) == 4.8e12
    assert fp32.attainable(1000) == 66.9e12
    assert fp32.attainable(fp32.ridge) == pytest.approx(66.9e12)
    assert matrix.ridge == pytest.approx(989 / 4.8)


def test_the_t4_has_fp16_for_its_second_roof() -> None:
    assert [(roof.units, roof.dtype) for roof in roofs(device("t4"))] == [
        ("fp32", "float32"),
        ("matrix", "float16"),
    ]


def test_kernels_stand_at_or_below_their_roof() -> None:
    drawn = roofline(H200, LADDER, (4096, 4096, 4096))
    fp32, matrix = drawn.roofs
    for point in drawn.points:
        assert point.kernel is not None
        roof = matrix if point.kernel.kind == "tensor-core" else fp32
        assert point.flops_per_second <= roof.attainable(point.intensity) * (1 + 1e-12)
    assert [point.bound_by for point in drawn.points] == ["hbm", "shared", "shared", "hbm"]


def test_a_kernel_that_cannot_run_is_left_out() -> None:
    drawn = roofline(H200, {"t": parse_kernel("tiled:64"), "n": LADDER["naive"]}, (64, 64, 64))
    assert [point.label for point in drawn.points] == ["n"]


def test_a_submission_without_a_time_stands_on_the_roof() -> None:
    point = submission_point("mine.py", H200, 4.0)
    assert (point.standing, point.flops_per_second) == ("attainable", 4.0 * 4.8e12)


def test_a_submission_with_a_time_stands_at_its_speed() -> None:
    point = submission_point("mine.py", H200, 7.97, 7.7e12)
    assert (point.standing, point.flops_per_second) == ("measured", 7.7e12)


@pytest.mark.parametrize("intensity", [0.01, 0.25, 40.0, 5000.0])
def test_every_point_lies_within_the_axes(intensity: float) -> None:
    slow = submission_point("slow.py", H200, intensity, 1e9)
    drawn = roofline(H200, LADDER, (4096, 4096, 4096), [slow])
    (left, right), (low, high) = drawn.intensity_range, drawn.speed_range
    for point in drawn.points:
        assert left < point.intensity < right
        assert low < point.flops_per_second < high
    assert left < drawn.roofs[-1].ridge < right
