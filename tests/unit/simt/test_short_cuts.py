"""What the machine leaves out where linear forms or repetition tell the result, against working it out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from grader.simt import addresses, branches, launch, race_check, race_grid, requests
from grader.simt.affine import Affine
from grader.simt.geometry import Geometry
from grader.simt.requests import Pattern, cost
from tests.unit.simt.products import launched, product

SEEDS = range(200, 280)


def _shown(seed: int) -> tuple[Any, ...]:
    run, C = launched(*product(seed))
    return run.findings, C.tobytes(), {at: part.tolist() for at, part in run.written.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_interval_like_one_before_has_its_conflicts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    short = _shown(seed)
    monkeypatch.setattr(race_check, "form_of", lambda *_: None)
    assert short == _shown(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_dismissed_by_linear_forms_have_no_conflict(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = _shown(seed)
    monkeypatch.setattr(race_check, "plainly_free", lambda *_: False)
    monkeypatch.setattr(race_grid.GridShadow, "_alone", lambda *_: False)
    assert short == _shown(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_addresses_of_threads_that_take_part(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guarded index may leave its array for the others: the linear address does for those that count."""
    short = _shown(seed)
    monkeypatch.setattr(addresses, "_lies_inside", lambda *_: False)
    assert short == _shown(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_elements_that_both_sides_store_are_never_skipped(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    short = _shown(seed)
    monkeypatch.setattr(branches, "_covered", lambda *_: frozenset())
    assert short == _shown(seed)


LEFT_EARLY = """
from numba import cuda, float32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for i in range(3):
        if i > 0 and t >= 16:
            break
        if t < 8:
            S[t] = x[t]
        else:
            S[t] = float32(1)
        cuda.syncthreads()
        acc += S[31 - t]
    out[t] = acc
"""


def test_threads_that_left_the_loop_skip_what_both_sides_store() -> None:
    x, out = np.ones(32, np.float32), np.zeros(32, np.float32)

    run = launch(LEFT_EARLY, "kernel", grid=1, block=32, args=(x, out))

    assert "stale-shared-read" in {finding.name for finding in run.findings}


@pytest.mark.parametrize("seed", range(60))
def test_cost_of_one_block_times_the_blocks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = tuple(int(n) for n in rng.integers(1, 5, 3))
    block = tuple(int(n) for n in rng.choice([1, 2, 3, 4, 8, 16], 3))
    chunk = next(Geometry(grid, block).chunks())
    coefs = tuple(int(n) for n in rng.choice([0, 1, 2, 5, 8, 16, 37, 64], len(chunk.axes)))
    space, itemsize = str(rng.choice(["global", "shared"])), int(rng.choice([1, 2, 4, 8, 16]))
    pattern = Pattern(space, itemsize, 32, Affine(int(rng.integers(0, 50)), coefs, chunk.extents), None)

    assert requests._cost(pattern, chunk) == requests._of_all_blocks(pattern, chunk)
    masked = dataclasses.replace(pattern, mask=rng.random(chunk.shape) < 0.7)
    for each in (pattern, masked):
        assert cost(each, chunk) == cost(each, chunk) == requests._of_all_blocks(each, chunk)
