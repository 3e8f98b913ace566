"""What a real GPU and its compiler said of a submission, beside what the machine says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Compilation", "DeviceRun", "Disagreement", "Timing"]


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of one launch shape on one GPU, by its own events; docs/timing.md says how they are taken.

    All times are in milliseconds. ``milliseconds`` is the median of ``repeats`` launches, ``quartiles``
    the first and the third, ``least`` the shortest, ``spread`` half the interquartile range over the
    median, ``error`` the relative standard error of the median (None for too few launches). ``flops`` is
    2 M N K. ``floor_milliseconds`` is the least that compulsory traffic and peak arithmetic allow.
    ``library_milliseconds`` is the vendor library's median in the same run, 0 where it was not measured,
    which ``no_library`` names the reason of. Clocks are of the multiprocessors, as found, 0 where nothing
    tells. ``rejected`` is empty, or the name of why the time does not count; ``wrong_rows`` of the output
    of launch ``rejected_at``, counted from 0 with the warm-ups, made it so.
    """

    dims: Mapping[str, int]
    shown: bool
    milliseconds: float
    spread: float
    repeats: int
    flops: int
    floor_milliseconds: float = 0.0
    library_milliseconds: float = 0.0
    clock_mhz: int = 0
    device: str = ""
    rejected: str = ""
    quartiles: tuple[float, float] = (0.0, 0.0)
    least: float = 0.0
    error: float | None = None
    dtype: str = "float32"
    no_library: str = ""
    highest_clock_mhz: int = 0
    rejected_at: int = -1
    wrong_rows: int = 0

    @property
    def gflops(self) -> float:
        """Floating-point operations a nanosecond: GFLOP/s."""
        return self.flops / self.milliseconds / 1e6 if self.milliseconds else 0.0

    @property
    def share_of_library(self) -> float | None:
        """The library's time over this one; None where the library was not measured."""
        measured = self.library_milliseconds and self.milliseconds
        return self.library_milliseconds / self.milliseconds if measured else None


@dataclass(frozen=True, slots=True)
class Compilation:
    """What the compiler made of a kernel for one architecture, say ``sm_90``.

    All sizes are bytes; ``registers`` are per thread; ``occupancy`` is the share of the
    multiprocessor's warps that can be resident (``warps`` of ``most_warps``), 0 to 1, and
    ``limited_by`` what keeps it there; ``most_warps`` is 0 where the architecture's limits are not
    known. A kernel that does not compile has an ``error`` in one line and all else 0; ``error_kind``
    is "refused" where numba's typing refuses it, "unknown-name" where no module holds a name that it
    imports, "recursion", "arch" for an unknown architecture, or "compiler" where the compiler failed.
    """

    arch: str
    registers: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    stack_bytes: int = 0
    shared_bytes: int = 0
    constant_bytes: int = 0
    ptx_bytes: int = 0
    cubin_bytes: int = 0
    warps: int = 0
    most_warps: int = 0
    occupancy: float = 0.0
    limited_by: str = ""
    error: str = ""
    error_kind: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceRun:
    """How running a submission on a GPU went.

    ``right`` of ``total`` shapes were right in both passes. ``fault`` is empty, or names what ended
    the run before its last shape ("gpu-illegal-address", "gpu-did-not-finish", ...), and ``detail``
    says it in one line. ``simulated`` says that numba's simulator stood in for the GPU.
    """

    device: str
    right: int
    total: int
    sandboxed: bool
    capability: tuple[int, int] = (0, 0)
    versions: Mapping[str, str] | None = None
    fault: str = ""
    detail: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One launch shape that the machine and the GPU judge differently.

    ``machine_wrong`` and ``gpu_wrong`` count wrong elements of ``elements`` (None: that side has no
    result, and ``ended_by`` names the finding or fault that ended it). ``first`` is the first element
    that one side has right and the other wrong, with the two values and the expected one.
    ``explained_by`` names the machine's finding that makes the kernel's result a matter of luck (a
    race, say), empty where nothing explains the difference.
    """

    family: str
    dims: Mapping[str, int]
    shown: bool
    inputs: Literal["exact", "float"]
    machine_wrong: int | None
    gpu_wrong: int | None
    elements: int
    array: str = ""
    first: tuple[int, ...] = ()
    machine_value: float | None = None
    gpu_value: float | None = None
    expected: float | None = None
    explained_by: str = ""
    ended_by: str = ""

    @property
    def explained(self) -> bool:
        """Whether a hazard that the machine found explains the difference."""
        return bool(self.explained_by)
