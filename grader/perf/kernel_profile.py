"""What a profile of a kernel holds: counts of a launch, the times they make, the compiler's figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from grader.perf.devices import Device
from grader.records import Compilation

__all__ = ["KernelProfile", "Profile", "Time", "TimeName"]

TimeName = Literal["alu", "tensor-core", "hbm", "shared"]


@dataclass(frozen=True, slots=True)
class Time:
    """The time that one limit alone would take, in seconds: "alu", "tensor-core", "hbm" or "shared"."""

    name: TimeName
    seconds: float


@dataclass(frozen=True, slots=True)
class KernelProfile:
    """One kernel's figures for the profile's size.

    Bytes are those that threads ask for; ``sector_bytes`` counts whole 32-byte sectors of loads and
    stores, ``wavefronts`` the 128-byte passes through shared memory, conflicts included.
    Operations are instructions of the float32 and float64 units, a multiply-add being one.
    ``conflicts_per_request`` are extra wavefronts of a shared access. ``measured`` holds ncu's figures
    of the launch that the machine counted, by the names of :data:`grader.gpu.counters.METRICS`.
    ``right`` is of that launch; ``faults`` names what a grading finds wrong with the kernel.
    """

    label: str
    right: bool
    flops: int
    load_bytes: float
    store_bytes: float
    sector_bytes: float
    shared_bytes: float
    wavefronts: float
    conflicts_per_request: float
    float_operations: float
    double_operations: float
    matrix_flops: float = 0.0
    times: tuple[Time, ...] = ()
    compiled: Compilation | None = None
    measured: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def intensity(self) -> float | None:
        """Flop of the product per byte of global loads; None without loads."""
        return self.flops / self.load_bytes if self.load_bytes else None

    @property
    def shared_bytes_per_flop(self) -> float:
        """Bytes of shared loads and stores per flop of the product."""
        return self.shared_bytes / self.flops

    @property
    def bound_by(self) -> TimeName:
        """The limit that takes longest."""
        return max(self.times, key=lambda one: one.seconds).name


@dataclass(frozen=True, slots=True)
class Profile:
    """Profiles of several kernels of one exercise on one device.

    ``size`` is M, N, K of all figures, ``counted`` that of the launches they come from. Where they
    differ loads and arithmetic were scaled by M N K and stores by M N, which is exact for whole tiles.
    ``not_compiled`` and ``not_measured`` say why there are no such figures.
    """

    exercise: str
    path: str
    device: Device
    size: tuple[int, int, int]
    counted: tuple[int, int, int]
    kernels: tuple[KernelProfile, ...]
    not_compiled: str = ""
    not_measured: str = ""

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with any of the kernels, each name once."""
        return tuple(dict.fromkeys(name for one in self.kernels for name in one.faults))

    @property
    def compulsory_bytes(self) -> int:
        """A, B and C once each: the least that any kernel moves."""
        M, N, K = self.size
        return 4 * (M * K + K * N + M * N)
