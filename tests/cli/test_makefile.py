"""``make``: its words, its targets and the environment that it makes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("make") is None, reason="there is no make here"
)
PARTS = ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock", "requirements-gpu.lock")


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A checkout whose environment is up to date and whose Python says what it is asked to run."""
    for part in PARTS:
        shutil.copy2(root / part, tmp_path / part)
    shutil.copytree(root / "tools", tmp_path / "tools")
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nfor word in "$@"; do printf "[%s]" "$word"; done; echo\n')
    python.chmod(0o755)
    for stamp in (".for-check", ".for-test", ".for-gpu"):
        (tmp_path / ".venv" / stamp).touch()
    return tmp_path


def make(checkout: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *words],
        cwd=checkout,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def asked(checkout: Path, *words: str, **environment: str) -> list[str]:
    """Give the words that Python was asked to run."""
    result = make(checkout, *words, **environment)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return re.findall(r"\[(.*?)\]", result.stdout)


def test_make_alone_lists_the_targets(checkout: Path) -> None:
    lines = make(checkout).stdout.splitlines()
    assert lines[0] == "make TARGET, one of:"
    targets = (
        "check hint explain reset list test soak batch test-gpu ladder lint format bench outputs matrix lock "
        "setup-ci setup clean"
    )
    assert " ".join(line.split()[0] for line in lines[1:]) == targets


@pytest.mark.parametrize(
    "word", ["02_ragged_dims", "02", "exercises/02_ragged_dims.py", "test", "check", "no-such"]
)
def test_check_takes_its_exercise_as_a_plain_word(checkout: Path, word: str) -> None:
    assert asked(checkout, "check", word) == ["-m", "grader", "check", word]


def test_the_ladder_takes_the_labs_size(checkout: Path) -> None:
    assert asked(checkout, "ladder") == ["-m", "grader", "ladder", "--lab1"]
    assert asked(checkout, "ladder", "MDIM=1000")[-2:] == ["--size", "1000"]


def test_check_takes_a_file_and_a_hint_level(checkout: Path) -> None:
    words = asked(checkout, "check", "02", "FILE=my work/it's mine.py", "HINT=2")
    assert words == ["-m", "grader", "check", "02", "--file", "my work/it's mine.py", "--hint", "2"]


def test_a_file_in_the_environment_is_not_meant(checkout: Path) -> None:
    assert asked(checkout, "check", "02", FILE="x", HINT="3") == ["-m", "grader", "check", "02"]


@pytest.mark.parametrize("target", ["hint", "explain", "reset"])
def test_other_targets_take_a_word_too(checkout: Path, target: str) -> None:
    assert asked(checkout, target, "stale-shared-read") == ["-m", "grader", target, "stale-shared-read"]


def test_the_reader_is_told_to_type_make(checkout: Path) -> None:
    python = checkout / ".venv/bin/python"
    python.write_text('#!/bin/sh\necho "$TILEGRADE_COMMAND"\n')
    assert make(checkout, "check", "02").stdout == "make\n"


@pytest.mark.parametrize(
    "words", [["frobnicate"], ["chekc", "02"], ["lint", "02_ragged_dims"], ["02_ragged_dims"]]
)
def test_an_unknown_target_fails(checkout: Path, words: list[str]) -> None:
    result = make(checkout, *words)
    assert result.returncode == 2
    assert "No rule to make target" in result.stderr


def test_a_failing_check_fails(checkout: Path) -> None:
    (checkout / ".venv/bin/python").write_text("#!/bin/sh\nexit 1\n")
    assert make(checkout, "check", "02").returncode == 2


@pytest.mark.parametrize(
    ("target", "changed", "locks"),
    [
        ("check", "requirements.lock", ["requirements.lock"]),
        ("check", "pyproject.toml", ["requirements.lock"]),
        ("check", "requirements-dev.lock", []),
        ("test", "requirements-dev.lock", ["requirements-dev.lock"]),
        ("lint", "pyproject.toml", ["requirements-dev.lock"]),
    ],
)
def test_a_stale_environment_is_brought_up_to_date_once(
    checkout: Path, target: str, changed: str, locks: list[str]
) -> None:
    later = time.time() + 60
    os.utime(checkout / changed, (later, later))
    python = checkout / ".venv/bin/python"
    python.write_text(python.read_text().replace("; echo", "; echo | tee -a log"))
    first = make(checkout, target, *(["02"] if target == "check" else []))
    assert re.findall(r"--requirement\]\[(.*?)\]", first.stdout) == locks


