"""Loops of a few threads in each block, run in one go: the same results, findings and counters as one by one.

The oracle is the machine itself, told to take every iteration for itself; what a kernel computes is
checked against NumPy besides.
"""

# ruff: noqa: E501  (kernels, a line each)
from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from grader.simt import Run, launch, lone_notes, lone_run

HEAD = """from numba import cuda, float32, int32
TILE = 8

@cuda.jit
def kernel(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0.0)
    for t in range((K + TILE - 1) // TILE):
"""
TAIL = """
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""
B_TILE = """
        Bs[ty, tx] = B[t * TILE + ty, col] if t * TILE + ty < K and col < N else float32(0.0)"""
GUARDED = """
        if tx == 0 and ty == 0:
            for i in range(TILE):
                for j in range(TILE):
                    r = cuda.blockIdx.y * TILE + i
                    c = t * TILE + j
                    if r < M and c < K:
                        As[i, j] = A[r, c]
                    else:
                        As[i, j] = float32(0.0)"""
FLAT = """
        if tx == 0 and ty == 0:
            for n in range(TILE * TILE):
                INDICES
                r, c = cuda.blockIdx.y * TILE + i, t * TILE + j
                As[i, j] = A[r, c] if r < M and c < K else float32(0.0)"""
BY_TWO = """
        if tx == 0 and ty < 2:
            for x in range(TILE // 2):
                i = ty * (TILE // 2) + x
                for j in range(TILE):
                    r = cuda.blockIdx.y * TILE + i
                    c = t * TILE + j
                    if r < M and c < K:
                        As[i, j] = A[r, c]
                    else:
                        As[i, j] = float32(0.0)"""

#: Bodies that fill As, by one thread or a few; B is loaded as usual.
RIGHT = {
    "guarded": GUARDED,
    "the last thread": GUARDED.replace("tx == 0 and ty == 0", "tx == TILE - 1 and ty == 3"),
    "by an expression": """
        if tx == 0 and ty == 0:
            for i in range(TILE):
                for j in range(TILE):
                    As[i, j] = A[cuda.blockIdx.y * TILE + i, t * TILE + j] if cuda.blockIdx.y * TILE + i < M and t * TILE + j < K else float32(0.0)""",
    "columns first": GUARDED.replace("for i in range", "for x in range")
    .replace("for j in", "for i in")
    .replace("for x in", "for j in"),
    "one flat loop": """
        if tx == 0 and ty == 0:
            for n in range(TILE * TILE):
                i = n // TILE
                j = n % TILE
                As[i, j] = A[cuda.blockIdx.y * TILE + i, t * TILE + j] if cuda.blockIdx.y * TILE + i < M and t * TILE + j < K else float32(0.0)""",
    **{
        f"one flat loop, {name}": FLAT.replace("INDICES", indices)
        for name, indices in {
            "shifted and masked": "i, j = n >> 3, n & 7",
            "divmod": "i, j = divmod(n, TILE)",
            "without a remainder": "i = n // TILE\n                j = n - i * TILE",
            "the block's own width": "i, j = n // cuda.blockDim.x, n % cuda.blockDim.x",
            "two divisors": "i = n // (2 * TILE) * 2 + n // TILE % 2\n                j = n % TILE // 2 * 2 + n % 2",
            "columns first": "j, i = divmod(n, TILE)",
            "mirrored": "i, j = TILE - 1 - n // TILE, TILE - 1 - n % TILE",
        }.items()
    },
    "one flat loop, backwards": FLAT.replace("INDICES", "i, j = divmod(n, TILE)").replace(
        "range(TILE * TILE)", "range(TILE * TILE - 1, -1, -1)"
    ),
    "one flat loop, in two halves": FLAT.replace("INDICES", "i, j = divmod(n, TILE)").replace(
        "range(TILE * TILE)", "range(0, TILE * TILE, 2)"
    )
    + FLAT.replace("INDICES", "i, j = divmod(n, TILE)").replace(
        "range(TILE * TILE)", "range(1, TILE * TILE, 2)"
    ),
    "a flat while": FLAT.replace("INDICES", "i, j = divmod(n, TILE)").replace(
        "for n in range(TILE * TILE)", "n = 0\n            while n < TILE * TILE"
    )
    + "\n                n += 1",
    "nested whiles": GUARDED.replace("for i in range(TILE)", "i = 0\n            while i < TILE").replace(
        "for j in range(TILE)", "j = 0\n                while j <= TILE - 1"
    )
    + "\n                    j = j + 1\n                i += 1",
    "half a tile by each of two": BY_TWO,
    "every other row": BY_TWO.replace("ty * (TILE // 2) + x", "ty + 2 * x"),
    "a quarter of the columns by each of four": BY_TWO.replace("ty < 2", "ty < 4")
    .replace("TILE // 2", "TILE // 4")
    .replace("    i = ", "    j = ")
    .replace("for j in", "for i in"),
    "zeroed first": """
        if tx == 0 and ty == 0:
            for i in range(TILE):
                for j in range(TILE):
                    As[i, j] = 0
            for i in range(TILE):
                for j in range(TILE):
                    if row + i < M and t * TILE + j < K:
                        As[i, j] = A[row + i, t * TILE + j]""",
    "backwards": GUARDED.replace(
        "in range(TILE):\n                for", "in range(TILE - 1, -1, -1):\n                for"
    ),
    "a step of two": GUARDED.replace("for j in range(TILE):", "for j in range(0, TILE, 2):")
    + GUARDED.replace("for j in range(TILE):", "for j in range(1, TILE, 2):"),
    "rows under a guard": """
        if tx == 0 and ty == 0:
            for i in range(TILE):
                r = cuda.blockIdx.y * TILE + i
                if r < M:
                    for j in range(TILE):
                        c = t * TILE + j
                        As[i, j] = A[r, c] if c < K else float32(0.0)
                else:
                    for j in range(TILE):
                        As[i, j] = float32(0.0)""",
    "scaled": GUARDED.replace("A[r, c]", "A[r, c] * float32(2.0) * float32(0.5)"),
    "a triangle": """
        if tx == 0 and ty == 0:
            for i in range(TILE):
                r = cuda.blockIdx.y * TILE + i
                for j in range(i):
                    As[i, j] = A[r, t * TILE + j] if r < M and t * TILE + j < K else float32(0.0)
                for j in range(i, TILE):
                    As[i, j] = A[r, t * TILE + j] if r < M and t * TILE + j < K else float32(0.0)""",
    "twice": GUARDED + GUARDED,
    "of blocks that have rows": GUARDED.replace("tx == 0 and ty == 0", "tx == 0 and ty == 0 and row < M"),
    "the sum carried": GUARDED.replace("            for i", "            s = 0\n            for i").replace(
        "As[i, j] = float32(0.0)", "As[i, j] = float32(0.0)\n                    s += 1"
    ),
}
WRONG = {
    "no zero fill": GUARDED.rpartition("                    else")[0],
    "no guard": """
        if tx == 0 and ty == 0:
            for i in range(TILE):
                for j in range(TILE):
                    As[i, j] = A[cuda.blockIdx.y * TILE + i, t * TILE + j]""",
    "past the row": GUARDED.replace("c < K", "c <= K"),
    "past the tile": GUARDED.replace("for j in range(TILE)", "for j in range(TILE + 1)"),
    "one row short": GUARDED.replace("for i in range(TILE)", "for i in range(TILE - 1)"),
    "transposed": GUARDED.replace("As[i, j]", "As[j, i]"),
    "one word": GUARDED.replace("As[i, j] = A", "As[i, 0] = A"),
    "by every block's own thread": GUARDED.replace(
        "for i in range(TILE)", "for i in range(ty, TILE)"
    ).replace("As[i, j]", "As[i, j + tx]"),
    "two threads": GUARDED.replace("tx == 0 and ty == 0", "tx == 0 and (ty == 0 or ty == 1)"),
    "two loops, two threads": GUARDED + GUARDED.replace("tx == 0 and ty == 0", "tx == 1 and ty == 0"),
    "another value": GUARDED
    + GUARDED.replace("tx == 0 and ty == 0", "tx == 1 and ty == 0").replace("float32(0.0)", "float32(1.0)"),
    "a wrong modulus": FLAT.replace("INDICES", "i, j = n // TILE, n % (TILE - 1)"),
    "a wrong divisor": FLAT.replace("INDICES", "i, j = n // (TILE + 1), n % TILE"),
    "flat, one too many": FLAT.replace("INDICES", "i, j = divmod(n, TILE)").replace(
        "TILE * TILE)", "TILE * TILE + 1)"
    ),
    "flat, one too few": FLAT.replace("INDICES", "i, j = divmod(n, TILE)").replace(
        "TILE * TILE)", "TILE * TILE - 1)"
    ),
    "flat, no zero fill": FLAT.replace("INDICES", "i, j = divmod(n, TILE)").replace(
        "As[i, j] = A[r, c] if r < M and c < K else float32(0.0)",
        "if r < M and c < K:\n                    As[i, j] = A[r, c]",
    ),
    "two, no zero fill": BY_TWO.rpartition("                    else")[0],
    "two, no guard": BY_TWO.replace("if r < M and c < K", "if c < K or r < M"),
    "two, past the tile": BY_TWO.replace("range(TILE // 2)", "range(TILE // 2 + 1)"),
    "two, the same rows": BY_TWO.replace("ty * (TILE // 2) + x", "ty * (TILE // 2 - 1) + x"),
    "two, one row short": BY_TWO.replace("range(TILE // 2)", "range(TILE // 2 - 1)"),
    "every other row of six": BY_TWO.replace("ty * (TILE // 2) + x", "ty + 2 * x").replace(
        "range(TILE // 2)", "range(TILE // 2 - 1)"
    ),
    "a row that is set for all threads": GUARDED.replace("        if tx", "        s = ty\n        if tx")
    .replace("c = t", "s = i\n                    c = t")
    .replace("As[i, j]", "As[s, j]"),
    "a row that is set under a guard": GUARDED.replace(
        "As[i, j] = A", "s = i\n                        As[s, j] = A"
    ),
    "the same element twice": GUARDED.replace("A[r, c]", "A[r, c] + A[r, c] - A[r, 0]"),
    "an element beside it": GUARDED.replace("A[r, c]", "A[r, c] + A[r, c - 1] - A[r, 0]"),
    "from the tile itself": GUARDED.replace("A[r, c]", "As[j, i]"),
    "an undefined name": GUARDED.replace("A[r, c]", "A[r, c] + later").replace(
        "        if tx == 0", "        if t > 0:\n            later = float32(1.0)\n        if tx == 0"
    ),
}
SHAPES = [(16, 16, 16), (13, 21, 19), (5, 9, 3), (1, 1, 1)]


def run(source: str, shape: tuple[int, int, int]) -> tuple[Run, Any]:
    m, n, k = shape
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, size).astype(np.float32) for size in ((m, k), (k, n)))
    c = np.full((m, n), -1, np.float32)
    grid = (-(-n // 8), -(-m // 8))
    done = launch(source, "kernel", grid=grid, block=(8, 8), args=(a, b, c, m, n, k))
    return done, (a, b, c)


def both(source: str, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> tuple[Run, Any]:
    """The run in one go, after it was compared with the one iteration by iteration."""
    done, (a, b, c) = run(source, shape)
    with monkeypatch.context() as patch:
        patch.setattr(lone_run, "take", lambda fr, m, loop, indices: indices)
        plain, (_, _, wanted) = run(source, shape)
    np.testing.assert_array_equal(c, wanted)
    assert done.findings == plain.findings
    assert asdict(done.counters) == asdict(plain.counters)
    return done, (a, b, c)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", RIGHT)
def test_right_loops(name: str, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    done, (a, b, c) = both(HEAD + RIGHT[name] + B_TILE + TAIL, shape, monkeypatch)
    assert [f for f in done.findings if f.severity != "note"] == []
    np.testing.assert_array_equal(c, a @ b)


def test_both_tiles_in_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    second = GUARDED.partition("for j in range(TILE):\n")[2]
    second = second.replace("cuda.blockIdx.y * TILE + i", "t * TILE + i").replace(
        "c = t * TILE", "c = cuda.blockIdx.x * TILE"
    )
    second = second.replace("r < M and c < K", "r < K and c < N").replace("As[", "Bs[").replace("A[r", "B[r")
    for shape in SHAPES:
        _, (a, b, c) = both(HEAD + GUARDED + "\n" + second + TAIL, shape, monkeypatch)
        np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("name", sorted(set(RIGHT) - {"the sum carried"}))
def test_such_loops_are_really_run_in_one_go(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    committed = []
    commit = lone_notes.Notes.commit

    def spy(notes: Any) -> None:
        committed.append(notes.spent)
        commit(notes)

    monkeypatch.setattr(lone_notes.Notes, "commit", spy)
    run(HEAD + RIGHT[name] + B_TILE + TAIL, (16, 16, 16))
    # Each of the two rounds has eight rows of eight, or fewer by a thread; of a triangle's, the long ones alone.
    assert sum(committed) >= 2 * 14


def test_a_loop_that_runs_out_of_fuel_does_so_at_the_same_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    source = HEAD + GUARDED + B_TILE + TAIL

    def findings(fuel: int) -> Any:
        a, c = np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
        return launch(
            source, "kernel", grid=(2, 2), block=(8, 8), args=(a, a, c, 16, 16, 16), fuel=fuel
        ).findings

    for fuel in (3, 30, 70, 100, 165):
        in_one_go = findings(fuel)
        with monkeypatch.context() as patch:
            patch.setattr(lone_run, "take", lambda fr, m, loop, indices: indices)
            assert in_one_go == findings(fuel), fuel


@pytest.mark.parametrize("shape", SHAPES[1:3])
@pytest.mark.parametrize("without", ["", "first", "second"])
@pytest.mark.parametrize("name", [*WRONG, *RIGHT])
def test_faulty_loops(
    name: str, without: str, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    head, middle, end = TAIL.split("        cuda.syncthreads()\n")
    first, second = ("" if without == one else "        cuda.syncthreads()\n" for one in ("first", "second"))
    tail = head + first + middle + second + end
    both(HEAD + {**WRONG, **RIGHT}[name] + B_TILE + tail, shape, monkeypatch)


def test_planning_a_loop_refuses_nothing() -> None:
    """A name that holds arrays of several ranks in one round."""
    source = (
        "from numba import cuda\n@cuda.jit\ndef kernel(a, out):\n    for i in range(1):\n"
        "        a = a.reshape(3 * 2)\n        a = a.reshape(3, 2)\n    for i in range(a.shape[0]):\n"
        "        for j in range(a.shape[1]):\n            out[i, j] = a[i, j]\n"
    )
    a, out = np.arange(6, dtype=np.float32).reshape(3, 2), np.zeros((3, 2), np.float32)
    assert launch(source, "kernel", grid=1, block=1, args=(a, out)).findings == ()
    assert np.array_equal(out, a)
