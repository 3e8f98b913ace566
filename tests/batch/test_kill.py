"""Kill a batch at any moment: the same command goes on, and nothing is lost, doubled or different."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from classes import FILES, ROOT, answers, hand_in, many, text

INSTANT = Path(__file__).parent / "instant.py"
KILLS = int(os.environ.get("TILEGRADE_KILLS", "100" if os.environ.get("CI") else "12"))
REAL_KILLS = int(os.environ.get("TILEGRADE_REAL_KILLS", "3" if os.environ.get("CI") else "1"))


def start(*words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def kept(out: Path) -> int:
    path = out / "journal.sqlite3"
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM gradings").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def kill_and_go_on(words: list[str], out: Path, kills: int, longest: float, seed: int) -> int:
    """Kill a command again and again until it is through; give how often it died. No grading may be lost."""
    draw = random.Random(seed)
    died = 0
    before = 0
    while died < kills:
        process = start(*words)
        try:
            process.wait(draw.uniform(0.0, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            died += 1
        else:
            assert process.returncode == 0, process.communicate()[1]
            process.communicate()
            return died
        now = kept(out)
        assert now >= before
        before = now
    finish(start(*words))
    return died


def test_killed_batches_end_with_the_bytes_of_an_undisturbed_one(tmp_path: Path) -> None:
    submissions = many(tmp_path / "in", 200)
    begun = time.monotonic()
    assert finish(start(str(INSTANT), str(submissions), str(tmp_path / "whole"), "2")).split() == ["200", "0"]
    once = time.monotonic() - begun
    expected = answers(tmp_path / "whole")
    died = rounds = 0
    while died < KILLS:
        out = tmp_path / f"out{rounds}"
        words = [str(INSTANT), str(submissions), str(out), str(1 + rounds % 3)]
        died += kill_and_go_on(words, out, min(4, KILLS - died), once, seed=rounds)
        assert answers(out) == expected
        assert kept(out) == 200
        rounds += 1
        assert rounds < 20 * KILLS
    assert died == KILLS


def test_real_gradings_survive_kills(tmp_path: Path) -> None:
    submissions = tmp_path / "in"
    for i in range(4):
        for name in FILES[:2]:
            for kind in ("solutions", "exercises"):
                hand_in(submissions, f"{kind}{i}", name, f"{text(kind, name)}\n# {i}\n")
    words = ["-m", "grader", "batch", str(submissions), "--workers", "2", "--quiet", "--out"]
    begun = time.monotonic()
    finish(start(*words, str(tmp_path / "whole")))
    once = time.monotonic() - begun
    expected = answers(tmp_path / "whole")
    died = rounds = 0
    while died < REAL_KILLS:
        out = tmp_path / f"out{rounds}"
        died += kill_and_go_on([*words, str(out)], out, min(3, REAL_KILLS - died), once, seed=rounds)
        assert answers(out) == expected
        assert kept(out) == kept(tmp_path / "whole") == 16
        rounds += 1
        assert rounds < 20 * REAL_KILLS


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are POSIX")
def test_no_worker_outlives_a_killed_batch(tmp_path: Path) -> None:
    for i in range(6):
        hand_in(tmp_path / "in", f"s{i}", FILES[0], f"{text('solutions', FILES[0])}\n# {i}\n")
    process = start(
        "-m", "grader", "batch", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--workers", "2"
    )
    deadline = time.monotonic() + 30
    while not (workers := children(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert workers
    while any(Path(f"/proc/{pid}/stat").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if alive(pid)]


@pytest.mark.skipif(sys.platform != "linux", reason="a child's life is tied to its parent's on Linux")
@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_what_a_killed_batchs_children_wrote_goes_with_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, out = tmp_path / "tmp", tmp_path / "out"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    hand_in(tmp_path / "in", "ada", FILES[0], text("solutions", FILES[0]))
    words = ["-m", "grader", "batch", str(tmp_path / "in"), "--out", str(out), "--workers", "1", "--quiet"]
    process = start(*words, "--run-code", "--unsafe-no-sandbox")
    deadline = time.monotonic() + 60
    # The worker's folder, and that of the child which runs the kernel with all rights.
    while len(family := descendants(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)
    assert len(family) == 2
    assert len(list(out.glob(".grading/*"))) == 2
    process.kill()
    process.communicate()
    while any(map(alive, family)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [pid for pid in family if alive(pid)]
    assert len(list(out.glob(".grading/*"))) == 2
    finish(start(*words))
    assert not list(out.glob(".grading*"))
    assert not list(temporary.iterdir())


def descendants(pid: int) -> list[int]:
    found = children(pid)
    return [*found, *(below for one in found for below in descendants(one))]


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task").glob("*/children") if found.exists() else []
    return [int(word) for path in threads for word in path.read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
