"""The command line as a process: what a student's shell sees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STUB = """
import sys, types
from tests.unit.reporters.samples import FAIL
module = types.ModuleType("grader.grade")
module.grade = lambda *_, **__: FAIL
sys.modules["grader.grade"] = module
from grader.cli import entry
entry()
"""


def run(root: Path, *words: str, code: str = STUB, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437", "utf-8"])
def test_output_survives_any_console(root: Path, encoding: str) -> None:
    result = run(root, "check", "02", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert result.returncode == 1, result.stderr
    text = result.stdout.decode(encoding)
    assert ("B[24..31, 0] twice") in text
    assert ("×" in text) == (encoding == "utf-8")


def test_a_reader_that_leaves_early_gets_no_traceback(root: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STUB, "check", "02"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, error = process.communicate(timeout=60)
    assert b"Traceback" not in error
    assert process.returncode not in {0, 4}


def test_the_command_line_itself_imports_little(root: Path) -> None:
    heavy = {"numpy", "rich", "pint", "msgspec", "yaml", "junit_xml", "importlib.metadata", "numba"}
    code = "import sys; import grader.cli.check, grader.reporters.terminal; print(*sys.modules)"
    imported = set(run(root, code=code).stdout.decode().split())
    assert "click" in imported
    assert imported & heavy == set()


@pytest.mark.parametrize("module", ["fcntl", "pwd", "grp", "resource", "termios", "pty", "tty", "curses"])
def test_no_module_that_windows_lacks_is_needed(root: Path, module: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None\n" + STUB
    assert run(root, "check", "02", code=code).returncode == 1


def test_it_runs_as_a_module(root: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "grader", "version"], cwd=root, capture_output=True, check=True
    )
    assert result.stdout.startswith(b"tilegrade ")
