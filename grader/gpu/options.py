"""How a grading uses a GPU: which backend, and what an instructor allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Backend", "Beside", "GpuOptions"]

#: "auto" is the GPU where there is one, else the machine.
Backend = Literal["machine", "gpu", "auto"]


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """Whether a child may run without a sandbox, and whether numba's simulator stands in for the GPU (tests).

    ``timed`` False leaves out the times that a rubric asks for. The seconds are of wall time: until the
    child has the GPU, to compile the kernel, for each launch, and for all of it.
    """

    unsafe_no_sandbox: bool = False
    simulated: bool = False
    timed: bool = True
    start_seconds: float = 60.0
    build_seconds: float = 60.0
    launch_seconds: float = 10.0
    total_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Beside:
    """What else is asked about a kernel: architectures to compile it for, and NVIDIA's tools on a GPU.

    ``toolkit`` names the versions that have to compile it (:attr:`grader.gpu.compile.Compiled.toolkit`),
    empty for any. ``ends`` is when the compiler has to be done, by :func:`time.monotonic`. ``sandbox`` says
    whether it runs in one: "found" where there is one, "required", or "none".
    """

    archs: tuple[str, ...] = ()
    sanitizer: bool = False
    counters: bool = False
    toolkit: str = ""
    ends: float | None = None
    sandbox: Literal["found", "required", "none"] = "found"
