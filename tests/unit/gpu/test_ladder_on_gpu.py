"""The ladder on a real GPU: every rung right at ragged sizes, and the protocol's figures in place."""

from __future__ import annotations

import pytest

from grader import ladder, ladder_files
from grader.perf.rungs import RUNGS

SIZES = [(256, 256, 256), (100, 70, 130), (1, 1, 1), (129, 257, 65)]


@pytest.mark.gpu
@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
def test_a_rung_is_right_at_every_size(rung: object) -> None:
    from grader.gpu.ladder_run import Deadlines, run_rungs

    if reason := ladder.no_gpu():
        pytest.skip(reason)
    found = run_rungs(ladder_files.folder(), SIZES, rungs=[rung], deadlines=Deadlines(timing=0.2))  # type: ignore[list-item]
    assert found.gpu
    assert [(row.sizes, row.problem) for row in found.rungs] == [(sizes, "") for sizes in SIZES]
    assert all(row.milliseconds and row.repeats for row in found.rungs)
