"""TLS for real: certificates made here, a scheduler and two workers on loopback that take nothing else."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest
from classes import KEY, answers
from cluster_processes import hand_in_class, running

from grader.batch import cluster as module
from grader.batch.assignment import Limits
from grader.batch.problems import BatchError
from grader.batch.run import Settings, run

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("distributed") is None, reason="the extra cluster is not installed"
    ),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed"),
]


def openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def authority(folder: Path) -> Path:
    """Make a certificate authority in a folder: ca.pem and its key."""
    folder.mkdir()
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *curve, "-subj", "/CN=course", "-days", 2,
            "-keyout", folder / "ca-key.pem", "-out", folder / "ca.pem")  # fmt: skip
    return folder


def certificate(folder: Path, who: str) -> None:
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-new", *curve, "-subj", f"/CN={who}",
            "-keyout", folder / f"{who}-key.pem", "-out", folder / f"{who}.csr")  # fmt: skip
    signer = ("-CA", folder / "ca.pem", "-CAkey", folder / "ca-key.pem", "-CAcreateserial")
    openssl("x509", "-req", "-in", folder / f"{who}.csr", "-days", 2, *signer, "-out", folder / f"{who}.pem")


def options(folder: Path, who: str) -> list[str]:
    """Give the words of docs/cluster.md for a scheduler or a worker."""
    files = {"ca-file": "ca.pem", "cert": f"{who}.pem", "key": f"{who}-key.pem"}
    return [word for name, file in files.items() for word in (f"--tls-{name}", str(folder / file))]


def presented(monkeypatch: pytest.MonkeyPatch, folder: Path, who: str) -> None:
    monkeypatch.setenv("TILEGRADE_TLS_CA", str(folder / "ca.pem"))
    monkeypatch.setenv("TILEGRADE_TLS_CERT", str(folder / f"{who}.pem"))
    monkeypatch.setenv("TILEGRADE_TLS_KEY", str(folder / f"{who}-key.pem"))


def test_a_batch_over_tls_writes_the_bytes_of_one_machine_and_no_stranger_gets_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = authority(tmp_path / "course")
    for who in ("scheduler", "worker", "me"):
        certificate(course, who)
    stranger = authority(tmp_path / "stranger")
    certificate(stranger, "me")
    submissions = hand_in_class(tmp_path / "in", 3)
    run(Settings(submissions, tmp_path / "here", workers=2, private_key=KEY, quiet=True))
    log = tmp_path / "cluster.log"
    with running(
        log, scheme="tls", scheduler=options(course, "scheduler"), workers=options(course, "worker")
    ) as (address, _):
        presented(monkeypatch, course, "me")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = run(
                Settings(
                    submissions, tmp_path / "there", workers=2, private_key=KEY, cluster=address, quiet=True
                )
            )
        assert result.graded == 6
        assert answers(tmp_path / "there") == answers(tmp_path / "here")
        monkeypatch.setattr(module, "START_SECONDS", 3)
        # Another authority's certificate, and no TLS at all: nobody answers either.
        presented(monkeypatch, stranger, "me")
        for refused in (address, address.replace("tls", "tcp")):
            with (
                pytest.raises(BatchError, match="no scheduler answers"),
                module.open_cluster(refused, 1, Limits()),
            ):
                pass
    assert KEY not in log.read_bytes()
