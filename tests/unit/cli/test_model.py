from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.cli.model import command


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(command, arguments)


def test_the_default_is_the_seeds_table() -> None:
    done = run()
    assert done.exit_code == 0
    rows = {line.split("  ")[1]: line.split() for line in done.output.splitlines() if line.startswith("  ")}
    assert rows["Naive"][-5:] == ["0.25", "354", "HBM", "164", "HBM"]
    assert "29.1  shared memory      16.9  shared memory" in done.output
    assert "7.05  the FP32 ALUs      2.18  shared memory" in done.output
    assert "1.42  HBM               0.661  HBM" in done.output


def test_ragged_sizes_and_a_kernel_of_ones_own() -> None:
    done = run("--size", "1000x700x1000", "--kernel", "register:64x64x16/4x4", "--device", "h200", "--detail")
    assert done.exit_code == 0
    assert "M, N, K = 1000, 700, 1000" in done.output
    assert "50%  4 blocks an SM" in done.output


def test_json() -> None:
    done = run("--format", "json", "--device", "h100", "--measured", "tiled=17.8", "--kernel", "tiled")
    document = json.loads(done.output)
    assert [found["device"] for found in document["predictions"]] == ["h100"]
    assert document["reconciliations"][0]["measured_seconds"] == pytest.approx(0.0178)


@pytest.mark.parametrize(
    ("text", "seconds"), [("17.8", 0.0178), ("17.8ms", 0.0178), ("661us", 661e-6), ("2s", 2.0)]
)
def test_measured_times_have_units(text: str, seconds: float) -> None:
    done = run("--format", "json", "--device", "h100", "--measured", f"tiled={text}")
    assert json.loads(done.output)["reconciliations"][0]["measured_seconds"] == pytest.approx(seconds)


def test_a_device_of_the_courses_own(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text('like = "h100"\nhbm_bytes_per_second = 1675e9\n', encoding="utf-8")
    done = run("--device", f"h100,{path}", "--kernel", "naive")
    assert done.exit_code == 0
    assert "164  HBM           328  HBM" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--device", "v100"], "no device named 'v100'"),
        (["--device", ","], "name a device"),
        (["--device", "none.toml"], "none.toml: cannot read this device file"),
        (["--kernel", "fast"], "no kernel 'fast'"),
        (["--kernel", "tiled", "--dtype", "bfloat16", "--size", "0"], "--size 0: each size is at least 1"),
        (["--kernel", "tensor", "--dtype", "float32"], "takes float16 or bfloat16"),
        (["--size", "big"], "--size big: write N, or MxNxK"),
        (["--size", "10x10"], "--size 10x10"),
        (["--size", "9" * 400], "--size 999"),
        (["--measured", "tiled", "--device", "h100"], "write KERNEL=TIME"),
        (["--measured", "tiled=3"], "needs the one device"),
        (["--measured", "tiled=0", "--device", "h100"], "above zero"),
        (["--measured", "tiled:64=3", "--device", "h100"], "cannot run on h100"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output
