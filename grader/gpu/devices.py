"""The GPUs that this process may use, by the names that their driver gives them, and one lock for each.

Two timings at once on one device spoil both. So whoever times, in whatever process and for whatever
user, first takes the device's lock; runs that are not timed may overlap.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["DeviceBusyError", "VisibleDevice", "exclusive", "visible_devices"]

_POLL = 0.2
_ASK_THE_DRIVER = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
count, handle = ctypes.c_int(), ctypes.c_int()
name, uuid = ctypes.create_string_buffer(128), (ctypes.c_ubyte * 16)()
status = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
for index in range(0 if status else count.value):
    library.cuDeviceGet(ctypes.byref(handle), index)
    library.cuDeviceGetName(name, 128, handle)
    library.cuDeviceGetUuid_v2(ctypes.byref(uuid), handle)
    print(bytes(uuid).hex(), name.value.decode("utf-8", "replace"))
"""


class DeviceBusyError(Exception):
    """Another timing has the device, and went on having it. ``str()`` is the device's UUID."""


@dataclass(frozen=True, slots=True)
class VisibleDevice:
    """One GPU. ``selector`` is what CUDA_VISIBLE_DEVICES has to say for it to be the only one."""

    uuid: str
    name: str
    selector: str


@cache
def visible_devices() -> tuple[VisibleDevice, ...]:
    """The GPUs that CUDA programs of ours would see, in CUDA's order; none where there is no driver."""
    return devices_of(said_by_driver(_ASK_THE_DRIVER), os.environ.get("CUDA_VISIBLE_DEVICES"))


def said_by_driver(script: str) -> str:
    """What a script of ours prints that starts the CUDA driver; nothing where it fails.

    In a process of its own: a driver that starts here could not be used in a child of ours any more.
    """
    words = [sys.executable, "-I", "-S", "-c", script]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own words
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout


def devices_of(listing: str, visible: str | None) -> tuple[VisibleDevice, ...]:
    """The devices of a listing, a line each: UUID in hexadecimal, a space, the name.

    ``visible`` is CUDA_VISIBLE_DEVICES; where it names as many devices as there are, its own words for
    them are kept, since a slice of a device (MIG) has no other.
    """
    lines = [line.split(" ", 1) for line in listing.splitlines() if re.match(r"[0-9a-f]{32}( |$)", line)]
    chosen = [word.strip() for word in visible.split(",")] if visible else []
    found = []
    for index, words in enumerate(lines):
        raw = words[0]
        uuid = f"GPU-{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"
        selector = chosen[index] if len(chosen) == len(lines) else uuid
        found.append(VisibleDevice(uuid, words[1] if len(words) > 1 else "", selector))
    return tuple(found)


@contextmanager
def exclusive(uuid: str, seconds: float = 900.0, folder: Path | None = None) -> Iterator[None]:
    """Hold a device for timing. Raises ``DeviceBusyError`` where it stays taken for that long."""
    descriptor = _opened((folder or _shared_folder()) / f"tilegrade-timing-{uuid}.lock")
    try:
        deadline = time.monotonic() + seconds
        while not _taken(descriptor):
            if time.monotonic() >= deadline:
                raise DeviceBusyError(uuid)
            time.sleep(_POLL)
        yield
    finally:
        # The lock goes with its descriptor, and with this process however it ends.
        os.close(descriptor)


def _shared_folder() -> Path:
    """A folder that all users of the machine share, whatever TMPDIR says."""
    shared = Path("/tmp")  # noqa: S108 - a lock has to lie where everybody finds it
    return shared if shared.is_dir() else Path(tempfile.gettempdir())


def _opened(path: Path) -> int:
    """Open a lock file that may be another user's: in a sticky folder O_CREAT on such a one is refused."""
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_CREAT, os.O_RDONLY):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return descriptor
            os.close(descriptor)
    raise DeviceBusyError(str(path))


def _taken(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
