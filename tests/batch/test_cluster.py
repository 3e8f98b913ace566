"""A real dask scheduler and two worker processes on loopback: the same bytes, and a worker that dies."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from classes import FILES, KEY, ROOT, answers, hand_in, text

from grader.batch.assignment import Limits
from grader.batch.problems import BatchError
from grader.batch.run import Settings, run

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra cluster is not installed"
)


def start(*words: str, log: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("ab") as sink:
        return subprocess.Popen([sys.executable, "-m", *words], env=environment, stdout=sink, stderr=sink)


def worker(address: str, log: Path) -> subprocess.Popen[bytes]:
    single = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny")
    return start("distributed.cli.dask_worker", address, *single, log=log)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]], Path]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "cluster.log"
    address = f"tcp://127.0.0.1:{port}"
    place = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    processes = [start("distributed.cli.dask_scheduler", *place, log=log)]
    processes += [worker(address, log), worker(address, log)]
    try:
        yield address, processes, log
    finally:
        for process in processes:
            process.kill()
            process.wait()


def hand_in_class(folder: Path, count: int = 6) -> Path:
    for i in range(count):
        for kind in ("solutions", "exercises"):
            hand_in(folder, f"{kind}{i}", FILES[1], f"{text(kind, FILES[1])}\n# {i}\n")
    return folder


def test_a_cluster_writes_the_bytes_of_one_machine_though_a_worker_dies(
    cluster: tuple[str, list[subprocess.Popen[bytes]], Path], tmp_path: Path
) -> None:
    address, processes, log = cluster
    submissions = hand_in_class(tmp_path / "in")
    run(Settings(submissions, tmp_path / "here", workers=2, private_key=KEY, quiet=True))
    import threading

    def kill_one() -> None:
        # As soon as the first gradings are in, so that others are under way.
        deadline = time.monotonic() + 60
        journal = tmp_path / "there" / "journal.sqlite3"
        while time.monotonic() < deadline and not (journal.exists() and journal.stat().st_size):
            time.sleep(0.05)
        time.sleep(1.0)
        processes[1].send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    result = run(
        Settings(submissions, tmp_path / "there", workers=2, private_key=KEY, cluster=address, quiet=True)
    )
    killer.join()
    assert result.graded == 12
    assert answers(tmp_path / "there") == answers(tmp_path / "here")
    assert KEY not in log.read_bytes()


def test_nobody_answers_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.batch import cluster as module

    monkeypatch.setattr(module, "START_SECONDS", 1)
    with (
        pytest.raises(BatchError, match="no scheduler answers"),
        module.open_cluster("tcp://127.0.0.1:9", 1, Limits()),
    ):
        pass


def test_resources_that_nobody_has_are_refused_at_once(
    cluster: tuple[str, list[subprocess.Popen[bytes]], Path],
) -> None:
    from grader.batch.cluster import open_cluster

    connection = open_cluster(cluster[0], 1, Limits(), {"GPU": 1})
    with pytest.raises(BatchError, match="no worker offers GPU=1"), connection:
        pass


@pytest.mark.parametrize(
    ("address", "warns"),
    [
        ("tcp://127.0.0.1:8786", False),
        ("tcp://localhost:8786", False),
        ("tcp://[::1]:8786", False),
        ("tls://grade.example.edu:8786", False),
        ("tcp://10.0.0.5:8786", True),
        ("grade.example.edu:8786", True),
    ],
)
def test_plain_tcp_to_another_machine_is_warned_of(address: str, warns: bool) -> None:
    from grader.batch.cluster import warning_of

    assert (warning_of(address) is not None) == warns


def test_tls_needs_its_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.batch.cluster import open_cluster

    for name in ("TILEGRADE_TLS_CA", "TILEGRADE_TLS_CERT", "TILEGRADE_TLS_KEY"):
        monkeypatch.delenv(name, raising=False)
    with (
        pytest.raises(BatchError, match="set TILEGRADE_TLS_CA"),
        open_cluster("tls://127.0.0.1:1", 1, Limits()),
    ):
        pass


def test_a_payloads_text_says_nothing() -> None:
    from grader.batch.cluster import Sealed

    assert repr(Sealed(b"secret")) == "Sealed(6 bytes)"