@pytest.mark.parametrize(("driver", "locks"), [("", []), ("/dev/nvidiactl", ["requirements-gpu.lock"])])
@pytest.mark.parametrize(
    ("target", "runs"),
    [("ladder", "[-m][grader][ladder][--lab1]\n"), ("test-gpu", "[-m][pytest][-m][gpu]\n")],
)
def test_the_gpu_extra_is_installed_only_where_a_driver_is(
    checkout: Path, driver: str, locks: list[str], target: str, runs: str
) -> None:
    (checkout / ".venv/.for-gpu").unlink()
    result = make(checkout, target, f"DRIVER={driver}")
    assert re.findall(r"--requirement\]\[(.*?)\]", result.stdout) == locks
    assert result.stdout.endswith(runs)


def test_without_a_python_the_environment_is_made_whatever_the_stamps_say(checkout: Path) -> None:
    (checkout / ".venv/bin/python").unlink()
    (checkout / ".venv/bin/python").symlink_to("/no/such/python")
    result = make(checkout, "check", "02", PYTHON="/no/such/python")
    assert result.returncode == 2
    assert "tilegrade: no /no/such/python here: install Python 3.11 or later" in result.stderr


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ('case "$*" in *ensurepip*) exit 1;; *) exit 0;; esac', "install its venv module"),
        ('case "$*" in -V) echo Python 3.9.2;; *) exit 1;; esac', "Python 3.9.2 is too old"),
    ],
)
def test_a_python_that_will_not_do_is_named_in_one_line(checkout: Path, answers: str, says: str) -> None:
    (checkout / ".venv/bin/python").unlink()
    (checkout / "py").write_text(f"#!/bin/sh\n{answers}\n")
    (checkout / "py").chmod(0o755)
    result = make(checkout, "check", "02", PYTHON=str(checkout / "py"))
    assert result.returncode == 2
    lines = [line for line in result.stderr.splitlines() if not line.startswith("make")]
    assert len(lines) == 1
    assert says in lines[0]


def test_only_what_make_3_81_knows_is_used(root: Path) -> None:
    text = (root / "Makefile").read_text(encoding="utf-8")
    newer = [
        ".ONESHELL",
        ".RECIPEPREFIX",
        "$(file ",
        "&:",
        "::=",
        "!=",
        "undefine",
        "private ",
        "$(guile",
        "$(let ",
    ]
    assert [word for word in newer if word in text] == []


@pytest.mark.slow
def test_a_fresh_checkout_makes_its_environment_and_grades(root: Path, tmp_path: Path) -> None:
    for part in (*PARTS, "tools", "grader", "exercises", "solutions", "rubrics"):
        copy = shutil.copytree if (root / part).is_dir() else shutil.copy2
        copy(root / part, tmp_path / part)
    started = time.monotonic()
    result = make(tmp_path, "check", "02_ragged_dims", "FILE=solutions/02_ragged_dims.py")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "02_ragged_dims  PASS" in result.stdout
    assert time.monotonic() - started < 60
    again = make(tmp_path, "check", "02_ragged_dims", "FILE=solutions/02_ragged_dims.py")
    assert "Installing" not in again.stdout


def test_locks_pin_every_package_and_name_no_source(root: Path) -> None:
    for lock in root.glob("requirements*.lock"):
        for line in lock.read_text(encoding="utf-8").splitlines():
            assert re.fullmatch(r"[a-z0-9.-]+==[\w.]+( ; .+)?", line), f"{lock.name}: {line}"


def test_the_locks_agree(root: Path) -> None:
    pins = [set((root / lock).read_text(encoding="utf-8").splitlines()) for lock in PARTS[2:]]
    assert pins[0] <= pins[1]
    versions = dict(line.split("==") for line in pins[1] if ";" not in line)
    assert {line for line in pins[2] if line.split("==")[0] in versions} <= pins[1]
