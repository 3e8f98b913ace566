from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.cli.roofline import command

ROOT = Path(__file__).parents[3]
SOLUTION = ROOT / "solutions" / "02_ragged_dims.py"


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(command, arguments)


def test_the_text_comes_without_a_drawing() -> None:
    done = run("--device", "a100")
    assert done.exit_code == 0
    assert "ridge point 12.5 FLOP/byte" in done.output
    assert "ridge point 201 FLOP/byte" in done.output


def test_kernels_instead_of_the_ladder() -> None:
    done = run("--kernel", "tiled:8", "--kernel", "register:64x64/4")
    assert done.output.count("bound by") == 2


@pytest.mark.parametrize(("name", "start"), [("r.svg", b"<?xml"), ("r.PNG", b"\x89PNG")])
def test_a_drawing_is_written(tmp_path: Path, name: str, start: bytes) -> None:
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    done = run("--out", str(tmp_path / name))
    assert done.exit_code == 0
    assert (tmp_path / name).read_bytes().startswith(start)
    assert f"drawn in {tmp_path / name}" in done.output


def test_a_submission_stands_where_the_machine_counts_it() -> None:
    path = ROOT / "solutions" / "02_ragged_dims.py"
    done = run("--submission", str(path))
    assert done.exit_code == 0, done.output
    [line] = [line for line in done.output.splitlines() if "02_ragged_dims.py" in line]
    assert line.split()[:2] == ["3.99", "19.2"]
    assert line.endswith("speed at most this: not timed")


def test_a_measured_submission_stands_at_its_speed() -> None:
    path = ROOT / "solutions" / "02_ragged_dims.py"
    done = run("--submission", str(path), "--measured", "17.8")
    [line] = [line for line in done.output.splitlines() if "02_ragged_dims.py" in line]
    assert line.split()[:2] == ["3.99", "7.72"]
    assert line.endswith("speed as measured")


def test_a_submission_on_a_device_of_the_courses_own(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text('like = "h100"\ntitle = "Lab GPU"\n', encoding="utf-8")
    done = run("--device", str(path), "--submission", str(ROOT / "solutions" / "02_ragged_dims.py"))
    assert done.exit_code == 0, done.output
    assert "Roofline of Lab GPU" in done.output


def test_a_name_that_is_no_exercises_needs_the_exercise(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text((ROOT / "solutions" / "02_ragged_dims.py").read_text(encoding="utf-8"), encoding="utf-8")
    refused = run("--submission", str(path))
    assert refused.exit_code == 2
    assert "there is no exercise `mine`" in refused.output
    done = run("--submission", str(path), "--exercise", "02")
    assert done.exit_code == 0, done.output
    assert "mine.py" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--device", "a100,h100"], "a roofline is that of one device"),
        (["--out", "r.pdf"], "must end in .svg or .png"),
        (["--measured", "3"], "name it with --submission"),
        (["--submission", "02_ragged_dims.py", "--measured", "0"], "write a time"),
        (["--submission", "02_ragged_dims.py", "--measured", "fast"], "write a time"),
        (["--submission", "nowhere/02_ragged_dims.py"], "there is no such file"),
        (["--submission", "99_nothing.py"], "there is no such file"),
        (["--size", "0"], "each size is at least 1"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    done = run("--out", str(tmp_path / "none" / "r.svg"))
    assert done.exit_code == 2
    assert "cannot be written" in done.output


def test_a_drawing_without_matplotlib_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("--out", str(tmp_path / "r.svg"))
    assert done.exit_code == 2
    assert "drawing needs matplotlib: pip install '.[plot]' in Tilegrade's checkout" in done.output


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("        cuda.syncthreads()\n\n    #", "\n    #", "shared-overwrite-before-barrier"),
        ("    if row < M and col < N:\n        C", "    if True:\n        C", "out-of-bounds-write"),
    ],
)
def test_a_kernel_with_a_fault_stands_with_its_name(tmp_path: Path, old: str, new: str, name: str) -> None:
    path, text = tmp_path / "02_ragged_dims.py", SOLUTION.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    standalone = CliRunner(env={"COLUMNS": "200"})
    done = standalone.invoke(command, ["--submission", str(path)], standalone_mode=False)
    assert done.return_value == 1
    assert f"FAULTY: 02_ragged_dims.py has {name}" in done.output
    done = standalone.invoke(command, ["--submission", str(SOLUTION)], standalone_mode=False)
    assert done.return_value == 0
    assert "FAULTY" not in done.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "tiled_matmul cannot be launched: syntax-error, line 1; grader check"),
        ("", "tiled_matmul cannot be launched: missing-kernel; grader check"),
    ],
)
def test_a_kernel_that_cannot_be_launched_ends_in_1(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "02_ragged_dims.py"
    path.write_text(text, encoding="utf-8")
    done = run("--submission", str(path))
    assert done.exit_code == 1
    assert said in done.output


@pytest.mark.parametrize("columns", [40, 80])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(command, ["--submission", str(SOLUTION)])
    assert "not timed" in " ".join(done.output.split())
    assert max(map(len, done.output.splitlines())) <= columns
