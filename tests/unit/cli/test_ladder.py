from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader import ladder
from grader.cli.ladder import command
from grader.perf.climb import Climb, measured_rows
from grader.perf.devices import device
from grader.reporters import ladder_json
from tests.unit.reporters.ladder_sample import climb


def run(*arguments: str, columns: int = 100) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(command, arguments, standalone_mode=False)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    found, path = climb(1000, 4096), tmp_path / "run.json"
    path.write_text(ladder_json.render(found, measured_rows(found, device("h200"))), encoding="utf-8")
    return path


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "no_gpu", lambda: "no NVIDIA driver was found")
    monkeypatch.setattr(ladder, "compiled_resources", lambda profile: ({}, "no compiler"))


def test_without_a_gpu_the_model_predicts_and_says_so(no_gpu: None) -> None:
    done = run("--size", "1000,1000x700x1000")
    assert done.return_value == 0
    assert "The ladder on NVIDIA H200 SXM 141 GB, as the model predicts it" in done.output
    assert "Nothing was measured: no NVIDIA driver was found." in done.output
    assert "M, N, K = 1000, 700, 1000" in done.output
    assert "no compiler was asked: no compiler." in done.output


def test_sizes_given_twice_all_count(no_gpu: None) -> None:
    output = run("--size", "5", "--sizes", "6,5").output
    assert output.count("M, N, K = ") == 2
    assert "M, N, K = 5, 5, 5" in output
    assert "M, N, K = 6, 6, 6" in output


def test_a_named_device_is_predicted(no_gpu: None) -> None:
    assert "on NVIDIA A100 SXM4 40 GB" in run("--device", "a100").output


def test_a_prediction_as_json(no_gpu: None) -> None:
    document = json.loads(run("--json", "--device", "h200").output)
    assert (document["measured"], document["device"]) == (False, "h200")
    assert {row["M"] for row in document["rungs"]} == {4096}


def test_lab_1_needs_a_gpu(no_gpu: None) -> None:
    done = run("--lab1")
    assert getattr(done.exception, "exit_code", None) == 2
    assert "Lab 1 measures, and nothing can be measured here: no NVIDIA driver" in str(done.exception)


def test_with_a_gpu_the_ladder_is_climbed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def climbed(sizes: list[tuple[int, int, int]], say: object) -> Climb:
        asked.append(sizes)
        return climb(1000, 4096)

    monkeypatch.setattr(ladder, "no_gpu", lambda: "")
    monkeypatch.setattr(ladder, "climb", climbed)
    done = run("--sizes", "1000,4096")
    assert (done.return_value, asked) == (0, [[(1000, 1000, 1000), (4096, 4096, 4096)]])
    assert "The ladder on NVIDIA H200, 2026-11-30" in done.output
    run("--lab1")
    assert asked[1] == [(1024, 1024, 1024), (1000, 1000, 1000)]


def test_a_failing_rung_ends_in_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    found = climb()
    bad = replace(found.rungs[0], problem="killed by signal 9", milliseconds=None)
    monkeypatch.setattr(ladder, "no_gpu", lambda: "")
    monkeypatch.setattr(ladder, "climb", lambda *_: replace(found, rungs=(bad, *found.rungs[1:])))
    assert run().return_value == 1
    assert run("--lab1").return_value == 1
    monkeypatch.setattr(ladder, "climb", lambda *_: replace(found, rungs=()))
    assert run().return_value == 1


def test_a_record_is_shown(record: Path) -> None:
    done = run("--from", str(record))
    assert done.return_value == 0
    assert done.output.count("M, N, K = ") == 2
    only = run("--from", str(record), "--size", "4096")
    assert only.output.count("M, N, K = ") == 1
    lab = run("--from", str(record), "--lab1", "--size", "1000")
    assert lab.return_value == 0
    assert lab.output.count("PASSED") == 4


def test_a_record_written_again_is_the_same(record: Path) -> None:
    assert json.loads(run("--from", str(record), "--json").output) == json.loads(record.read_text())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--size", "0"], "each size is at least 1"),
        (["--size", "4096x"], "--size 4096x: write N, or MxNxK"),
        (["--size", ","], "--size: write N or MxNxK"),
        (["--size", "9999999"], "each matrix has at most 2^32 elements"),
        (["--sizes", ",".join(map(str, range(1, 20)))], "at most 16 at once"),
        (["--device", "v100"], "no device named 'v100'"),
        (["--device", "h100,h200"], "--device names one device"),
        (["--from", "none.json"], "none.json: cannot be read"),
    ],
)
def test_bad_input_is_refused(no_gpu: None, arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert getattr(done.exception, "exit_code", None) == 2
    assert said in str(done.exception)


def test_a_size_that_the_record_lacks(record: Path) -> None:
    assert "the record has no size 77x77x77" in str(run("--from", str(record), "--size", "77").exception)
