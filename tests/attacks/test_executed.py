"""The same attacks where code does run: a naive grader loses to each, the sandboxed child gains nothing."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader.batch.execution import _packages, execute, with_execution
from grader.gpu.sandbox import Limits, Sandbox, find_sandbox
from grader.grade import grade
from grader.records import Outcome
from grader.rubric.load import load
from tests.attacks.corpus import CANARY, EXECUTED, HEAD, RIGHT, WRONG, Attack

ROOT = Path(__file__).resolve().parents[2]
NAIVE = Path(__file__).with_name("naive.py")
EXERCISE = "02_ragged_dims"
RUBRIC = load(ROOT / f"rubrics/{EXERCISE}.yaml")
SECONDS = 6.0
FLOOD = 1_000_000

pytestmark = pytest.mark.skipif(
    find_sandbox() is None or importlib.util.find_spec("numba") is None,
    reason="no sandbox on this machine (bubblewrap, setpriv, prlimit), or no numba",
)
# Each takes two processes and a second or more: all of them in CI, every fifth elsewhere.
TRIED = EXECUTED if os.environ.get("CI") else EXECUTED[::5]


def sandbox() -> Sandbox:
    found = find_sandbox()
    assert found is not None
    return found


def course(folder: Path) -> dict[str, bytes]:
    """Lay out what a naive grader has lying about, each file with the canary in it."""
    folder.mkdir()
    folder.chmod(0o777)
    for name in ("rubric.yaml", "solution.py", "journal.sqlite3", "bob.py"):
        (folder / name).write_text(f"# {CANARY} {name}\n")
        (folder / name).chmod(0o666)
    return listing(folder)


def listing(folder: Path) -> dict[str, bytes]:
    return {
        path.name: b"link" if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name != "submission.py"
    }


def naive(source: str, folder: Path, patience: float = 8 * SECONDS) -> set[str]:
    """Run the naive grader, itself contained, and give the ways in which it was beaten.

    ``patience``: seconds after which it counts as stuck. What ends at all has to be given the time that a
    busy machine takes for it.
    """
    before = course(folder)
    (folder / "submission.py").write_text(source)
    limits = Limits(seconds=SECONDS, memory_mb=1500, threads=300)
    words = replace(sandbox(), landlocked=False).command(NAIVE, _packages(), limits, None)
    at = words.index("--")
    words[at:at] = ["--bind", str(folder), "/course", "--chdir", "/course"]
    words[-1:] = ["/course/submission.py", "/packages"]
    # A disk that is filled is the sandbox's own.
    out = folder.with_suffix(".out")
    with out.open("wb") as sink:
        child = subprocess.Popen(
            words, stdout=sink, stderr=subprocess.DEVNULL, env={}, start_new_session=True
        )
        deadline = time.monotonic() + patience
        while child.poll() is None and time.monotonic() < deadline and out.stat().st_size < FLOOD:
            time.sleep(0.02)
        stuck = child.poll() is None
        child.kill()
        child.wait()
    said = out.read_bytes()[: 2 * FLOOD]
    beaten = set()
    if len(said) >= FLOOD:
        beaten.add("flooded")
    elif stuck:
        beaten.add("stuck")
    if (not stuck and child.returncode == 0) or b"PASS" in said:
        beaten.add("pass")
    if CANARY.encode() in said or listing(folder) != before:
        beaten.add("canary")
    if not stuck and child.returncode != 0 and b"PASS" not in said and b"FAIL" not in said:
        beaten.add("silent")
    shutil.rmtree(folder, ignore_errors=True)
    return beaten


def test_controls_of_the_naive_grader(tmp_path: Path) -> None:
    assert naive(HEAD + RIGHT, tmp_path / "right") == {"pass"}
    assert naive(HEAD + WRONG, tmp_path / "wrong") == set()


def test_controls_of_the_sandboxed_child() -> None:
    settings = {"TILE": 4}
    right = execute(RUBRIC, HEAD + RIGHT, settings, sandbox())
    assert (right.right, right.problem) == (right.total, "")
    wrong = execute(RUBRIC, HEAD + WRONG, settings, sandbox())
    assert (wrong.right, wrong.problem) == (0, "some results are wrong")


@pytest.mark.parametrize("attack", TRIED, ids=lambda attack: attack.name)
def test_the_naive_grader_loses(attack: Attack, tmp_path: Path) -> None:
    patience = SECONDS if attack.loses == "stuck" else 8 * SECONDS
    assert attack.loses in naive(attack.source, tmp_path / "course", patience)


@pytest.mark.parametrize("attack", TRIED, ids=lambda attack: attack.name)
def test_the_sandboxed_child_gives_no_points_away(attack: Attack, tmp_path: Path) -> None:
    begun = time.monotonic()
    executed = execute(
        RUBRIC, attack.source, {"TILE": 4}, sandbox(), limits=Limits(seconds=SECONDS, memory_mb=2048)
    )
    assert time.monotonic() - begun < SECONDS + 5
    path = tmp_path / f"{EXERCISE}.py"
    path.write_text(attack.source)
    report = with_execution(grade(EXERCISE, path), executed, sandboxed=True)
    assert report.outcome is not Outcome.PASS
    assert sum(check.points for check in report.checks) == 0
    assert CANARY not in repr(report)


def test_a_run_can_take_a_pass_away_and_never_give_one(tmp_path: Path) -> None:
    path = tmp_path / f"{EXERCISE}.py"
    path.write_text((ROOT / f"solutions/{EXERCISE}.py").read_text(encoding="utf-8"), encoding="utf-8")
    passed = grade(EXERCISE, path)
    executed = execute(RUBRIC, HEAD + RIGHT, {"TILE": 4}, sandbox())
    assert with_execution(passed, executed, sandboxed=True).outcome is Outcome.PASS
    broken = replace(executed, right=0, problem="some results are wrong")
    assert with_execution(passed, broken, sandboxed=True).outcome is Outcome.CANNOT_JUDGE
    failed = replace(passed, outcome=Outcome.FAIL)
    assert with_execution(failed, executed, sandboxed=True).outcome is Outcome.FAIL
    assert "WITHOUT a sandbox" in with_execution(failed, executed, sandboxed=False).notes[-1]
