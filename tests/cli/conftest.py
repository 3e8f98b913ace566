"""A grading that ends as a test says, under the real command line."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import grader
from grader.cli import main
from grader.records import Report
from tests.unit.reporters.samples import FAIL


@dataclass
class Cli:
    """The command line in this process, with what it was last asked to grade."""

    capsys: pytest.CaptureFixture[str]
    report: Report | Exception = FAIL
    asked: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)
    out: str = ""
    err: str = ""

    def grade(self, name: str, path: Path, **options: object) -> Report:
        self.asked.append((name, Path(path).as_posix(), options))
        if isinstance(self.report, Exception):
            raise self.report
        return replace(self.report, exercise=name, hint_level=int(options.get("hint_level", 1)))  # type: ignore[call-overload]

    def __call__(self, *words: str) -> int:
        code = main(words)
        self.out, self.err = self.capsys.readouterr()
        return code


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    command = Cli(capsys)
    module = types.ModuleType("grader.grade")
    module.grade = command.grade  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "grader.grade", module)
    monkeypatch.setattr(grader, "grade", module, raising=False)
    monkeypatch.delenv("TILEGRADE_COMMAND", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return command


@pytest.fixture
def student(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    """A student's folder, laid out and made the working directory."""
    assert cli("init", str(tmp_path / "gemm")) == 0
    monkeypatch.chdir(tmp_path / "gemm")
    return tmp_path / "gemm"
