"""GPU architectures by their compiler's names, and the device whose limits stand for each."""

from __future__ import annotations

import re

from grader.perf.devices import Device, device, device_names

__all__ = ["architecture_of", "device_for", "is_architecture"]

_NAME = re.compile(r"sm_(\d{1,2})(\d)[af]?")


def is_architecture(name: str) -> bool:
    """Whether the name is of the form that NVIDIA's compilers take: ``sm_90``, ``sm_90a``."""
    return _NAME.fullmatch(name) is not None


def architecture_of(profile: Device) -> str:
    """The name of a device's architecture, say ``sm_90``; empty for one that is not NVIDIA's."""
    found = re.search(r"compute capability (\d+)\.(\d)", profile.architecture)
    return f"sm_{found[1]}{found[2]}" if found else ""


def device_for(architecture: str) -> Device | None:
    """A described device of that architecture, whose limits per multiprocessor hold for all of it."""
    plain = architecture.rstrip("af")
    profiles = (device(name) for name in device_names())
    return next((profile for profile in profiles if plain and architecture_of(profile) == plain), None)
