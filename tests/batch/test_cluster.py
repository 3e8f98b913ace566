"""A real dask scheduler and two worker processes on loopback: the same bytes, and a worker that dies."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from classes import KEY, answers
from click.testing import CliRunner
from cluster_processes import hand_in_class, running

from grader.batch.assignment import Limits
from grader.batch.problems import BatchError
from grader.batch.run import Settings, run
from grader.cli import cli
from grader.gpu.available import gpu_reason
from grader.records import Outcome

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra cluster is not installed"
)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]], Path]]:
    log = tmp_path / "cluster.log"
    with running(log) as (address, processes):
        yield address, processes, log


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


def test_a_batch_on_gpus_needs_a_worker_that_offers_one(
    cluster: tuple[str, list[subprocess.Popen[bytes]], Path], tmp_path: Path
) -> None:
    submissions = hand_in_class(tmp_path / "in", 1)
    with pytest.raises(BatchError, match="no worker offers GPU=1; start one with --resources GPU=1"):
        run(Settings(submissions, tmp_path / "out", cluster=cluster[0], backend="gpu", quiet=True))


@pytest.mark.skipif(not gpu_reason(), reason="there is a GPU here")
def test_a_worker_that_offers_a_gpu_which_it_has_not_is_a_fault_with_its_reason(tmp_path: Path) -> None:
    submissions = hand_in_class(tmp_path / "in", 1)
    with running(tmp_path / "log", workers=("--resources", "GPU=1")) as (address, _):
        result = run(Settings(submissions, tmp_path / "out", cluster=address, backend="gpu", quiet=True))
    assert [grade.report.outcome for grade in result.record.grades] == [Outcome.HARNESS_FAULT] * 2
    for grade in result.record.grades:
        assert grade.final is None
        assert f"did not end in 3 tries: --backend gpu: {gpu_reason()}" in grade.report.reason


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


def test_the_command_line_says_a_warning_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warns(settings: Settings) -> None:
        warnings.warn("tcp://10.0.0.5:8786: anyone can read it", stacklevel=2)
        raise BatchError("nobody answers")

    monkeypatch.setattr("grader.batch.run.run", warns)
    result = CliRunner().invoke(cli, ["batch", str(tmp_path), "--cluster", "tcp://10.0.0.5:8786"])
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "grader: warning: tcp://10.0.0.5:8786: anyone can read it",
        "grader: nobody answers",
    ]


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
