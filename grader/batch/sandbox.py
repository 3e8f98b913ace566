"""A child in a sandbox: no network, no files but its own, no privileges, bounded in everything.

Bubblewrap gives it namespaces of its own and the few read-only folders that Python needs. Started by
root, bubblewrap keeps root's capabilities inside, with which a child remounts what it likes; so there
``setpriv`` drops them all, inside. Started by anybody else, a user namespace does the same. Seccomp
refuses new processes, sockets and the rest of what no kernel needs.
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
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.batch import seccomp

__all__ = ["Limits", "Ran", "Sandbox", "find_sandbox", "run_child"]

_NOBODY = "65534"


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one child: seconds of wall and processor time, bytes of address space, threads."""

    seconds: float = 30.0
    memory_mb: int = 4096
    threads: int = 2048


@dataclass(frozen=True, slots=True)
class Ran:
    """How a child ended. ``output`` is complete only where ``problem`` is empty."""

    output: bytes
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The programs that make the sandbox, as paths."""

    bwrap: str
    setpriv: str
    prlimit: str
    as_root: bool

    def command(
        self, script: Path, packages: dict[str, Path], limits: Limits, seccomp_fd: int | None
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
        words += ["--perms", "0755", "--dir", "/packages"]
        for name, path in packages.items():
            words += ["--ro-bind", str(path), f"/packages/{name}"]
        words += ["--ro-bind", str(script), "/child.py", "--proc", "/proc", "--dev", "/dev"]
        words += ["--size", str(16 * 2**20), "--tmpfs", _SCRATCH, "--chdir", _SCRATCH]
        for name, value in _ENVIRONMENT.items():
            words += ["--setenv", name, value]
        if seccomp_fd is not None:
            words += ["--seccomp", str(seccomp_fd)]
        words.append("--")
        if self.as_root:
            words += [
                self.setpriv,
                "--reuid",
                _NOBODY,
                "--regid",
                _NOBODY,
                "--clear-groups",
                "--no-new-privs",
            ]
            words += ["--bounding-set=-all", "--inh-caps=-all"]
        words += [self.prlimit, f"--as={limits.memory_mb * 2**20}", f"--cpu={int(limits.seconds) + 1}"]
        words += ["--fsize=16777216", "--core=0", "--nofile=64", f"--nproc={limits.threads}", "--"]
        return [*words, _interpreter(), "-I", "-S", "-B", "/child.py", "/packages"]


_SCRATCH = "/tmp"  # noqa: S108 - the child's own, made for it and gone with it
_ENVIRONMENT = {
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
    for name in ("/lib", "/lib64", "/lib32", "/bin", "/sbin"):
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


@cache
def find_sandbox() -> Sandbox | None:
    """Give the sandbox of this machine, tried out, or None where none holds."""
    found = {name: shutil.which(name) for name in ("bwrap", "setpriv", "prlimit")}
    if sys.platform != "linux" or not all(found.values()):
        return None
    as_root = os.geteuid() == 0
    sandbox = Sandbox(str(found["bwrap"]), str(found["setpriv"]), str(found["prlimit"]), as_root)
    with tempfile.TemporaryDirectory(prefix="tilegrade-") as folder:
        script = Path(folder) / "child.py"
        script.write_text(_TRIAL, encoding="utf-8")
        script.chmod(0o644)
        Path(folder).chmod(0o755)
        ran = run_child(sandbox, script, {}, b"", 2, Limits(seconds=20))
    return sandbox if ran.output == b"ok" and not ran.problem else None


# A sandbox that does not hold is none: the child looks for what it must not have.
_TRIAL = """
import os, sys
caps = [line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapEff", "CapBnd"))]
held = os.getuid() != 0 and all(int(cap, 16) == 0 for cap in caps[:1]) and not os.path.exists("/etc/passwd")
sys.stdout.write("ok" if held else "no")
"""


def run_child(
    sandbox: Sandbox | None,
    script: Path,
    packages: dict[str, Path],
    request: bytes,
    length: int,
    limits: Limits | None = None,
) -> Ran:
    """Run a script on a request; take exactly ``length`` bytes of it. ``sandbox`` None: run it bare."""
    limits = limits or Limits()
    with tempfile.TemporaryFile() as feed, tempfile.TemporaryFile() as rules:
        feed.write(request)
        feed.seek(0)
        filter_ = seccomp.program() if sandbox is not None else None
        if filter_ is not None:
            rules.write(filter_)
            rules.seek(0)
        passed = (rules.fileno(),) if filter_ is not None else ()
        if sandbox is not None:
            words = sandbox.command(script, packages, limits, rules.fileno() if passed else None)
        else:
            words = [sys.executable, "-B", str(script)]
        child = subprocess.Popen(  # noqa: S603 - our own words
            words,
            stdin=feed,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=passed,
            start_new_session=True,
            env={} if sandbox is not None else {**_ENVIRONMENT, "PATH": os.environ.get("PATH", "")},
        )
        try:
            return _collect(child, length, time.monotonic() + limits.seconds)
        finally:
            _end(child)


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
