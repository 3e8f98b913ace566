"""The command that puts a child into a sandbox: namespaces, binds, a user without rights, limits.

Bubblewrap gives it namespaces of its own and the few read-only folders that Python needs. Started by
root, bubblewrap keeps root's capabilities inside, with which a child remounts what it likes; so there
``setpriv`` drops them all, inside. Started by anybody else, a user namespace does the same.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from grader.gpu import landlock

__all__ = ["ENVIRONMENT", "Device", "Limits", "Sandbox"]

_NOBODY = "65534"
#: Users up to 61183 from here on are given to nobody (systemd's table of users and groups).
_FIRST_USER = 60578
_USERS_EACH = 8
_children = itertools.count()


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one child: seconds of wall and processor time, memory, threads, open files.

    ``memory`` says what of it is bounded: the address space, or where that cannot be, since CUDA reserves
    more of it than any machine has, the private writable memory alone (RLIMIT_DATA).
    """

    seconds: float = 30.0
    memory_mb: int = 4096
    threads: int = 2048
    files: int = 64
    memory: Literal["address space", "data"] = "address space"


@dataclass(frozen=True, slots=True)
class Device:
    """What a child needs of a GPU: its device files, folders to read, variables of the environment."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The programs that make the sandbox, as paths.

    ``landlocked``: the child also gives up, by Landlock, what the binds leave it and it does not need.
    """

    bwrap: str
    setpriv: str
    prlimit: str
    as_root: bool
    landlocked: bool = True

    def command(
        self,
        script: Path,
        packages: Mapping[str, Path],
        limits: Limits,
        seccomp_fd: int | None,
        device: Device | None = None,
    ) -> list[str]:
        """Give the command that runs a script with Python and nothing else of ours in reach."""
        words = [self.bwrap, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        words += [
            "--die-with-parent",
            "--new-session",
            "--clearenv",
            "--hostname",
            "child",
            "--cap-drop",
            "ALL",
        ]
        if self.as_root:
            # setpriv needs these three to become nobody; it gives them up with all others.
            for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
                words += ["--cap-add", capability]
        else:
            words = [self.setpriv, "--no-new-privs", *words, "--unshare-user", "--disable-userns"]
        words += _system_binds()
        words += _bind(Path(sys.base_prefix))
        folders = {str(folder) for name in packages for folder in PurePosixPath(name).parents} - {"."}
        for folder in ("/packages", *(f"/packages/{name}" for name in sorted(folders))):
            words += ["--perms", "0755", "--dir", folder]
        for name, path in packages.items():
            words += ["--ro-bind", str(path), f"/packages/{name}"]
        words += ["--ro-bind", str(script), "/child.py", "--proc", "/proc", "--dev", "/dev"]
        words += ["--ro-bind", landlock.__file__, _LANDLOCK]
        words += ["--perms", "1777", "--size", str(16 * 2**20), "--tmpfs", _SCRATCH, "--chdir", _SCRATCH]
        device = device or Device()
        for name in device.files:
            words += ["--dev-bind", name, name]
        for name in device.folders:
            words += _bind(Path(name))
        for name, value in {**ENVIRONMENT, **device.environment}.items():
            words += ["--setenv", name, value]
        if seccomp_fd is not None:
            words += ["--seccomp", str(seccomp_fd)]
        words.append("--")
        if self.as_root:
            words += [
                self.setpriv,
                "--reuid",
                str(_user()),
                "--regid",
                _NOBODY,
                "--clear-groups",
                "--no-new-privs",
            ]
            words += ["--bounding-set=-all", "--inh-caps=-all"]
        bounded = "as" if limits.memory == "address space" else "data"
        words += [self.prlimit, f"--{bounded}={_allowed(limits)}", f"--cpu={int(limits.seconds) + 1}"]
        words += ["--fsize=16777216", "--core=0", f"--nofile={limits.files}", f"--nproc={limits.threads}"]
        words.append("--")
        words += [_interpreter(), "-I", "-S", "-B"]
        return [*words, *(_confinement(device) if self.landlocked else []), "/child.py", "/packages"]


def _allowed(limits: Limits) -> int:
    """Bytes of memory for a child: no process can give one more than it may have itself."""
    # Only where there is a sandbox, and so on Linux, is this module there.
    import resource

    kind = resource.RLIMIT_AS if limits.memory == "address space" else resource.RLIMIT_DATA
    _, most = resource.getrlimit(kind)
    wanted = limits.memory_mb * 2**20
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most)


def _user() -> int:
    """A user whom nobody is, and who differs from worker to worker and child to child.

    Processes are counted for each user. With one for all, a child that starts as many as it may takes
    them from the children beside it, and, as long as the kernel is busy ending them, from the next one.
    """
    return _FIRST_USER + os.getpid() % 75 * _USERS_EACH + next(_children) % _USERS_EACH


def _confinement(device: Device) -> list[str]:
    """Give landlock.py's place and arguments: files to read, devices to use, the folder to write in."""
    system = ["/usr", *_SYSTEM_FOLDERS, "/etc/ld.so.cache", "/packages", "/child.py", "/proc"]
    read = [*system, str(Path(sys.base_prefix)), *device.folders]
    # CUDA names its threads by writing to /proc/self/task/*/comm, and does not start where it may not.
    use = ["/dev", *device.files, *(["/proc"] if device.files else [])]
    return [_LANDLOCK, "\n".join(read), "\n".join(use), _SCRATCH]


_LANDLOCK = "/landlock.py"
_SYSTEM_FOLDERS = ("/lib", "/lib64", "/lib32", "/bin", "/sbin")
_SCRATCH = "/tmp"  # noqa: S108 - the child's own, made for it and gone with it
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": _SCRATCH,
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "NUMBA_CACHE_DIR": _SCRATCH,
}


def _system_binds() -> list[str]:
    """The system's libraries, read-only; /etc has nothing that a kernel needs, and names its users."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    if Path("/etc/ld.so.cache").is_file():
        words += ["--perms", "0755", "--dir", "/etc", "--ro-bind", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    return words


def _bind(path: Path) -> list[str]:
    """Bind a folder at its own place, its parents made anew: one of mode 0700 would shut the child out."""
    if path.is_relative_to("/usr"):
        return []
    words: list[str] = []
    for parent in list(path.parents)[-2::-1]:
        words += ["--perms", "0755", "--dir", str(parent)]
    return [*words, "--ro-bind", str(path), str(path)]


def _interpreter() -> str:
    return str(Path(sys.executable).resolve())
