"""Schedulers and workers of dask as processes of their own, and a class to grade on them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from classes import FILES, ROOT, hand_in, text


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start(*words: str, log: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("ab") as sink:
        return subprocess.Popen([sys.executable, "-m", *words], env=environment, stdout=sink, stderr=sink)


def worker(address: str, log: Path, extra: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    single = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny")
    return start("distributed.cli.dask_worker", address, *single, *extra, log=log)


@contextmanager
def running(
    log: Path, *, scheme: str = "tcp", scheduler: Sequence[str] = (), workers: Sequence[str] = ()
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers; give the address, and the processes in that order."""
    port = free_port()
    address = f"{scheme}://127.0.0.1:{port}"
    place = ("--host", f"{scheme}://127.0.0.1", "--port", str(port), "--no-dashboard")
    processes = [start("distributed.cli.dask_scheduler", *place, *scheduler, log=log)]
    processes += [worker(address, log, workers), worker(address, log, workers)]
    try:
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def hand_in_class(folder: Path, count: int = 6) -> Path:
    """Hand in ``count`` right and as many unfinished files, all different."""
    for i in range(count):
        for kind in ("solutions", "exercises"):
            hand_in(folder, f"{kind}{i}", FILES[1], f"{text(kind, FILES[1])}\n# {i}\n")
    return folder
