from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader import ladder, ladder_files
from grader.perf.climb import measured_rows
from grader.perf.devices import device
from grader.reporters import ladder_json
from tests.unit.reporters.ladder_sample import climb

H200 = device("h200")


@pytest.mark.parametrize(
    ("gpu", "name"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-40GB", "a100"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("NVIDIA L40S", None),
        ("NVIDIA T400", None),
        ("", None),
    ],
)
def test_a_gpu_has_the_profile_of_its_name(gpu: str, name: str | None) -> None:
    found = ladder.profile_for(gpu)
    assert (found.name if found else None) == name


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    run, path = climb(1000, 4096), tmp_path / "run.json"
    path.write_text(ladder_json.render(run, measured_rows(run, H200)), encoding="utf-8")
    assert ladder.recorded(path) == run


def _record(tmp_path: Path, **changed: object) -> Path:
    run = climb(1000)
    document = json.loads(ladder_json.render(run, measured_rows(run, H200)))
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document | changed), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"schema": "tilegrade.ladder/2"}, "not written by grader ladder --json"),
        ({"rungs": [{"rung": "naive"}]}, "missing required field `M`"),
        ({"rungs": [{"rung": "rocket", "M": 1, "N": 1, "K": 1}]}, "no rung is named 'rocket'"),
        ({"rungs": [{"rung": "naive", "M": 0, "N": 1, "K": 1}]}, "sizes are at least 1"),
        (
            {"rungs": [{"rung": "naive", "M": 1, "N": 1, "K": 1, "milliseconds": -1.0}]},
            "no figure is below 0",
        ),
        ({"gpu": 3}, "Expected `str`"),
        ({"device": "v100"}, "no device named 'v100'"),
    ],
)
def test_a_record_that_is_none_is_refused_in_one_line(
    tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    path = _record(tmp_path, **changed)
    with pytest.raises(ladder.LadderError) as caught:
        ladder.recorded(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00", '{"schema": 1}'])
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ladder.LadderError):
        ladder.recorded(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ladder.LadderError, match="cannot be read"):
        ladder.recorded(tmp_path / "none.json")


def test_a_package_without_the_kernels_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder_files, "folder", lambda: tmp_path / "ladder")
    assert "an installed package lacks" in ladder_files.missing_files()
    (tmp_path / "ladder").mkdir()
    (tmp_path / "ladder" / "naive.py").touch()
    assert "naive" not in ladder_files.missing_files()
    assert "tiled_16.py" in ladder_files.missing_files()
    assert ladder.no_gpu() == ladder_files.missing_files()
