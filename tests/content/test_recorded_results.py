"""Pages that quote recorded runs say what the records say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.hardware import report

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
