from __future__ import annotations

import pytest

from grader.perf.devices import device
from grader.perf.occupancy import launch_obstacles, occupancy

H100 = device("h100")


@pytest.mark.parametrize(
    ("name", "threads", "registers", "shared", "blocks", "fraction", "limited_by"),
    [
        # By hand from the makers' rules.
        ("h100", 1024, 32, 8192, 2, 1.0, ("threads", "registers")),
        ("h100", 256, 32, 2048, 8, 1.0, ("threads", "registers")),
        ("h100", 1024, 33, 8192, 1, 0.5, ("registers",)),
        ("h100", 256, 110, 8192, 2, 0.25, ("registers",)),
        ("h100", 256, 55, 4096, 4, 0.5, ("registers",)),
        ("h100", 32, 16, 0, 32, 0.5, ("block-slots",)),
        ("h100", 256, 32, 51200, 4, 0.5, ("shared-memory",)),
        ("h100", 256, 32, 232448, 1, 0.125, ("shared-memory",)),
        ("t4", 1024, 32, 8192, 1, 1.0, ("threads",)),
        ("rtx4090", 1024, 32, 8192, 1, 2 / 3, ("threads",)),
        ("mi300x", 256, 128, 16384, 4, 0.5, ("registers", "shared-memory")),
        ("mi300x", 64, 32, 0, 16, 0.5, ("block-slots",)),
    ],
)
def test_blocks_on_an_sm(
    name: str,
    threads: int,
    registers: int,
    shared: int,
    blocks: int,
    fraction: float,
    limited_by: tuple[str, ...],
) -> None:
    found = occupancy(device(name), threads, registers, shared)
    assert found.blocks_per_sm == blocks
    assert found.fraction == pytest.approx(fraction)
    assert set(limited_by) <= set(found.limited_by)


def test_part_of_a_warp_takes_a_whole_one() -> None:
    assert occupancy(H100, 33, 32, 0).warps_per_sm == occupancy(H100, 64, 32, 0).warps_per_sm


def test_the_reserved_kilobyte_counts() -> None:
    # Three blocks of 76 KiB would fill 228 KiB but for the kilobyte that each block is charged.
    assert occupancy(H100, 64, 32, 76 * 1024).blocks_per_sm == 2
    assert occupancy(H100, 64, 32, 75 * 1024).blocks_per_sm == 3


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "names"),
    [
        (1024, 64, 232448, []),
        (1025, 32, 0, ["block-too-large"]),
        (256, 32, 232449, ["shared-memory-too-large"]),
        (1024, 65, 0, ["too-many-registers"]),
        (256, 400, 0, []),
    ],
)
def test_what_stops_a_launch(threads: int, registers: int, shared: int, names: list[str]) -> None:
    assert [obstacle.name for obstacle in launch_obstacles(H100, threads, registers, shared)] == names


def test_no_block_is_resident_where_it_cannot_launch() -> None:
    assert occupancy(H100, 2000, 32, 0).blocks_per_sm == 0
