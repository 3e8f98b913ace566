"""Limits on a worker process, set by itself before it grades anything."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys

__all__ = ["confine", "grant_seconds"]

LARGEST_FILE = 16 * 1024 * 1024
_PR_SET_PDEATHSIG = 1


def confine(memory_mb: int, *, inherited: bool = True) -> None:
    """Cap memory and file size, forbid core dumps, and tie the worker's life to its parent's.

    ``inherited`` False leaves memory and files to who knows what the worker's children need.
    Where the system has no such limits (Windows), the parent's wall clock is the one that is left.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        import resource
    except ImportError:
        return
    if inherited:
        _lower(resource.RLIMIT_AS, memory_mb * 2**20)
        _lower(resource.RLIMIT_FSIZE, LARGEST_FILE)
    _lower(resource.RLIMIT_CORE, 0)


def forbid_processes() -> None:
    """Let the worker start no further process or thread; for after its libraries have started theirs."""
    try:
        import resource
    except ImportError:
        return
    _lower(resource.RLIMIT_NPROC, 0)


def grant_seconds(seconds: float) -> None:
    """Allow this many further seconds of processor time; past them the worker is ended."""
    try:
        import resource
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = usage.ru_utime + usage.ru_stime
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(spent + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))


def _lower(kind: int, value: int) -> None:
    import resource

    _, hard = resource.getrlimit(kind)
    wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (wanted, wanted))
