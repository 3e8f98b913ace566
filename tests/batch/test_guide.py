"""docs/instructors.md as a newcomer follows it: its own files and commands, in its order, as they stand."""

from __future__ import annotations

import csv
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from classes import FILES, ROOT, hand_in, text

GUIDE = (ROOT / "docs/instructors.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    """Give the guide's indented blocks, in order."""
    found = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", GUIDE, re.MULTILINE)
    return [re.sub(r"(?m)^    ", "", block) for block in found]


def block(start: str) -> str:
    (found,) = [one for one in blocks() if one.startswith(start)]
    return found


def commands() -> list[str]:
    """Give the commands that stand in blocks of their own."""
    lines = [line for one in blocks() for line in one.splitlines()]
    return [line for line in lines if line.startswith(("grader ", "(umask"))]


def follow(folder: Path, command: str) -> str:
    """Type a command of the guide into a shell."""
    bin_ = folder / ".bin"
    bin_.mkdir(exist_ok=True)
    (bin_ / "grader").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grader "$@"\n')
    (bin_ / "grader").chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide's own roster, assignment and overrides, and what its two students handed in."""
    root = tmp_path_factory.mktemp("course")
    (root / "roster.csv").write_text(block("id,name,email"))
    (root / "assignment.yaml").write_text(block("title: Homework 3"))
    for student, kind in (("ada", "solutions"), ("bob", "exercises")):
        for name in FILES:
            hand_in(root / "submissions", student, name, f"{text(kind, name)}\n")
    return root


def test_every_command_of_the_guide_does_what_it_says(course: Path) -> None:
    typed = commands()
    assert [one.split()[:2] for one in typed] == [
        ["(umask", "077;"],
        ["grader", "release"],
        ["grader", "batch"],
        ["grader", "regrade"],
        ["grader", "purge"],
    ]
    key, release, batch, regrade, purge = typed
    follow(course, key)
    assert (course / "key").stat().st_mode & 0o077 == 0
    follow(course, release)
    assert (course / "for-students/exercises/02_ragged_dims.py").is_file()
    follow(course, batch)
    graded = course / "graded"
    written = [
        line
        for line in GUIDE.splitlines()
        if line.startswith("| `") and not re.search("--(arch|backend gpu)", line)
    ]
    named = [
        name for line in written for name in re.findall(r"`([a-z]+\.(?:html|csv|xml))`", line.split("|")[1])
    ]
    assert {"report.html", "grades.csv", "canvas.csv", "junit.xml", "times.csv"} <= set(named)
    for name in named:
        assert (graded / name).is_file(), name
    rows = table(graded / "grades.csv")
    assert {row["student"] for row in rows} == {"ada", "bob"}
    assert {row["final"] for row in rows if row["student"] == "ada"} == {"100"}
    assert f"{len(rows)} kept from before" in follow(course, batch)
    (graded / "overrides.csv").write_text(block("student,question,points"))
    said = follow(course, regrade)
    # The guide's overrides: ada has full marks as it is, bob's worksheet gets points.
    assert said.splitlines()[0] == "1 graded again"
    assert [line.split("  ")[:3] for line in said.splitlines()[1:]] == [
        ["bob", "03_intensity_math", "FAIL 0 -> FAIL 12"]
    ]
    rows = table(graded / "grades.csv")
    finals = {(row["student"], row["exercise"]): row["final"] for row in rows}
    assert finals["bob", "03_intensity_math"] == "12"
    follow(course, purge)
    assert not [path for path in graded.rglob("*") if path.is_file() and b"Lovelace" in path.read_bytes()]
    assert "bob,03_intensity_math,12" in (graded / "overrides.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize("name", ["overrides.csv", "roster.csv"])
def test_the_guides_tables_are_whole(name: str) -> None:
    start = {"overrides.csv": "student,question", "roster.csv": "id,name"}[name]
    lines = block(start).splitlines()
    assert len({line.count(",") for line in lines}) == 1


@pytest.mark.skipif(
    importlib.util.find_spec("nbgrader") is None, reason="the extra nbgrader is not installed"
)
def test_the_gradebook_of_the_guide_is_exported(course: Path) -> None:
    (batch,) = [one for one in commands() if one.startswith("grader batch")]
    (url,) = set(re.findall(r"--gradebook (sqlite:///\S+?)`", GUIDE))
    words = re.sub(r" --out \S+", " --out again", batch) + f" --gradebook {url}"
    follow(course, "(umask 077; openssl rand -hex 32 > key)")
    follow(course, words)
    bin_ = Path(sys.executable).parent
    follow(course, f"HOME=$PWD PATH={bin_}:$PATH '{sys.executable}' -m nbgrader export")
    rows = table(course / "grades.csv")
    assert {(row["student_id"], row["score"]) for row in rows if row["assignment"] == "02_ragged_dims"} >= {
        ("ada", "100.0")
    }
