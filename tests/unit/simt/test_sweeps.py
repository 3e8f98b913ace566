"""Loops whose iterations are taken together against the same loops gone through one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.simt import Program, launch, loop_runs, loops, parse
from tests.unit.simt.products import HEAD, launched, product


@pytest.mark.parametrize("seed", range(120))
def test_swept_loops_are_what_they_are_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    swept, got = launched(*product(seed))
    monkeypatch.setattr(loops, "plan_of", lambda *_: None)
    one_by_one, expected = launched(*product(seed))

    assert got.tobytes() == expected.tobytes()
    assert swept.findings == one_by_one.findings
    assert swept.counters == one_by_one.counters
    assert swept.iterations == one_by_one.iterations
    assert {at: part.tolist() for at, part in swept.written.items()} == {
        at: part.tolist() for at, part in one_by_one.written.items()
    }


REGISTER_TILE = (
    HEAD
    + """    As = cuda.shared.array((16, 8), float32)
    Bs = cuda.shared.array((8, 16), float32)
    a = cuda.local.array(2, float32)
    b = cuda.local.array(2, float32)
    acc = cuda.local.array((2, 2), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    for i in range(2):
        for j in range(2):
            {zero}
    for t in range(K // 8):
        for i in range(2):
            As[i * 8 + ty, tx] = A[i * 8 + ty, t * 8 + tx]
            Bs[ty, i * 8 + tx] = B[t * 8 + ty, i * 8 + tx]
        {barrier}
        for k in range(8):
            for i in range(2):
                a[i] = As[ty * 2 + i, k]
                b[i] = Bs[k, tx * 2 + i]
            for i in range(2):
                for j in range(2):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(2):
        for j in range(2):
            C[ty * 2 + i, tx * 2 + j] = acc[i, j]
"""
)


@pytest.mark.parametrize("zero", ["acc[i, j] = float32(0.0)", "acc[i, 0] = float32(0.0)"])
@pytest.mark.parametrize("barrier", ["cuda.syncthreads()", "pass"])
def test_register_tiles(zero: str, barrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = REGISTER_TILE.format(zero=zero, barrier=barrier)

    results = []
    for whole in (False, True):
        if not whole:
            monkeypatch.setattr(loops, "plan_of", lambda *_: None)
        rng = np.random.default_rng(5)
        A, B = rng.random((16, 40), dtype=np.float32), rng.random((40, 16), dtype=np.float32)
        C = np.zeros((16, 16), np.float32)
        program = Program(source, parse(source).tree)
        run = launch(program, "kernel", grid=1, block=(8, 8), args=(A, B, C, 16, 16, 40))
        monkeypatch.undo()
        results.append((C.tobytes(), run.findings, run.counters, run.iterations))

    assert results[0] == results[1]


def test_most_products_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above would show nothing if no loop were taken together."""
    taken = []
    original = loop_runs.sweep

    def counting(*args: Any) -> int:
        taken.append(original(*args))
        return taken[-1]

    monkeypatch.setattr(loop_runs, "sweep", counting)
    for seed in range(60):
        launched(*product(seed))

    assert sum(done > 0 for done in taken) > len(taken) // 2 > 50
