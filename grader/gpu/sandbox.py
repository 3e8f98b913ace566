"""A child in a sandbox: no network, no files but its own, no privileges, bounded in everything.

Namespaces, binds and limits are those of :mod:`grader.gpu.confinement`. Seccomp refuses new processes,
sockets and the rest of what no kernel needs; Landlock, where the kernel has it, refuses every file but
those that the child is meant to read.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from grader.gpu import seccomp
from grader.gpu.confinement import ENVIRONMENT, Device, Limits, Sandbox
from grader.gpu.scratch import scratch_folder

__all__ = ["Device", "Limits", "Ran", "Sandbox", "find_sandbox", "run_child", "started"]

#: A sandbox that does not hold is none: this child looks for what it must not have.
_TRIAL = Path(__file__).resolve().with_name("trial_child.py")
_BARE = Path(__file__).resolve().with_name("bare_child.py")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a child ended. ``output`` is complete only where ``problem`` is empty."""

    output: bytes
    problem: str = ""


@cache
def find_sandbox() -> Sandbox | None:
    """Give the sandbox of this machine, tried out, or None where none holds."""
    found = {name: shutil.which(name) for name in ("bwrap", "setpriv", "prlimit")}
    if sys.platform != "linux" or not all(found.values()):
        return None
    as_root = os.geteuid() == 0
    sandbox = Sandbox(str(found["bwrap"]), str(found["setpriv"]), str(found["prlimit"]), as_root)
    ran = run_child(sandbox, _TRIAL, {}, b"", 2, Limits(seconds=20))
    return sandbox if ran.output == b"ok" and not ran.problem else None


def run_child(
    sandbox: Sandbox | None,
    script: Path,
    packages: dict[str, Path],
    request: bytes,
    length: int,
    limits: Limits | None = None,
    device: Device | None = None,
) -> Ran:
    """Run a script on a request; take exactly ``length`` bytes of it. ``sandbox`` None: run it bare."""
    limits = limits or Limits()
    with started(sandbox, script, packages, request, limits, device=device) as child:
        return _collect(child, length, time.monotonic() + limits.seconds)


@contextlib.contextmanager
def started(
    sandbox: Sandbox | None,
    script: Path,
    packages: Mapping[str, Path],
    request: bytes,
    limits: Limits,
    *,
    device: Device | None = None,
    errors: IO[bytes] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a script on a request, its output a pipe, and end it with all its kin when the block is left.

    ``errors`` is a file for what it says on standard error, which else goes nowhere.
    """
    with (
        tempfile.TemporaryFile() as feed,
        tempfile.TemporaryFile() as rules,
        scratch_folder() if sandbox is None else contextlib.nullcontext() as own,
    ):
        feed.write(request)
        feed.seek(0)
        uses_gpu = device is not None and bool(device.files)
        filter_ = seccomp.program(sockets=uses_gpu) if sandbox is not None else None
        if filter_ is not None:
            rules.write(filter_)
            rules.seek(0)
        passed = (rules.fileno(),) if filter_ is not None else ()
        if sandbox is not None:
            words = sandbox.command(script, packages, limits, rules.fileno() if passed else None, device)
            environment = {}
        else:
            words = [sys.executable, "-B", str(_BARE), str(os.getpid()), str(script)]
            environment = _bare_environment(device, str(own))
        child = subprocess.Popen(  # noqa: S603 - our own words
            words,
            stdin=feed,
            stdout=subprocess.PIPE,
            stderr=errors if errors is not None else subprocess.DEVNULL,
            pass_fds=passed,
            start_new_session=True,
            env=environment,
        )
        try:
            yield child
        finally:
            _end(child)


def _bare_environment(device: Device | None, own: str) -> dict[str, str]:
    """That of a child without a sandbox; where it uses a GPU it finds packages and CUDA as we do.

    ``own`` is its folder for files, which goes when it ends.
    """
    kept = ("PATH",) if device is None else ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "CUDA_HOME")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    given = device.environment if device is not None else {}
    places = dict.fromkeys(("HOME", "TMPDIR", "NUMBA_CACHE_DIR"), own)
    return {**ENVIRONMENT, "PATH": "", **places, **given, **found}


def _collect(child: subprocess.Popen[bytes], length: int, deadline: float) -> Ran:
    """Read until the length, the end or the deadline, whichever is first."""
    assert child.stdout is not None
    out = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while len(out) <= length:
            left = deadline - time.monotonic()
            if left <= 0:
                return Ran(bytes(out[:length]), "it did not finish in time")
            if not selector.select(left):
                continue
            chunk = os.read(child.stdout.fileno(), length + 1 - len(out))
            if not chunk:
                break
            out += chunk
    if len(out) > length:
        return Ran(bytes(out[:length]), "it sent more than the results")
    if len(out) < length:
        return Ran(bytes(out), "it ended without all results")
    return Ran(bytes(out))


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()
