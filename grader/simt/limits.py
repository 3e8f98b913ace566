"""Limits of a launch: what the device refuses before the kernel starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.perf.devices import Device
from grader.records import Dim3, Fact, Finding, Span
from grader.simt.geometry import Geometry
from grader.simt.machine import Stop


def dim3(value: int | Sequence[int], what: str) -> Dim3:
    """Three extents out of an int or of one to three of them."""
    parts = (value,) if isinstance(value, int | np.integer) else tuple(value)
    if not 1 <= len(parts) <= 3 or any(int(part) != part or part < 1 for part in parts):
        raise ValueError(f"{what} must be one to three whole numbers of at least 1, not {value!r}")
    x, y, z = (*(int(part) for part in parts), 1, 1)[:3]
    return x, y, z


def check_limits(geometry: Geometry, profile: Device, shared_bytes: int) -> None:
    """Refuse a launch that the device would refuse."""
    threads, limit = geometry.threads_per_block, profile.max_threads_per_block
    if threads > limit or any(a > b for a, b in zip(geometry.block, profile.max_block_dims, strict=True)):
        counts = {"threads": threads, "limit": limit}
        facts: dict[str, Fact] = {"block": geometry.block, "device": profile.name}
        raise Stop(Finding("block-too-large", "error", counts=counts, facts=facts))
    if any(a > b for a, b in zip(geometry.grid, profile.max_grid_dims, strict=True)):
        facts = {"grid": geometry.grid, "limit": profile.max_grid_dims, "device": profile.name}
        raise Stop(Finding("grid-too-large", "error", facts=facts))
    check_shared(shared_bytes, profile.shared_bytes_per_block_optin, profile)


def check_shared(size: int, limit: int, profile: Device, place: Span | None = None) -> None:
    """Refuse more shared memory than the device has."""
    if size > limit:
        counts = {"bytes": size, "limit": limit}
        facts = {"device": profile.name}
        raise Stop(Finding("shared-memory-too-large", "error", place, counts=counts, facts=facts))
