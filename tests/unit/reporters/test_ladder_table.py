from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.perf.climb import Resources, measured_rows, predicted_rows
from grader.perf.devices import device
from grader.perf.rungs import RUNGS
from grader.reporters import ladder_json, ladder_lab, ladder_table
from grader.reporters.style import Style, display_width
from tests.unit.reporters.ladder_sample import climb, climbed

H200 = device("h200")
GOLDEN = Path(__file__).parent / "golden"


def style(width: int = 100, colour: bool = False) -> Style:
    return Style(colour, width, unicode=True)


def table(width: int = 100, *sizes: int) -> str:
    run = climb(*sizes)
    return ladder_table.render_measured(run, H200, measured_rows(run, H200), style(width))


def test_the_measured_table(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "ladder.txt", table())


def test_the_narrow_table(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "ladder_narrow.txt", table(80))


@pytest.mark.parametrize("width", [70, 80, 99, 100, 120])
def test_a_table_fits(width: int) -> None:
    assert max(map(display_width, table(width, 1000, 4096).splitlines())) <= width


def test_a_row_holds_its_figures() -> None:
    [row] = [line.split() for line in table().splitlines() if line.startswith("  register-blocked")]
    assert row[1:] == [
        "3.52",
        "39,045",
        "30.4",
        "77%",
        "4.5e-06",
        "31.5",
        "2.18",
        "0.62",
        "122",
        "8,448",
        "25%",
    ]


def test_a_library_row_has_no_model() -> None:
    [row] = [line.split() for line in table().splitlines() if line.startswith("  cuBLAS FP32")]
    assert row[2:] == ["2.71", "50,715", "39.5", "100%", "2.5e-06", *["-"] * 6]


def test_a_rung_that_failed_says_why_and_has_no_time() -> None:
    bad = (
        climbed("naive", problem="killed by signal 11", milliseconds=None, max_relative_error=None),
        climbed("tiled_16", max_relative_error=0.5),
        climbed("tiled_32", max_relative_error=None),
    )
    run = replace(climb(), rungs=(*bad, *climb().rungs[3:]))
    text = ladder_table.render_measured(run, H200, measured_rows(run, H200), style())
    assert "  naive: killed by signal 11\n" in text
    assert "  tiled 16x16: the result is wrong, so its time does not count\n" in text
    assert "  tiled 32x32: nothing was verified, so there is no time\n" in text
    rows = {line.split("  ")[1]: line.split() for line in text.splitlines() if line.startswith("  tiled")}
    assert rows["tiled 16x16"][2] == rows["tiled 32x32"][2] == "-"
    assert "24.3" not in text


def test_without_a_profile_the_table_says_so() -> None:
    run = climb(device="")
    text = ladder_table.render_measured(run, None, measured_rows(run, None), style())
    assert "This GPU has no profile" in text
    assert "a model:" not in text.lower()


def test_a_prediction_says_that_nothing_was_measured() -> None:
    tables = predicted_rows(H200, [(4096, 4096, 4096)], {})
    text = ladder_table.render_predicted(H200, "no GPU", "no GPU", tables, style())
    assert "Nothing was measured: no GPU." in text
    assert "no compiler was asked: the same reason." in text
    [row] = [line.split() for line in text.splitlines() if line.startswith("  tiled 32x32")]
    assert row[2:] == ["7.97", "16.9", "8,110", "shared", "memory", "~32", "8,192", "100%"]
    assert "cuBLAS" not in text


def test_compiled_registers_are_not_marked_as_estimated() -> None:
    compiled = {
        rung.name: Resources(source="compiler", registers=77, shared_bytes=99, threads=256)
        for rung in RUNGS
        if not rung.is_library
    }
    tables = predicted_rows(H200, [(1000, 700, 1000)], compiled)
    text = ladder_table.render_predicted(H200, "no GPU", "", tables, style())
    assert "~" not in text
    assert "those that the compiler takes" in text
    assert "M, N, K = 1000, 700, 1000: 1.4 GFLOP" in text


def test_colour_changes_nothing_but_escapes() -> None:
    run = climb(1000)
    tables = measured_rows(run, H200)
    coloured = ladder_lab.render(run, tables, style(colour=True))
    assert "\x1b[1;32mPASSED\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == ladder_lab.render(run, tables, style())


def test_lab_1_has_its_columns_in_order() -> None:
    run = climb(1024, 1000)
    text = ladder_lab.render(run, measured_rows(run, H200), style())
    lines = text.splitlines()
    [heading, _] = [line.split("   ") for line in lines if "variant" in line]
    assert [cell.strip() for cell in heading if cell.strip()] == [
        "variant", "ms", "GFLOP/s", "speedup", "max rel err",
    ]  # fmt: skip
    rows = [line.split() for line in lines if line.endswith("PASSED")]
    variants = ["naive", "tiled", "register-blocked", "cuBLAS"]
    assert [row[0] for row in rows] == 2 * variants
    assert rows[4][-5:] == ["1.557", "1,284", "1.0x", "3.1e-06", "PASSED"]
    assert "analytic intensity, FLOP per byte: naive 0.25, tiled 32x32 8, register-blocked 32" in text


def test_lab_1_is_not_passed_with_a_wrong_row_or_without_one() -> None:
    run = climb(1000)
    assert ladder_lab.passed(measured_rows(run, H200))
    wrong = replace(run, rungs=(climbed("naive", 1000, max_relative_error=1.0), *run.rungs[1:]))
    text = ladder_lab.render(wrong, measured_rows(wrong, H200), style())
    assert re.search(r"naive +- +- +- +1.0e\+00   FAILED", text)
    assert not ladder_lab.passed(measured_rows(wrong, H200))
    assert not ladder_lab.passed(measured_rows(replace(run, rungs=run.rungs[1:]), H200))
    assert not ladder_lab.passed({})


def test_json_holds_what_was_measured_and_what_follows() -> None:
    run = climb(1000, 4096)
    document = json.loads(ladder_json.render(run, measured_rows(run, H200)))
    assert (document["schema"], document["measured"], document["gpu"]) == (
        "tilegrade.ladder/1",
        True,
        "NVIDIA H200",
    )
    assert len(document["rungs"]) == 2 * len(RUNGS)
    row = next(row for row in document["rungs"] if row["rung"] == "tensor_cores" and row["M"] == 4096)
    assert row["resources"]["registers"] == 232
    assert row["share_of_cublas"] == pytest.approx(0.204 / 0.332)
    assert row["flop_per_byte"] == pytest.approx(81.9, abs=0.1)
    assert row["right"] is True


def test_json_of_a_prediction_says_why_nothing_was_measured() -> None:
    tables = predicted_rows(H200, [(4096, 4096, 4096)], {})
    empty = replace(climb(), gpu="", rungs=(), versions={})
    document = json.loads(ladder_json.render(empty, tables, "no GPU"))
    assert (document["measured"], document["reason"]) == (False, "no GPU")
    assert all(row["milliseconds"] is None and row["predicted_milliseconds"] > 0 for row in document["rungs"])


def test_an_infinite_error_is_still_json() -> None:
    run = replace(climb(), rungs=(climbed("naive", max_relative_error=float("inf")),))
    [row] = json.loads(ladder_json.render(run, measured_rows(run, H200)))["rungs"]
    assert (row["max_relative_error"], row["right"], row["gflops"]) == (None, False, None)
