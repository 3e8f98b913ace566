"""What NVIDIA's own tools say of a submission's launches on a GPU, beside the machine's findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Counted", "Sanitized", "SanitizerTool"]

SanitizerTool = Literal["memcheck", "racecheck", "synccheck", "initcheck"]


@dataclass(frozen=True, slots=True)
class Sanitized:
    """One of compute-sanitizer's tools over a few launches.

    ``lines`` are those of the submission that it names, ``first`` is its first message. ``problem`` is
    empty, or says why it has no verdict; then the counts mean nothing.
    """

    tool: SanitizerTool
    errors: int = 0
    warnings: int = 0
    lines: tuple[int, ...] = ()
    first: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """One counter of one launch: the machine's figure, and the hardware's by ncu."""

    name: str
    machine: int
    gpu: int
