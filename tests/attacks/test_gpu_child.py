"""The same attacks on the GPU child, without any sandbox: none of their Python runs, so none does a thing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from grader.gpu.device_runs import Deadlines, Launch, run_on_device
from grader.simt import parse
from grader.simt.plan import Plan, plan
from tests.attacks.corpus import CANARY, EXECUTED, HEAD, RIGHT, WRONG, Attack

pytest.importorskip("numba", reason="numba is not installed")
TRIED = EXECUTED if os.environ.get("CI") else EXECUTED[::5]
SECONDS = 20.0


def right(source: str) -> bool | None:
    """Whether the child's result is right; None where the kernel cannot be planned or has no result."""
    planned = plan(parse(source), "tiled_matmul")
    if not isinstance(planned, Plan):
        return None
    a = np.arange(15, dtype=np.float32).reshape(5, 3)
    b = np.arange(18, dtype=np.float32).reshape(3, 6)
    arguments = {"A": a, "B": b, "C": np.zeros((5, 6), np.float32), "M": 5, "N": 6, "K": 3}
    session = run_on_device(
        planned.request(),
        [Launch((2, 2), (4, 4), arguments)],
        sandbox=None,
        simulated=True,
        deadlines=Deadlines(SECONDS, SECONDS, SECONDS, SECONDS),
    )
    after = session.results[0].after
    return None if after is None else bool(np.array_equal(after["C"], a @ b))


def test_controls() -> None:
    assert right(HEAD + RIGHT) is True
    assert right(HEAD + WRONG) is False


@pytest.mark.parametrize("attack", TRIED, ids=lambda attack: attack.name)
def test_an_attack_s_python_does_nothing(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rubric.yaml", "solution.py", "journal.sqlite3", "bob.py"):
        (tmp_path / name).write_text(f"# {CANARY} {name}\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)
    begun = time.monotonic()
    assert right(attack.source) is not True
    assert time.monotonic() - begun < SECONDS + 5
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "attack", [one for one in TRIED if one.kernel == WRONG], ids=lambda attack: attack.name
)
def test_around_a_right_kernel_it_changes_no_result(attack: Attack) -> None:
    """None: its text rebinds a name that the kernel uses to something that no plan can hold."""
    assert right(attack.source_with_right_kernel) in (True, None)


def test_most_attacks_leave_a_kernel_that_can_be_planned() -> None:
    """Else the tests above would show nothing."""
    planned = [isinstance(plan(parse(one.source), "tiled_matmul"), Plan) for one in EXECUTED]
    assert sum(planned) > 0.7 * len(planned)
