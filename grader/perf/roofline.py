"""The roofline of a device: its roofs, their ridge points, and where kernels stand under them.

Intensity is in flop per byte at HBM, speed in flop/s. A roof is the lesser of peak and intensity
times bandwidth (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Literal

from grader.perf.gemm import predict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.perf.devices import Device, Dtype
    from grader.perf.gemm import GemmKernel, LimitName, Prediction

Units = Literal["fp32", "matrix"]
Standing = Literal["predicted", "measured", "attainable"]


@dataclass(frozen=True, slots=True)
class Roof:
    """One roof: ``peak`` in flop/s, ``bandwidth`` in bytes per second."""

    units: Units
    dtype: Dtype
    peak: float
    bandwidth: float

    @property
    def ridge(self) -> float:
        """Ridge point: the intensity at which the roof turns flat, in flop per byte."""
        return self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """The most flop/s at that intensity."""
        return min(self.peak, intensity * self.bandwidth)


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel under the roof.

    ``standing`` says where its height comes from: the model, a measured time, or for want of a time
    the roof itself at its measured intensity. ``faults`` names what is wrong with a submission.
    """

    label: str
    intensity: float
    flops_per_second: float
    standing: Standing
    bound_by: LimitName | None = None
    kernel: GemmKernel | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Roofline:
    """Everything a drawing needs: roofs (FP32 first), points, and the axes' ranges.

    ``size`` is M, N, K of the predicted points.
    """

    device: Device
    size: tuple[int, int, int]
    roofs: tuple[Roof, ...]
    points: tuple[Point, ...]
    intensity_range: tuple[float, float]
    speed_range: tuple[float, float]


def roofs(device: Device) -> tuple[Roof, ...]:
    """The FP32 roof and, where the device has matrix units, that of BF16 (else FP16) inputs."""
    found = [Roof("fp32", "float32", device.fp32_flops, device.hbm_bytes_per_second)]
    matrix: tuple[Dtype, ...] = ("bfloat16", "float16")
    for dtype in matrix:
        peak = device.matrix_flops(dtype)
        if peak is not None:
            found.append(Roof("matrix", dtype, peak, device.hbm_bytes_per_second))
            break
    return tuple(found)


def predicted_point(label: str, prediction: Prediction) -> Point | None:
    """A kernel at the speed the model gives it; None where it cannot run on the device."""
    speed = prediction.flops_per_second
    if speed is None:
        return None
    return Point(label, prediction.hbm_intensity, speed, "predicted", prediction.bound_by, prediction.kernel)


def submission_point(
    label: str,
    device: Device,
    intensity: float,
    flops_per_second: float | None = None,
    faults: tuple[str, ...] = (),
) -> Point:
    """A submission at its measured intensity, and at its speed where that was measured too."""
    if flops_per_second is not None:
        return Point(label, intensity, flops_per_second, "measured", faults=faults)
    return Point(label, intensity, roofs(device)[0].attainable(intensity), "attainable", faults=faults)


def roofline(
    device: Device,
    kernels: dict[str, GemmKernel],
    size: tuple[int, int, int],
    submissions: Iterable[Point] = (),
) -> Roofline:
    """The roofline of ``device`` with each of ``kernels`` as the model places it at M, N, K = ``size``.

    A kernel that cannot run on the device is left out. Raises KernelError for sizes that are none.
    """
    placed = (predicted_point(name, predict(kernel, device, *size)) for name, kernel in kernels.items())
    points = (*(point for point in placed if point is not None), *submissions)
    found = roofs(device)
    lowest = min([0.1, *(point.intensity / 2 for point in points)])
    highest = max([4 * found[-1].ridge, *(point.intensity * 2 for point in points)])
    slowest = min([found[0].attainable(lowest), *(point.flops_per_second / 2 for point in points)])
    return Roofline(
        device=device,
        size=size,
        roofs=found,
        points=points,
        intensity_range=(_decade_below(lowest), highest),
        speed_range=(slowest, 10 * found[-1].peak),
    )


def _decade_below(value: float) -> float:
    """The power of ten at or below ``value``."""
    return float(10.0 ** floor(log10(value)))
