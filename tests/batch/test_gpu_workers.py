"""A batch on GPUs: one worker for each device, which sees no other; what its children may need."""

from __future__ import annotations

import json
from pathlib import Path

import instant
import pytest
from classes import hand_in, text
from click.testing import CliRunner

from grader.batch import BatchError, gpu_workers, prepare, run
from grader.batch.assignment import Limits
from grader.batch.gpu_workers import device_environments, gpu_limits
from grader.batch.pool import WorkerPool
from grader.batch.run import Settings
from grader.batch.task import Task, bundle_of, task_key
from grader.batch.worker import grade_bytes
from grader.cli import cli
from grader.gpu import available, devices
from grader.gpu.available import gpu_reason
from grader.gpu.devices import VisibleDevice

NAME = "02_ragged_dims"


def three_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tuple(VisibleDevice(f"GPU-{i}", "NVIDIA H200", str(i + 4)) for i in range(3))
    monkeypatch.setattr(available, "gpu_reason", lambda: "")
    monkeypatch.setattr(devices, "visible_devices", lambda: found)


def test_there_is_a_worker_for_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    three_devices(monkeypatch)
    assert [one["CUDA_VISIBLE_DEVICES"] for one in device_environments()] == ["4", "5", "6"]
    assert [one["CUDA_VISIBLE_DEVICES"] for one in device_environments(2)] == ["4", "5"]


def test_without_a_gpu_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available, "gpu_reason", lambda: "no NVIDIA driver was found")
    with pytest.raises(BatchError, match="--backend gpu: no NVIDIA driver was found"):
        device_environments()


def test_a_batch_on_a_machine_without_a_gpu_ends_in_a_usage_error(tmp_path: Path) -> None:
    if not gpu_reason():
        pytest.skip("there is a GPU here")
    hand_in(tmp_path / "class", "ada", f"{NAME}.py", text("solutions", f"{NAME}.py"))
    words = ["batch", str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--backend", "gpu", "--quiet"]
    result = CliRunner().invoke(cli, [*words, "--unsafe-no-sandbox"])
    assert result.exit_code == 2
    assert gpu_reason() in result.output
    assert not (tmp_path / "out" / "grades.csv").exists()


def test_a_grading_on_a_gpu_is_another_than_one_without() -> None:
    bundle = bundle_of(NAME)
    assert task_key(Task(bundle, b"x = 1\n")) != task_key(Task(bundle, b"x = 1\n", backend="gpu"))


def test_a_gpu_has_time_for_compilation() -> None:
    assert gpu_limits(Limits(seconds=60, memory_mb=2048)) == Limits(seconds=1200, memory_mb=2048)
    assert gpu_limits(Limits(seconds=5000)).seconds == 5000


def test_each_worker_sees_its_own_device_and_can_give_its_children_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA reserves more address space than there is memory, and a child cannot raise what it inherits."""
    (tmp_path / "telling_worker.py").write_text(
        "import json, os, resource, time\n"
        "from grader.batch.worker import serve\n"
        "def tell(payload):\n"
        "    time.sleep(0.3)\n"
        "    limits = {name: resource.getrlimit(getattr(resource, name)) for name in\n"
        "              ('RLIMIT_AS', 'RLIMIT_DATA', 'RLIMIT_FSIZE', 'RLIMIT_NPROC')}\n"
        "    return json.dumps([os.environ['CUDA_VISIBLE_DEVICES'], limits]).encode()\n"
        "serve(tell)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    three_devices(monkeypatch)
    environments = device_environments(2)
    with WorkerPool(
        2, memory_mb=1024, may_run=True, module="telling_worker", environments=environments
    ) as pool:
        told = [json.loads(one.result()) for one in [pool.submit(grade_bytes, b"?") for _ in range(8)]]
    assert {device for device, _ in told} == {"4", "5"}
    limits = told[0][1]
    assert limits["RLIMIT_AS"] == [-1, -1]
    assert limits["RLIMIT_DATA"] == [-1, -1]
    assert limits["RLIMIT_FSIZE"] == [gpu_workers.LARGEST_FILE, -1]
    assert limits["RLIMIT_NPROC"][0] != 0


def test_a_batch_on_gpus_is_graded_again_on_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_workers, "device_environments", lambda workers: ({},))
    monkeypatch.setattr(prepare, "_check_sandbox", lambda settings: None)
    hand_in(tmp_path / "class", "ada", f"{NAME}.py", "x = 1\n")
    seen: list[Settings] = []
    whole = run.run

    def noted(settings: Settings) -> object:
        seen.append(settings)
        return whole(settings)

    monkeypatch.setattr(run, "run", noted)
    instant.batch(tmp_path / "class", tmp_path / "out", backend="gpu", bare=True)
    result = CliRunner().invoke(cli, ["regrade", str(tmp_path / "out"), "--quiet"])
    assert result.exit_code == 0, result.output
    assert [(one.backend, one.bare) for one in seen] == [("gpu", True)] * 2
