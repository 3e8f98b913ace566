"""What is asked of a GPU child and what comes back: launches, deadlines, faults, results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["FATAL", "FAULTS", "Deadlines", "Fault", "Launch", "Result", "Session"]

#: What a child may say, and what the parent finds out by itself.
FAULTS = frozenset(
    {
        *("gpu-compile-error", "gpu-launch-refused", "gpu-illegal-address", "gpu-kernel-aborted"),
        *("gpu-did-not-finish", "gpu-out-of-memory", "gpu-child-lost"),
    }
)
#: Faults after which nothing more can be launched in that child.
FATAL = FAULTS - {"gpu-launch-refused", "gpu-out-of-memory"}


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds of wall time: to get the GPU, to compile the kernel, for one launch, for all of it."""

    start: float = 60.0
    build: float = 60.0
    launch: float = 10.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: grid and block (x first), bytes of dynamic shared memory, arguments by name, in order."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Mapping[str, Any]
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a launch has no result: one of ``FAULTS``, its text, the line of the submission it speaks of."""

    name: str
    detail: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One launch's end. ``after`` holds every argument, scalars as they were.

    ``launched`` is False where an earlier launch's fatal fault, which this one repeats, left it undone.
    ``overwritten`` names arrays whose margin was written to, with the distance in bytes of the nearest
    changed byte from the array: negative before it, positive after it.
    """

    after: Mapping[str, Any] | None = None
    fault: Fault | None = None
    overwritten: Mapping[str, int] = field(default_factory=dict)
    launched: bool = True


@dataclass(frozen=True, slots=True)
class Session:
    """What one child did. ``results`` has one for each launch; those after a fatal fault carry that fault.

    ``figures`` are the driver's of the compiled kernel: "regs_per_thread" and the like.
    """

    results: tuple[Result, ...]
    device: str = ""
    capability: tuple[int, int] = (0, 0)
    versions: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, int] = field(default_factory=dict)

    @property
    def fault(self) -> Fault | None:
        """The first fatal fault."""
        found = (one.fault for one in self.results if one.fault is not None)
        return next((fault for fault in found if fault.name in FATAL), None)
