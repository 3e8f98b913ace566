"""Pages that quote recorded runs say what the records say."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from tools.hardware import gpu_report, report

ROOT = Path(__file__).parents[2]
DATA = json.loads(report.DATA.read_text())


def test_the_hardware_page_is_made_from_its_data() -> None:
    assert report.PAGE.read_text() == report.render(DATA)


def test_the_readme_counts_the_faulty_kernels_of_the_record() -> None:
    faulty = sum(map(report.is_faulty, DATA["rows"].values()))
    quoted = re.search(r"each find in (\d+) faulty kernels", (ROOT / "README.md").read_text())
    assert quoted is not None
    assert int(quoted[1]) == faulty


def test_no_tool_and_no_run_complains_of_a_correct_kernel() -> None:
    for name, row in DATA["rows"].items():
        if report.is_correct(row) and row.get("plain", {}).get("error") != "SystemExit":
            assert not report.shown_by_output(row), name
            assert not report.shown_by_machine(row), name
            assert not any(report.shown_by(row, tool) for tool in report.TOOLS), name


@pytest.mark.parametrize("name", ["01-missing_second_barrier", "02-missing_second_barrier"])
def test_the_gpu_hides_a_missing_second_barrier(name: str) -> None:
    row = DATA["rows"][name]
    assert row["plain"] == {"wrong": [0, 0, 0, 0], "runs": 20}
    assert row["machine"]["findings"] == {"shared-overwrite-before-barrier": "error"}


def test_whatever_twenty_runs_show_is_found_or_is_a_wrong_result() -> None:
    """A fault that the GPU shows and the launch alone does not name is a matter of the result check."""
    for name, row in DATA["rows"].items():
        if report.is_faulty(row) and report.shown_by_output(row):
            assert report.shown_by_machine(row), name


GPU = json.loads(gpu_report.DATA.read_text())


def test_the_page_of_verdicts_beside_a_gpu_is_made_from_its_data() -> None:
    assert gpu_report.PAGE.read_text() == gpu_report.render(GPU)


def test_beside_a_gpu_nothing_is_left_unexplained() -> None:
    assert len(GPU["rows"]) > 290
    assert [name for name, row in GPU["rows"].items() if not gpu_report.agree(row)] == []
    assert "error" not in str({key for row in GPU["rows"].values() for key in row})


def test_the_batch_beside_a_gpu_has_36_good_verdicts_and_four_clear_ones() -> None:
    good = [row for row in GPU["batch"].values() if row["gpu"]["outcome"] == "PASS"]
    assert (len(GPU["batch"]), len(good)) == (40, 36)
    assert all(row["run"] == {"right": 29, "total": 29, "sandboxed": True} for row in good)
    ended = {name.partition("-")[2][3:]: row for name, row in GPU["batch"].items() if row not in good}
    assert {name: row["run"].get("fault") for name, row in ended.items()} == {
        "illegal-address": "gpu-illegal-address",
        "endless-loop": "gpu-did-not-finish",
        "allocation-of-200-GB": "gpu-illegal-address",
        "jit-failure": "gpu-compile-error",
    }
    assert {row["gpu"]["outcome"] for row in ended.values()} <= {"FAIL", "CANNOT JUDGE"}


def test_the_gpu_page_counts_the_kernels_of_the_record() -> None:
    quoted = re.search(r"lists (\d+) kernels beside each other", (ROOT / "docs/gpu.md").read_text())
    assert quoted is not None
    assert int(quoted[1]) == len(GPU["rows"])


LOST = json.loads((ROOT / "docs" / "results" / "lost_warpsync_h200.json").read_text())["cases"]


def test_a_barrier_without_its_warpsync_lets_two_threads_through_alone() -> None:
    """Threads 0 and 4 run no loop: they sum what they stored, and what lay in the other slots."""
    assert {name: case["wrong"] for name, case in LOST.items()} == {
        "cos": 300,
        "syncwarp": 300,
        "sqrt": 0,
        "early": 0,
        "seed 167": 1,
    }
    cosines = [math.cos(t / 8) for t in range(8)]
    alone = [cosines[0] + cosines[4] if t in (0, 4) else sum(cosines) for t in range(8)]
    for name in ("cos", "syncwarp"):
        assert LOST[name]["first"][0] == pytest.approx(alone, rel=1e-12)
        assert "WARPSYNC" not in LOST[name]["codes"]
    assert "WARPSYNC" in LOST["sqrt"]["codes"]
    # The kernel before seed 167 was "early", which left the cosines.
    left = sum(cosines) - cosines[0] - cosines[4]
    assert LOST["seed 167"]["first"][0][0] - left == pytest.approx(1.0470, abs=5e-5)
