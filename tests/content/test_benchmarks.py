"""The benchmarks' own arithmetic: ratios, targets, skips. The cases take minutes and are run by hand."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("run"), importlib.import_module("measure")


def stand_in(case: object) -> ModuleType:
    module = ModuleType("case")
    module.run = case  # type: ignore[attr-defined]
    return module


def test_a_missed_target_is_exit_code_1(
    bench: tuple[ModuleType, ModuleType], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, measure = bench
    figure = measure.Figure("machine is faster by", 400.0, "times", "at least 500", met=False)
    case = stand_in(lambda _small: measure.Result("one case", [figure]))
    monkeypatch.setattr(run.importlib, "import_module", lambda _name: case)
    assert run.main(["simulator"]) == 1
    assert (
        "machine is faster by                        400 times    at least 500 MISSED"
        in capsys.readouterr().out
    )


def test_a_skip_says_why_and_is_no_failure(
    bench: tuple[ModuleType, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    run, measure = bench

    def absent(_small: bool) -> None:
        raise measure.Skipped("numba is not installed")

    monkeypatch.setattr(run.importlib, "import_module", lambda _name: stand_in(absent))
    assert run.main(["simulator", "--json", str(tmp_path / "r.json")]) == 0
    assert "simulator: skipped: numba is not installed" in capsys.readouterr().out
    assert '"simulator": "numba is not installed"' in (tmp_path / "r.json").read_text(encoding="utf-8")


def test_a_command_that_fails_is_a_skip_with_its_last_line(bench: tuple[ModuleType, ModuleType]) -> None:
    _, measure = bench
    with pytest.raises(measure.Skipped, match="ended with 3, not 0: no luck"):
        measure.command_seconds([sys.executable, "-c", "import sys; print('no luck'); sys.exit(3)"])


def test_the_command_names_its_cases() -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "run.py"), "--help"], capture_output=True, text=True, check=True
    )
    assert "simulator, oclgrind, latency, large, scaling, styles" in done.stdout
