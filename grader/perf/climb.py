"""The ladder's rows: what each rung measured on a GPU, beside what the model says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from grader.perf.architectures import architecture_of
from grader.perf.gemm import predict
from grader.perf.occupancy import occupancy
from grader.perf.rungs import RUNGS, TOLERANCE, Rung, fits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.perf.devices import Device
    from grader.perf.gemm import Prediction

ResourceSource = Literal["driver", "compiler", "estimate"]
Sizes = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What one block of a kernel takes. Registers are 32-bit and per thread; bytes are per block.

    ``local_bytes`` are per thread: spilled registers and local arrays. ``blocks_per_sm`` is the
    driver's own figure, None where only a compiler was asked.
    """

    source: ResourceSource
    registers: int
    shared_bytes: int
    threads: int
    local_bytes: int = 0
    blocks_per_sm: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbed:
    """One rung at one size on a GPU.

    ``problem`` is one line that says why there is no time, empty where there is one.
    ``max_relative_error`` is the largest over the elements of C, against float64. ``milliseconds``
    is the median of ``repeats`` launches and ``spread`` half their interquartile range over it.
    """

    rung: str
    M: int
    N: int
    K: int
    problem: str = ""
    max_relative_error: float | None = None
    milliseconds: float | None = None
    spread: float | None = None
    repeats: int = 0
    resources: Resources | None = None

    @property
    def sizes(self) -> Sizes:
        """M, N, K."""
        return self.M, self.N, self.K


@dataclass(frozen=True, slots=True, kw_only=True)
class Climb:
    """A whole run: where, when, with what, and every rung at every size.

    ``device`` names the profile that the model divides by, empty where there is none for this GPU.
    """

    gpu: str
    device: str
    date: str
    versions: Mapping[str, str]
    rungs: tuple[Climbed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table: a rung, what was measured (if anything), what the model says (if anything).

    ``naive`` and ``library`` are the milliseconds of the naive kernel, and of the library with the same
    arithmetic, at the same size.
    """

    rung: Rung
    sizes: Sizes
    climbed: Climbed | None = None
    prediction: Prediction | None = None
    resources: Resources | None = None
    occupancy: float | None = None
    naive: float | None = None
    library: float | None = None

    @property
    def flops(self) -> int:
        """2 M N K."""
        M, N, K = self.sizes
        return 2 * M * N * K

    @property
    def milliseconds(self) -> float | None:
        """The measured median; None where the result was not verified or is wrong."""
        return counted_time(self.rung, self.climbed)

    @property
    def gflops(self) -> float | None:
        """Useful GFLOP/s of the measured time."""
        return None if not self.milliseconds else self.flops / self.milliseconds / 1e6

    @property
    def speed_up(self) -> float | None:
        """The naive kernel's time over this one's."""
        return _ratio(self.naive, self.milliseconds)

    @property
    def share(self) -> float | None:
        """The library's time over this one's, arithmetic being the same; 1 is the library's speed."""
        return _ratio(self.library, self.milliseconds)

    @property
    def is_right(self) -> bool | None:
        """Whether every element was right; None where nothing was verified."""
        error = self.climbed.max_relative_error if self.climbed is not None else None
        return None if error is None else _is_right(self.rung, error)

    @property
    def predicted_milliseconds(self) -> float | None:
        """The model's time."""
        seconds = self.prediction.seconds if self.prediction is not None else None
        return None if seconds is None else seconds * 1e3

    @property
    def achieved(self) -> float | None:
        """Predicted over measured time: 1 is the model's speed, above 1 faster than it."""
        return _ratio(self.predicted_milliseconds, self.milliseconds)


def counted_time(rung: Rung, climbed: Climbed | None) -> float | None:
    """The milliseconds of a rung, if every element of its result was right."""
    if climbed is None or climbed.problem or climbed.max_relative_error is None:
        return None
    return climbed.milliseconds if _is_right(rung, climbed.max_relative_error) else None


def _is_right(rung: Rung, error: float) -> bool:
    # Written so that a NaN is wrong.
    return error <= TOLERANCE[rung.arithmetic]


def measured_rows(climb: Climb, device: Device | None) -> dict[Sizes, list[Row]]:
    """The rows of a run by size, rungs in the ladder's order. Rungs of other names are left out."""
    found: dict[Sizes, list[Row]] = {}
    for sizes in dict.fromkeys(climbed.sizes for climbed in climb.rungs):
        here = {climbed.rung: climbed for climbed in climb.rungs if climbed.sizes == sizes}
        times = {rung.name: counted_time(rung, here.get(rung.name)) for rung in RUNGS}
        libraries = {rung.arithmetic: times.get(rung.name) for rung in RUNGS if rung.is_library}
        found[sizes] = [
            _row(rung, sizes, device, here[rung.name], times.get("naive"), libraries[rung.arithmetic])
            for rung in RUNGS
            if rung.name in here
        ]
    return found


def predicted_rows(
    device: Device, sizes: Iterable[Sizes], resources: Mapping[str, Resources]
) -> dict[Sizes, list[Row]]:
    """The rows of kernels that nothing was measured of; ``resources`` by rung, as a compiler gives them."""
    return {
        each: [
            _row(rung, each, device, resources=resources.get(rung.name))
            for rung in RUNGS
            if not rung.is_library and fits(rung, architecture_of(device))
        ]
        for each in sizes
    }


def _row(
    rung: Rung,
    sizes: Sizes,
    device: Device | None,
    climbed: Climbed | None = None,
    naive: float | None = None,
    library: float | None = None,
    resources: Resources | None = None,
) -> Row:
    if climbed is not None:
        resources = climbed.resources
    prediction = _prediction(rung, sizes, device, resources)
    if resources is None and prediction is not None:
        resources = _estimated(prediction)
    return Row(
        rung=rung,
        sizes=sizes,
        climbed=climbed,
        prediction=prediction,
        resources=resources,
        occupancy=_occupancy(device, resources),
        naive=naive,
        library=library,
    )


def _prediction(
    rung: Rung, sizes: Sizes, device: Device | None, resources: Resources | None
) -> Prediction | None:
    if rung.kernel is None or device is None:
        return None
    registers = resources.registers if resources is not None else None
    return predict(replace(rung.kernel, registers=registers), device, *sizes)


def _estimated(prediction: Prediction) -> Resources:
    return Resources(
        source="estimate",
        registers=prediction.registers,
        shared_bytes=prediction.shared_bytes_per_block,
        threads=prediction.threads_per_block,
    )


def _occupancy(device: Device | None, resources: Resources | None) -> float | None:
    """Resident warps over the most that an SM holds, by the driver's count of blocks where there is one."""
    if device is None or resources is None:
        return None
    if resources.blocks_per_sm is not None:
        warps = -(-resources.threads // device.warp_width)
        return resources.blocks_per_sm * warps / device.max_warps_per_sm
    return occupancy(device, resources.threads, resources.registers, resources.shared_bytes).fraction


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if not above or not below else above / below
