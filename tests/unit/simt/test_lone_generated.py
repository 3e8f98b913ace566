"""Generated loops of a few threads of each block, right ones and faulty ones: in one go as one by one."""

# ruff: noqa: E501  (kernels, a line each)
from __future__ import annotations

import random
import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from grader.simt import Run, launch, lone_notes, lone_run

THREADS = (
    *("tx == 0 and ty == 0", "tid == 0", "tx == 3 and ty == 2", "tx == 0 and ty == 0 and row < M"),
    *("tx == 0 and ty < 2", "ty == 0 and tx < 4", "tid < 2", "ty == 1 and (tx == 0 or tx == 2)"),
    *("tx == 0 and ty < 2 and row < M", "tx == t and ty == 0", "tx == 2 and ty > 1 and ty < 4"),
)
INDICES = (
    *(("r = n // T", "c = n % T"), ("r = n >> 3", "c = n & 7"), ("r, c = divmod(n, T)",)),
    *(("r, c = n // T, n % T",), ("r = n // T", "c = n - r * T"), ("c = n // T", "r = n % T")),
    *(
        ("r = n // T", "c = T - 1 - n % T"),
        ("r = n // T // 2 * 2 + n // T % 2", "c = n % T"),
        ("r, c = n // 7, n % T",),
    ),
    *(
        ("r = n // T", "c = n % (T - 1)"),
        ("r = ty + n // T", "c = n % T"),
        ("r = n // T", "c = (n + ty) % T"),
    ),
    *(("r = n // T", "c = n % T ^ 1"), ("r = (n + 1) // T", "c = (n + 1) % T")),
)
RANGES = (
    *(*("T * T",) * 4, "T * T + 1", "T * T - 1", "1, T * T", "0, T * T, 2", "T * T - 1, -1, -1"),
    *("T * T - 2, -1, -2", "0, T * T, 3", "3, T * T - 5", "-2, T * T", "tid, T * T, 2"),
)
BODIES = (
    *("As[r, c] = VALUE if GUARD else Z", "if GUARD:\n    As[r, c] = VALUE\nelse:\n    As[r, c] = Z"),
    *("if GUARD:\n    As[r, c] = VALUE", "As[r, c] = VALUE", "As[r, c] = VALUE if gr < M and gc <= K else Z"),
    "if gr < M:\n    if gc < K:\n        As[r, c] = VALUE\n    else:\n        As[r, c] = Z\nelse:\n    As[r, c] = Z",
    *("v = Z\nif GUARD:\n    v = VALUE\nAs[r, c] = v", "As[r, c] = VALUE + VALUE if GUARD else Z"),
    *("As[r, c] = VALUE + A[gr, gc - 1] if GUARD else Z", "As[r, c] = A[gr, 0] if gr < M else Z"),
    *("As[r, c] = A[gr if gr < M else 0, gc if gc < K else 0]", "As[r, 0] = VALUE if GUARD else Z"),
    *(
        "As[r, c] = Z\nif GUARD:\n    As[r, c] = VALUE",
        "As[r, c + 1] = VALUE if GUARD else Z",
        "As[r, c] = r * T + c",
    ),
    *("if c > 1:\n    As[r, c] = VALUE if GUARD else Z", "As[r, c] = As[c, r] + VALUE if GUARD else Z"),
    *(
        "if GUARD:\n    As[c, r] = VALUE\nelse:\n    As[r, c] = Z",
        "if gr < M:\n    q = c\n    As[r, q] = VALUE if GUARD else Z",
    ),
    "q = 0\nif gr < M:\n    q = gc\nAs[r, c] = A[gr, q] if GUARD else Z",
)
SHAPES = ((16, 16, 16), (13, 19, 11), (5, 9, 3), (8, 8, 16), (1, 1, 1), (22, 5, 23))


