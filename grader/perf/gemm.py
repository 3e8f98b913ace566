"""The time of a matrix product at each limit of a device, and the limit that binds.

The model: no block finds in L2 what another has loaded, nothing waits for latency, and everything
overlaps. So the time is the longest of flops over peak, global bytes over HBM bandwidth and shared
bytes over shared-memory bandwidth. docs/model.md says what that leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from grader.perf.kernel import GemmKernel, KernelError, Traffic, traffic
from grader.perf.occupancy import Obstacle, launch_obstacles, occupancy

if TYPE_CHECKING:
    from grader.perf.devices import Device
    from grader.perf.occupancy import Occupancy

__all__ = ["GemmKernel", "KernelError", "Limit", "LimitName", "Prediction", "Traffic", "predict", "traffic"]

LimitName = Literal["alu", "tensor-core", "hbm", "l2", "shared"]


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: the amount (flops or bytes), the rate (per second) and the time they make."""

    name: LimitName
    amount: int
    rate: float

    @property
    def seconds(self) -> float:
        """Time that this limit alone would take."""
        return self.amount / self.rate


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model says of one kernel on one device and size.

    Without L2 reuse the bytes at L2 and at HBM are the same, loads and the stores of C together.
    ``limits`` holds those whose rate is known; L2 bandwidth often is not published.
    """

    kernel: GemmKernel
    device: Device
    M: int
    N: int
    K: int
    traffic: Traffic
    limits: tuple[Limit, ...]
    obstacles: tuple[Obstacle, ...]
    threads_per_block: int
    registers: int
    registers_estimated: bool
    shared_bytes_per_block: int
    occupancy: Occupancy

    @property
    def flops(self) -> int:
        """2 M N K."""
        return self.traffic.flops

    @property
    def hbm_bytes(self) -> int:
        """Bytes at HBM when nothing is reused in L2."""
        return self.traffic.global_bytes

    @property
    def shared_bytes(self) -> int:
        """Bytes through shared memory."""
        return self.traffic.shared_bytes

    @property
    def spills(self) -> bool:
        """Whether the thread's values exceed its registers, so that the compiler moves some to memory."""
        return self.registers > self.device.max_registers_per_thread

    @property
    def hbm_intensity(self) -> float:
        """Flop per byte at HBM (and at L2), the stores of C counted."""
        return self.flops / self.hbm_bytes

    @property
    def load_intensity(self) -> float:
        """Flop per byte that global loads ask for, the stores of C left out."""
        return self.flops / self.traffic.global_load_bytes

    @property
    def best_intensity(self) -> float:
        """Flop per byte at HBM if L2 kept everything: A, B and C moved once."""
        return self.flops / self.traffic.compulsory_bytes

    @property
    def shared_intensity(self) -> float | None:
        """Flop per byte at shared memory, the tile stores counted; None for a naive kernel."""
        return self.flops / self.shared_bytes if self.shared_bytes else None

    @property
    def bound_by(self) -> LimitName | None:
        """The limit that takes longest; None where the kernel cannot run."""
        return None if self.obstacles else max(self.limits, key=lambda limit: limit.seconds).name

    @property
    def seconds(self) -> float | None:
        """Predicted time; None where the kernel cannot run."""
        return None if self.obstacles else max(limit.seconds for limit in self.limits)

    @property
    def flops_per_second(self) -> float | None:
        """Useful flops over the predicted time; None where the kernel cannot run."""
        return None if self.seconds is None else self.flops / self.seconds


def predict(kernel: GemmKernel, device: Device, M: int, N: int, K: int) -> Prediction:
    """Apply the model. Raises KernelError for sizes that are none."""
    counted = traffic(kernel, M, N, K)
    threads = kernel.threads_per_block(device)
    registers = kernel.registers_per_thread(device)
    shared = kernel.shared_bytes_per_block
    obstacles = launch_obstacles(device, threads, registers, shared)
    if _peak(kernel, device) is None:
        obstacles += (Obstacle("no-matrix-units"),)
    return Prediction(
        kernel=kernel,
        device=device,
        M=M,
        N=N,
        K=K,
        traffic=counted,
        limits=_limits(kernel, device, counted),
        obstacles=obstacles,
        threads_per_block=threads,
        registers=registers,
        registers_estimated=kernel.registers is None,
        shared_bytes_per_block=shared,
        occupancy=occupancy(device, threads, registers, shared),
    )


def _limits(kernel: GemmKernel, device: Device, counted: Traffic) -> tuple[Limit, ...]:
    units: LimitName = "tensor-core" if kernel.kind == "tensor-core" else "alu"
    rates: tuple[tuple[LimitName, int, float | None], ...] = (
        (units, counted.executed_flops, _peak(kernel, device)),
        ("hbm", counted.global_bytes, device.hbm_bytes_per_second),
        ("l2", counted.global_bytes, device.l2_bytes_per_second),
        ("shared", counted.shared_bytes, device.shared_bytes_per_second),
    )
    return tuple(Limit(name, amount, rate) for name, amount, rate in rates if amount and rate is not None)


def _peak(kernel: GemmKernel, device: Device) -> float | None:
    if kernel.kind == "tensor-core":
        return device.matrix_flops(kernel.dtype)
    return device.vector_flops(kernel.dtype)
