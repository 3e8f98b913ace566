"""SLURM without SLURM: ``sbatch`` and ``scancel`` on PATH that run and end the jobs they are given."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from classes import KEY, ROOT, answers
from cluster_processes import hand_in_class

from grader.batch import cluster
from grader.batch.assignment import Limits
from grader.batch.cluster import open_cluster
from grader.batch.problems import BatchError
from grader.batch.run import Settings, run

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("dask_jobqueue") is None, reason="the extra cluster is not installed"
)

SBATCH = """\
#!/bin/sh
# Takes a job as SLURM does: says its number, and runs it on "another machine".
if [ "$1" = --test-only ]; then
    [ -e "$SLURM_STUB/refuse" ] || exit 0
    echo "sbatch: error: invalid partition specified: gpu" >&2
    exit 1
fi
number=1
until mkdir "$SLURM_STUB/$number" 2>/dev/null; do number=$((number + 1)); done
cp "$1" "$SLURM_STUB/$number.job"
chmod +x "$SLURM_STUB/$number.job"
setsid "$SLURM_STUB/$number.job" >> "$SLURM_STUB/$number.log" 2>&1 < /dev/null &
echo $! > "$SLURM_STUB/$number.pid"
echo "Submitted batch job $number"
"""
SCANCEL = """\
#!/bin/sh
echo "$1" >> "$SLURM_STUB/cancelled"
kill -KILL -- "-$(cat "$SLURM_STUB/$1.pid")" 2>/dev/null
exit 0
"""
# What a site writes into ~/.config/dask/jobqueue.yaml.
CONFIGURED = {
    "jobqueue.slurm.queue": "teaching",
    "jobqueue.slurm.account": "cs101",
    "jobqueue.slurm.job-extra-directives": ["--constraint=avx2"],
    "jobqueue.slurm.scheduler-options": {"host": "127.0.0.1"},
}


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Its defaults have to be there before what a site sets.
    pytest.importorskip("dask_jobqueue")
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, script in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_STUB", str(folder))
    # The jobs run from another folder than this checkout.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return folder


@pytest.fixture(autouse=True)
def warned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the batch warns of, caught where it says it: dask's threads mend warnings filters meanwhile."""
    for name in ("TILEGRADE_TLS_CA", "TILEGRADE_TLS_CERT", "TILEGRADE_TLS_KEY"):
        monkeypatch.delenv(name, raising=False)
    said: list[str] = []
    monkeypatch.setattr(
        cluster, "warnings", SimpleNamespace(warn=lambda message, stacklevel: said.append(message))
    )
    return said


def directives(script: str) -> set[str]:
    return set(re.findall(r"(?m)^#SBATCH (.+)$", script))


def test_a_batch_through_slurm_writes_the_bytes_of_one_machine(
    slurm: Path, tmp_path: Path, warned: list[str]
) -> None:
    import dask

    submissions = hand_in_class(tmp_path / "in", 3)
    run(Settings(submissions, tmp_path / "here", workers=2, private_key=KEY, quiet=True))
    with dask.config.set(CONFIGURED):
        result = run(
            Settings(submissions, tmp_path / "there", workers=2, private_key=KEY, cluster="slurm", quiet=True)
        )
    assert result.graded == 6
    (warning,) = warned
    assert re.search("unencrypted.*set TILEGRADE_TLS_CA", warning)
    assert answers(tmp_path / "there") == answers(tmp_path / "here")
    scripts = sorted(slurm.glob("*.job"))
    assert [path.name for path in scripts] == ["1.job", "2.job"]
    for path in scripts:
        script = path.read_text()
        # One core, the memory of one grading and the worker's own; a job that is put back would grade twice.
        assert {"-n 1", "--cpus-per-task=1", "--mem=5G", "--no-requeue"} <= directives(script)
        assert {"-p teaching", "-A cs101", "--constraint=avx2"} <= directives(script)
        assert re.search(
            rf"{re.escape(sys.executable)} -m distributed\.cli\.dask_worker tcp://127\.0", script
        )
        assert "--nthreads 1" in script
        assert KEY.decode() not in script
    # The batch takes its jobs away with it.
    assert sorted((slurm / "cancelled").read_text().split()) == ["1", "2"]
    deadline = time.monotonic() + 20
    pids = [int(path.read_text()) for path in slurm.glob("*.pid")]
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert KEY not in b"".join(path.read_bytes() for path in slurm.glob("*.log"))


def test_a_gpu_is_asked_for_and_offered(slurm: Path) -> None:
    import dask

    with (
        dask.config.set(CONFIGURED),
        open_cluster("slurm", 1, Limits(memory_mb=8192), {"GPU": 1}) as executor,
    ):
        assert executor is not None
    script = (slurm / "1.job").read_text()
    assert {"--gres=gpu:1", "--mem=9G"} <= directives(script)
    assert '--resources "GPU=1"' in script


def test_what_slurm_refuses_is_one_clear_error(slurm: Path) -> None:
    import dask

    (slurm / "refuse").touch()
    with (
        dask.config.set(CONFIGURED),
        pytest.raises(BatchError, match=r"slurm refuses the job: sbatch: error: invalid partition"),
        open_cluster("slurm", 1, Limits()),
    ):
        pass
    assert not list(slurm.glob("*.job"))


def test_without_sbatch_it_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(BatchError, match="there is no sbatch here"),
        open_cluster("slurm", 1, Limits()),
    ):
        pass