def loops(rng: random.Random) -> list[str]:
    """Nested or flat loops around a body, some of them faulty."""
    style = rng.choice(("flat", "flat", "nested", "half", "turns", "while", "whiles"))
    body = rng.choice(BODIES).split("\n")
    if style == "flat":
        head = [f"for n in range({rng.choice(RANGES)}):"]
        return head + ["    " + line for line in (*rng.choice(INDICES), *body)]
    if style == "while":
        head = ["n = 0", rng.choice(("while n < T * T:", "while n <= T * T - 1:", "while n < M * K:"))]
        return head + ["    " + line for line in (*rng.choice(INDICES), *body, "n += 1")]
    if style == "whiles":
        moved = rng.choice(("c += 1", "c = c + 1", "c += 2"))
        head = ["r = 0", "while r < T:", f"    c = {rng.choice(('0', '0', 'ty'))}", "    while c < T:"]
        return head + ["        " + line for line in (*body, moved)] + ["    r += 1"]
    row = {"nested": "x", "half": "ty * (T // 2) + x", "turns": "ty + 2 * x"}[style]
    count = rng.choice(("T", "T", "T - 1", "T + 1")) if style == "nested" else "T // 2"
    head = [f"for x in range({count}):", f"    r = {row}", "    for c in range(T):"]
    return head + ["        " + line for line in body]


def kernel(rng: random.Random) -> str:
    dtype = rng.choice(("float32", "float32", "float64", "int32"))
    filled = "\n".join(" " * 12 + line for line in loops(rng))
    for name, text in (
        ("VALUE", "A[gr, gc]"),
        ("GUARD", "gr < M and gc < K"),
        ("gr", "(cuda.blockIdx.y * T + r)"),
        ("gc", "(t * T + c)"),
    ):
        filled = re.sub(rf"\b{name}\b", text, filled)
    before = rng.choice(("", "", "", "r = ty", "n = tid", "r, c = ty, tx"))
    leaves = rng.choice(("", "", "", "", "if tx > 3: return"))
    first = rng.choice(("", "", "", "if t == 0 or ty > 1: As[ty, tx] = Z"))
    barrier = [rng.choice(("cuda.syncthreads()",) * 4 + ("",)) for _ in range(3)]
    text = f"""from numba import cuda, float32, float64, int32
T = 8

@cuda.jit
def kernel(A, B, C, M, N, K):
    As = cuda.shared.array((T, T), {dtype})
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tid = ty * T + tx
    row, col = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx
    {before}
    {leaves}
    acc = Z
    for t in range((K + T - 1) // T):
        {first}
        {barrier[0]}
        if {rng.choice(THREADS)}:
{filled}
        {barrier[1]}
        for k in range(T):
            if t * T + k < K and col < N:
                acc += As[ty, k] * B[t * T + k, col]
        {barrier[2]}
    if row < M and col < N:
        C[row, col] = acc
"""
    return re.sub(r"\bZ\b", "0" if dtype == "int32" else f"{dtype}(0.0)", text)


def run(source: str, shape: tuple[int, int, int]) -> tuple[Run, Any]:
    m, n, k = shape
    rng = np.random.default_rng(7)
    dtype = re.search(r"\(T, T\), (\w+)", source)[1]  # type: ignore[index]
    a, b = (rng.integers(-4, 5, size).astype(dtype) for size in ((m, k), (k, n)))
    c = np.full((m, n), -1, dtype)
    done = launch(source, "kernel", grid=(-(-n // 8), -(-m // 8)), block=(8, 8), args=(a, b, c, m, n, k))
    return done, c


@pytest.mark.parametrize("seed", range(40))
def test_generated_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        source, shape = kernel(rng), rng.choice(SHAPES)
        done, c = run(source, shape)
        with monkeypatch.context() as patch:
            patch.setattr(lone_run, "take", lambda fr, m, loop, values: values)
            plain, wanted = run(source, shape)
        np.testing.assert_array_equal(c, wanted, err_msg=source)
        assert done.findings == plain.findings, source
        assert asdict(done.counters) == asdict(plain.counters), source


def test_some_of_them_are_run_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    commit, committed = lone_notes.Notes.commit, set()
    monkeypatch.setattr(lone_notes.Notes, "commit", lambda notes: (committed.add(seed), commit(notes)))
    for seed in range(60):
        run(kernel(random.Random(seed)), (13, 19, 11))
    assert len(committed) >= 10
