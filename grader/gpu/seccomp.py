"""A seccomp filter as bytes: the system calls that a sandboxed child is refused, new processes among them.

Classic BPF over ``struct seccomp_data``; see seccomp(2). Threads stay possible, since the simulator
runs one for each thread of a block.
"""

from __future__ import annotations

import errno
import platform
import struct

__all__ = ["program"]

_LOAD, _EQUAL, _SET, _RETURN, _AT_LEAST = 0x20, 0x15, 0x45, 0x06, 0x35
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X86_64 = 0xC000003E
_X32 = 0x40000000
_CLONE_THREAD = 0x10000

_CLONE, _CLONE3, _SOCKET = 56, 435, 41
# fork, vfork, socket, socketpair, ptrace, mount and its kin, namespaces, keys, modules, kexec, bpf,
# userfaultfd, perf, io_uring, process_vm_*, memfd-free ways to other processes' memory.
_REFUSED = (
    57, 58, 41, 53, 101, 165, 166, 155, 161, 428, 429, 430, 431, 432, 433, 442, 272, 308, 248, 249, 250,
    175, 176, 313, 246, 320, 321, 323, 298, 425, 426, 427, 310, 311, 312, 103, 169, 167, 168, 304, 438, 424,
)  # fmt: skip


def program(*, sockets: bool = False) -> bytes | None:
    """Give the filter for this machine, or None where there is none for it.

    ``sockets`` lets a child make them: CUDA does when it starts and fails where it may not. In a network
    namespace of its own there is nobody to speak to.
    """
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return None
    refuse = _ERRNO | errno.EPERM
    code = [
        _statement(_LOAD, _ARCHITECTURE),
        _jump(_EQUAL, _X86_64, 1, 0),
        _statement(_RETURN, _KILL),
        _statement(_LOAD, _NUMBER),
        # The x32 numbers are a second way to every call.
        _jump(_AT_LEAST, _X32, 0, 1),
        _statement(_RETURN, _KILL),
        # Without clone3 the C library falls back to clone, whose flags can be read.
        _jump(_EQUAL, _CLONE3, 0, 1),
        _statement(_RETURN, _ERRNO | errno.ENOSYS),
        _jump(_EQUAL, _CLONE, 0, 4),
        _statement(_LOAD, _FIRST_ARGUMENT),
        _jump(_SET, _CLONE_THREAD, 0, 1),
        _statement(_RETURN, _ALLOW),
        _statement(_RETURN, refuse),
    ]
    for number in _REFUSED if not sockets else sorted(set(_REFUSED) - {_SOCKET}):
        code += [_jump(_EQUAL, number, 0, 1), _statement(_RETURN, refuse)]
    code.append(_statement(_RETURN, _ALLOW))
    return b"".join(code)


def _statement(code: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, 0, 0, value)


def _jump(code: int, value: int, yes: int, no: int) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)
