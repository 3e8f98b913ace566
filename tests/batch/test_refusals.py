"""What cannot work is refused before anything is graded, and leaves no folder behind."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import instant
import pytest
from classes import hand_in
from click.testing import CliRunner

from grader.batch import BatchError
from grader.batch.worker import grade_bytes
from grader.cli import cli
from grader.gpu import available, sandbox

NAME = "01_tiled_matmul.py"


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    hand_in(tmp_path / "in", "ada", NAME, "TILE = 1\n")
    return tmp_path / "in"


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a package look as if it were not installed."""
    find = importlib.util.find_spec

    def hide(name: str) -> None:
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda one, *rest: None if one == name else find(one, *rest)
        )

    return hide


@pytest.mark.parametrize(
    ("missing", "settings", "said"),
    [
        ("numba", {"run": "bare"}, "--run-code: numba is not installed"),
        ("distributed", {"cluster": "tcp://127.0.0.1:1"}, "--cluster: dask is not installed"),
        ("nbgrader", {"gradebook": "sqlite:///gradebook.db"}, "--gradebook: nbgrader is not installed"),
    ],
)
def test_what_an_option_needs_is_looked_for_first(
    submissions: Path,
    tmp_path: Path,
    without: Callable[[str], None],
    missing: str,
    settings: dict[str, Any],
    said: str,
) -> None:
    without(missing)
    with pytest.raises(BatchError, match=said):
        instant.batch(submissions, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_no_gpu_leaves_no_folder(submissions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available, "gpu_reason", lambda: "no NVIDIA driver was found")
    monkeypatch.setattr(sandbox, "find_sandbox", object)
    with pytest.raises(BatchError, match="--backend gpu: no NVIDIA driver was found"):
        instant.batch(submissions, tmp_path / "out", backend="gpu")
    assert not (tmp_path / "out").exists()


def test_a_wrong_row_of_the_overrides_is_refused_before_grading(submissions: Path, tmp_path: Path) -> None:
    given = tmp_path / "overrides.csv"
    given.write_text("student,question,points,reason,grader\nada,nothing,1,r,kim\n", encoding="utf-8")
    with pytest.raises(BatchError, match="there is none of that name"):
        instant.batch(submissions, tmp_path / "out", overrides=given)
    assert not (tmp_path / "out").exists()


def test_points_beyond_those_possible_count_and_are_listed(submissions: Path, tmp_path: Path) -> None:
    given = tmp_path / "overrides.csv"
    head = "student,question,points,reason,grader\n"
    given.write_text(f"{head}ada,01_tiled_matmul,999,typed in haste,kim\n", encoding="utf-8")
    (one,) = instant.batch(submissions, tmp_path / "out", overrides=given).record.grades
    assert one.final == 999
    problems = (tmp_path / "out/problems.csv").read_text(encoding="utf-8-sig")
    assert "override,ada,01_tiled_matmul: 999 points were given of 100; they count as given" in problems


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["batch", ""], "SUBMISSIONS is empty; name a folder"),
        (["batch", "in", "--out", ""], "--out is empty; name a folder"),
        (["batch", "in", "--roster", " "], "--roster is empty; name a file"),
        (["regrade", ""], "OUT is empty; name a folder"),
        (["leaderboard", ""], "OUT is empty; name a folder"),
    ],
)
def test_an_empty_path_is_not_the_current_folder(words: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, words)
    assert (result.exit_code, result.output) == (2, f"grader: {said}\n")


def test_a_worker_keeps_hand_ins_where_its_batch_can_clear_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.batch import worker
    from grader.batch.task import Task, bundle_of

    seen: list[Path] = []

    def grade_task(task: Task, folder: Path) -> None:
        seen.append(folder)
        raise InterruptedError

    monkeypatch.setattr(worker, "grade_task", grade_task)
    monkeypatch.setenv("TILEGRADE_WORKER_FOLDER", str(tmp_path))
    with pytest.raises(InterruptedError):
        grade_bytes(worker.msgspec.msgpack.encode(Task(bundle_of("01_tiled_matmul"), b"")))
    assert [folder.parent for folder in seen] == [tmp_path]
