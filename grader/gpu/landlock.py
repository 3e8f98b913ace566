"""Landlock: a process gives up all files but those it names, for good. See landlock(7).

Run as a script in the sandbox, before the child's own: ``landlock.py READ DEVICES WRITE SCRIPT ...``, the
first three being paths with newlines between them. It imports nothing of ours, since nothing of ours is
there, and needs no privileges but no_new_privs, which is set. A kernel without Landlock is no error; one
that has it and refuses is.
"""

from __future__ import annotations

import ctypes
import errno
import os
import runpy
import struct
import sys
from collections.abc import Iterable

__all__ = ["abi", "restrict"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEVICE = 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
#: What makes, removes and moves files and folders; executing a program is granted nowhere.
_CHANGES = sum(1 << bit for bit in range(4, 14))
#: Rights that a path to a file, not a folder, can have.
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
#: The rights that each version of the interface knows: the first has 13, later ones one more here and there.
_KNOWN = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP, _SCOPES = 0b11, 0b11


def abi() -> int:
    """Give the version of Landlock that the kernel has; 0 where it has none."""
    try:
        return _call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError as error:
        # Under a container's own filter the call is as good as absent.
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def restrict(read: Iterable[str], devices: Iterable[str], write: Iterable[str]) -> int:
    """Confine this thread and what it starts; give the version used, 0 where the kernel has none.

    ``read``: files and folders to read. ``devices``: those to read, write and control. ``write``: folders
    in which all may be done but execute. A path that does not exist is left out. TCP, signals to others
    and abstract sockets go too, where the version knows them.

    Raises
    ------
    OSError
        The kernel has Landlock and refuses.
    """
    version = abi()
    if not version:
        return 0
    known = _KNOWN[min(version, max(_KNOWN))]
    attributes = [known, *([_TCP] if version >= 4 else []), *([_SCOPES] if version >= 6 else [])]
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    ruleset = _call(_CREATE_RULESET, packed, len(packed), 0)
    granted = (
        (read, _READ_FILE | _READ_DIR),
        (devices, _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE),
        (write, _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE | _CHANGES),
    )
    for paths, rights in granted:
        for path in paths:
            _allow(ruleset, path, rights & known)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return version


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rights &= ~0 if os.path.isdir(path) else _OF_FILES  # noqa: PTH112 - pathlib takes longer than the rest
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def main() -> None:
    """Confine this process, then be the script."""
    read, devices, write = (word.splitlines() for word in sys.argv[1:4])
    restrict(read, devices, write)
    sys.argv[:4] = []
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
