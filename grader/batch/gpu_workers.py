"""Grading on GPUs: one worker for each device, which is the only one that it sees."""

from __future__ import annotations

from collections.abc import Mapping

from grader.batch.assignment import Limits
from grader.batch.problems import BatchError

__all__ = ["GPU_SECONDS", "confine_files", "device_environments", "gpu_limits"]

#: Wall time of a grading at least: compilation, the suite, and a timing that may wait for another's.
GPU_SECONDS = 1200.0
#: Bytes that a worker may write to a file: what goes to a child, arrays and margins, lies in one.
LARGEST_FILE = 1024 * 1024 * 1024


def device_environments(workers: int | None = None) -> tuple[Mapping[str, str], ...]:
    """The environment of each worker: as many as there are devices, or as were asked for and no more.

    Raises
    ------
    BatchError
        There is no GPU that could be used: why.
    """
    from grader.gpu.available import gpu_reason
    from grader.gpu.devices import visible_devices

    reason = gpu_reason()
    devices = visible_devices()
    if reason or not devices:
        raise BatchError(f"--backend gpu: {reason or 'the NVIDIA driver names no GPU'}")
    return tuple(
        {"CUDA_VISIBLE_DEVICES": one.selector, "TILEGRADE_WORKER_GPU": "1"} for one in devices[:workers]
    )


def gpu_limits(limits: Limits) -> Limits:
    """The assignment's limits with time for a GPU, whose first launch of a kernel alone takes seconds."""
    return Limits(seconds=max(limits.seconds, GPU_SECONDS), memory_mb=limits.memory_mb)


def confine_files() -> None:
    """Cap what a worker that starts GPU children may write.

    Its memory is not capped: a child inherits the limit and may not raise it, and what CUDA reserves is
    more than any grading needs. A child in a sandbox is under a limit of its own.
    """
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE if hard < 0 else min(LARGEST_FILE, hard), hard))
