"""How many blocks and warps an SM holds at once, and which resource stops it from holding more.

The rules are those of the makers' occupancy calculators: registers are handed out per warp and
shared memory per block, each rounded up to the device's allocation unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from grader.perf.devices import Device

Resource = Literal["threads", "registers", "shared-memory", "block-slots"]
ObstacleName = Literal["block-too-large", "shared-memory-too-large", "too-many-registers", "no-matrix-units"]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a kernel cannot run on a device: the amount it wants and the limit it meets."""

    name: ObstacleName
    wanted: int = 0
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks and warps resident on one SM. ``limited_by`` names the scarcest resources, all that tie."""

    blocks_per_sm: int
    warps_per_sm: int
    max_warps_per_sm: int
    limited_by: tuple[Resource, ...]

    @property
    def fraction(self) -> float:
        """Resident warps over the most the SM can hold, 0 to 1."""
        return self.warps_per_sm / self.max_warps_per_sm


def occupancy(
    device: Device, threads_per_block: int, registers_per_thread: int, shared_bytes_per_block: int
) -> Occupancy:
    """Occupancy of a launch with plenty of blocks. No block where it cannot launch at all."""
    warps = -(-threads_per_block // device.warp_width)
    blocks: dict[Resource, int] = {
        "threads": device.max_warps_per_sm // warps,
        "registers": _blocks_by_registers(device, threads_per_block, registers_per_thread),
        "shared-memory": _blocks_by_shared(device, shared_bytes_per_block),
        "block-slots": device.max_blocks_per_sm,
    }
    least = min(blocks.values())
    if launch_obstacles(device, threads_per_block, registers_per_thread, shared_bytes_per_block):
        least = 0
    limited_by = tuple(resource for resource, count in blocks.items() if count <= least)
    return Occupancy(least, least * warps, device.max_warps_per_sm, limited_by)


def launch_obstacles(
    device: Device, threads_per_block: int, registers_per_thread: int, shared_bytes_per_block: int
) -> tuple[Obstacle, ...]:
    """What stops a block from launching, if anything. Dynamic shared memory counts as allowed.

    More registers per thread than the device has is no obstacle: the compiler then spills.
    """
    wants: tuple[tuple[ObstacleName, int, int], ...] = (
        ("block-too-large", threads_per_block, device.max_threads_per_block),
        ("shared-memory-too-large", shared_bytes_per_block, device.shared_bytes_per_block_optin),
        (
            "too-many-registers",
            _registers_of_block(device, threads_per_block, registers_per_thread),
            device.registers_per_sm,
        ),
    )
    return tuple(Obstacle(name, wanted, limit) for name, wanted, limit in wants if wanted > limit)


def _registers_of_block(device: Device, threads_per_block: int, registers_per_thread: int) -> int:
    per_thread = min(registers_per_thread, device.max_registers_per_thread)
    per_warp = _round_up(per_thread * device.warp_width, device.register_allocation_unit)
    return per_warp * -(-threads_per_block // device.warp_width)


def _blocks_by_registers(device: Device, threads_per_block: int, registers_per_thread: int) -> int:
    used = _registers_of_block(device, threads_per_block, registers_per_thread)
    return device.registers_per_sm // used if used else device.max_blocks_per_sm


def _blocks_by_shared(device: Device, shared_bytes_per_block: int) -> int:
    used = shared_bytes_per_block + device.shared_bytes_reserved_per_block
    if used == 0:
        return device.max_blocks_per_sm
    return device.shared_bytes_per_sm // _round_up(used, device.shared_allocation_unit)


def _round_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit
