"""Architectures by their compilers' names."""

from __future__ import annotations

import pytest

from grader.perf.architectures import architecture_of, device_for, is_architecture
from grader.perf.devices import device


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        ("t4", "sm_75"),
        ("a100", "sm_80"),
        ("rtx4090", "sm_89"),
        ("h100", "sm_90"),
        ("h200", "sm_90"),
        ("mi300x", ""),
    ],
)
def test_of_a_device(name: str, arch: str) -> None:
    assert architecture_of(device(name)) == arch


@pytest.mark.parametrize(
    ("arch", "warps", "blocks"),
    [("sm_75", 32, 16), ("sm_80", 64, 32), ("sm_89", 48, 24), ("sm_90", 64, 32), ("sm_90a", 64, 32)],
)
def test_limits_of_an_architecture(arch: str, warps: int, blocks: int) -> None:
    found = device_for(arch)
    assert found is not None
    assert (found.max_warps_per_sm, found.max_blocks_per_sm) == (warps, blocks)


@pytest.mark.parametrize("arch", ["sm_70", "sm_86", "sm_120", ""])
def test_limits_that_are_not_known(arch: str) -> None:
    assert device_for(arch) is None


def test_names() -> None:
    assert all(map(is_architecture, ("sm_75", "sm_90a", "sm_100f", "sm_120")))
    assert not any(map(is_architecture, ("sm_9", "sm_90b", "compute_90", "SM_90", "sm_90 ", "")))
