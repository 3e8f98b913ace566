"""Devices: the limits a launch must respect and the rates the model divides by.

``device("h100")`` costs well under a millisecond and reads no file, so the machine may call it on
every launch. A course with another GPU describes it in a TOML file with the same keys, see
:mod:`grader.perf.device_file`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Dtype = Literal["float16", "bfloat16", "float32", "float64"]

ELEMENT_BYTES: Mapping[Dtype, int] = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


class DeviceError(ValueError):
    """A device that is not known or not well described; the text is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU. ``sm`` is a streaming multiprocessor, on AMD a compute unit; a warp there is a wavefront.

    Sizes are in bytes, registers are 32-bit, rates per second, ``*_flops`` in flop/s. A rate of None
    is one that the device lacks or that its maker has not published. The register allocation unit is
    counted in registers per warp, the shared one in bytes per block.
    """

    name: str
    title: str
    vendor: str
    architecture: str
    warp_width: int
    shared_banks: int
    bank_bytes: int
    sector_bytes: int
    max_threads_per_block: int
    max_block_dims: tuple[int, int, int]
    max_grid_dims: tuple[int, int, int]
    max_threads_per_sm: int
    max_blocks_per_sm: int
    shared_bytes_per_block_static: int
    shared_bytes_per_block_optin: int
    shared_bytes_per_sm: int
    shared_allocation_unit: int
    shared_bytes_reserved_per_block: int
    max_registers_per_thread: int
    registers_per_sm: int
    register_allocation_unit: int
    sm_count: int
    clock_hz: float
    fp32_flops_per_clock_per_sm: int
    fp64_flops: float | None
    fp32_flops: float
    fp16_matrix_flops: float | None
    bf16_matrix_flops: float | None
    hbm_bytes_per_second: float
    l2_bytes: int
    l2_bytes_per_clock: int | None
    sources: Mapping[str, str]
    remarks: str

    @property
    def max_warps_per_sm(self) -> int:
        """Warps that can be resident on one SM."""
        return self.max_threads_per_sm // self.warp_width

    @property
    def shared_bytes_per_second(self) -> float:
        """Shared-memory bandwidth of the whole device: every bank of every SM once a clock."""
        return self.sm_count * self.shared_banks * self.bank_bytes * self.clock_hz

    @property
    def l2_bytes_per_second(self) -> float | None:
        """L2 read bandwidth, or None where its maker has not published it."""
        return None if self.l2_bytes_per_clock is None else self.l2_bytes_per_clock * self.clock_hz

    def vector_flops(self, dtype: Dtype) -> float | None:
        """Peak of the ordinary ALUs for sums kept in float32 (float64 for float64 inputs)."""
        return self.fp64_flops if dtype == "float64" else self.fp32_flops

    def matrix_flops(self, dtype: Dtype) -> float | None:
        """Peak of the matrix units (tensor cores) for inputs of ``dtype``, dense; None without them."""
        return {"float16": self.fp16_matrix_flops, "bfloat16": self.bf16_matrix_flops}.get(dtype)


def device_names() -> tuple[str, ...]:
    """Names of the devices described in this package, in their listed order."""
    from grader.perf.device_data import DEVICES

    return tuple(DEVICES)


@cache
def device(name: str) -> Device:
    """The device of that name or alias (case, spaces and underscores do not matter).

    Raises DeviceError with the known names, and the nearest one where there is a near one.
    """
    from grader.perf.device_data import ALIASES, DEVICES, SOURCES

    key = name.strip().lower().replace("_", "-").replace(" ", "-")
    key = ALIASES.get(key, key)
    if key not in DEVICES:
        raise DeviceError(_unknown(name, key, (*DEVICES, *ALIASES)))
    sources = {subject: SOURCES[short] for subject, short in DEVICES[key]["sources"].items()}
    return Device(**DEVICES[key] | {"name": key, "sources": sources})


def _unknown(name: str, key: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    suggestion = f"; did you mean {near[0]}?" if near else ""
    return f"no device named {name!r}{suggestion} (known: {', '.join(device_names())})"
