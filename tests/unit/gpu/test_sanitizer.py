"""compute-sanitizer's logs, as it wrote them on an H200 (CUDA 13.0), cut to a few reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.gpu import sanitizer
from grader.gpu.device_runs import Launch
from grader.gpu.sanitizer import read_log, sanitize
from grader.gpu.tool_run import Ended
from grader.records import Sanitized

DATA = Path(__file__).with_name("data")


def log(name: str) -> str:
    return (DATA / f"{name}.log").read_text(encoding="utf-8")


def test_a_race_has_both_accesses() -> None:
    assert read_log("racecheck", log("racecheck"), "submission.py") == Sanitized(
        "racecheck",
        errors=1,
        warnings=1,
        lines=(44, 67),
        first="Race reported between Write access on line 44 and Read access on line 67 [1536 hazards]",
    )


def test_an_illegal_write_counts_though_it_ended_the_run() -> None:
    fault = "gpu-kernel-aborted: CUDA_ERROR_LAUNCH_FAILED"
    assert read_log("memcheck", log("memcheck"), "submission.py", fault) == Sanitized(
        "memcheck", 1851, 0, (72,), "Invalid __global__ write of size 4 bytes on line 72"
    )


def test_a_divergent_barrier() -> None:
    found = read_log("synccheck", log("synccheck"), "submission.py", "gpu-kernel-aborted: 719")
    assert (found.errors, found.lines, found.problem) == (1504, (44,), "")
    assert found.first == "Barrier error detected. Divergent thread(s) in warp. on line 44"


def test_clean_runs() -> None:
    assert read_log("racecheck", log("racecheck_clean"), "submission.py") == Sanitized("racecheck")
    assert read_log("initcheck", log("clean"), "submission.py") == Sanitized("initcheck")


def test_lines_of_other_files_are_not_the_students() -> None:
    assert read_log("memcheck", log("memcheck"), "other.py").lines == ()


@pytest.mark.parametrize(
    ("text", "problem"), [("", ""), ("========= COMPUTE-SANITIZER\n", "gpu-did-not-finish: 60 s")]
)
def test_no_summary_is_no_clean_run(text: str, problem: str) -> None:
    found = read_log("memcheck", text, "submission.py", problem)
    assert found.problem == (problem or "the tool gave no summary")
    assert (
        read_log("memcheck", log("clean"), "submission.py", "the child was lost").problem
        == "the child was lost"
    )


def test_each_tool_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def under(words: list[str], *_: object, **options: object) -> Ended:
        asked.append(words)
        assert options == {"log_option": "--log-file"}
        return Ended(log("clean"), 1)

    monkeypatch.setattr(sanitizer, "run_under", under)
    monkeypatch.setattr(sanitizer, "find_tool", lambda name: f"/opt/{name}")
    found = sanitize({"file": "mine.py"}, [Launch((1,), (32,), {})])
    assert [one.tool for one in found] == ["memcheck", "racecheck", "synccheck", "initcheck"]
    assert [words[:3] for words in asked] == [["/opt/compute-sanitizer", "--tool", one.tool] for one in found]
