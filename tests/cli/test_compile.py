"""``grader check --arch`` from the outside."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from grader.cli import main
from grader.gpu.compile import compile_reason

SOLUTION = str(Path(__file__).parents[2] / "solutions" / "02_ragged_dims.py")
needs_compiler = pytest.mark.skipif(
    bool(compile_reason()) or importlib.util.find_spec("nvidia") is None,
    reason="the extra `compile` is not installed",
)


@needs_compiler
def test_a_row_for_each_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "02", "--file", SOLUTION, "--arch", "sm_75,h200"]) == 0
    rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines() if line.startswith("  sm_")]
    assert [(row[0], row[2]) for row in rows] == [("sm_75", "registers,"), ("sm_90", "registers,")]
    assert all(16 <= int(row[1]) <= 64 for row in rows)


@needs_compiler
@pytest.mark.parametrize("form", ["json", "junit"])
def test_the_figures_are_in_both_files(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "02", "--file", SOLUTION, "--arch", "sm_90", "--format", form]) == 0
    text = capsys.readouterr().out
    if form == "json":
        (compiled,) = json.loads(text)["report"]["compiled"]
        assert (compiled["arch"], compiled["shared_bytes"]) == ("sm_90", 2048)
    else:
        assert 'name="compiled.sm_90.shared_bytes" value="2048"' in text
        assert 'name="compiled.sm_90.occupancy" value="1"' in text


def test_what_is_no_architecture_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "02", "--file", SOLUTION, "--arch", "sm90"]) == 2
    assert "--arch: 'sm90' is no architecture; write one as sm_90, or a device" in capsys.readouterr().err


@needs_compiler
@pytest.mark.parametrize("words", ["sm_999", "sm_90,sm_999"])
def test_an_architecture_that_the_compiler_has_not_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], words: str
) -> None:
    assert main(["check", "02", "--file", SOLUTION, "--arch", words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("grader: --arch: this compiler has no sm_999; known here: sm_")


def test_nothing_is_compiled_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "02", "--file", SOLUTION]) == 0
    assert "compiled" not in capsys.readouterr().out
