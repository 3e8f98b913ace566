"""Undefined and stale words: what counts as one, and where it leads."""

# ruff: noqa: E501  (kernels and lists of cases, a line each)
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.records import Finding
from grader.simt import Run, launch

HEAD = "from numba import cuda, float32, int32\n\n@cuda.jit\n"


def run(body: str, args: tuple[Any, ...], *, grid: Any = 1, block: Any = 8) -> Run:
    text = body.replace("\n", "\n    ")
    return launch(f"{HEAD}def kernel(a, out):\n    {text}\n", "kernel", grid=grid, block=block, args=args)


def found(result: Run, name: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.name == name]


def floats(size: int) -> tuple[Any, Any]:
    return np.arange(1, size + 1, dtype=np.float32), np.zeros(size, np.float32)


TILES = (
    "S = cuda.shared.array(8, float32)\nt = cuda.threadIdx.x\ntotal = float32(0)\n"
    "for tile in range((a.size + 7) // 8):\n    i = tile * 8 + t\n{load}\n    cuda.syncthreads()\n"
    "    for k in range(8):\n        total += S[k]\n    cuda.syncthreads()\nout[t] = total"
)


def tiled(load: str) -> str:
    return TILES.format(load="\n".join("    " + line for line in load.splitlines()))


def test_a_skipped_load_leaves_a_stale_word() -> None:
    a, _ = floats(20)
    out = np.zeros(8, np.float32)
    (finding,) = found(run(tiled("if i < a.size:\n    S[t] = a[i]"), (a, out)), "stale-shared-read")
    assert finding.severity == "note"
    assert finding.counts["skipped"] == 4
    assert finding.counts["block_threads"] == 8
    assert finding.facts["reaches"] == "output"
    assert finding.slot is not None
    assert finding.slot.index == (4,)
    assert finding.loops == (("tile", 2), ("k", 4))
    assert out[0] == a.sum() + a[12:16].sum()


def test_zero_first_then_a_guarded_load_is_fresh() -> None:
    a, _ = floats(20)
    out = np.zeros(8, np.float32)
    result = run(tiled("S[t] = 0\nif i < a.size:\n    S[t] = a[i]"), (a, out))
    assert [finding.name for finding in result.findings] == []
    assert out.tolist() == [a.sum()] * 8


def test_a_load_in_both_branches_is_fresh() -> None:
    a, _ = floats(20)
    out = np.zeros(8, np.float32)
    assert run(tiled("if i < a.size:\n    S[t] = a[i]\nelse:\n    S[t] = 0"), (a, out)).findings == ()
    assert run(tiled("S[t] = a[i] if i < a.size else float32(0)"), (a, out)).findings == ()


def test_a_double_buffer_is_fresh() -> None:
    body = (
        "S = cuda.shared.array((2, 8), float32)\nt = cuda.threadIdx.x\ntotal = float32(0)\nS[0, t] = a[t]\n"
        "for tile in range(a.size // 8):\n    cuda.syncthreads()\n    if tile + 1 < a.size // 8:\n"
        "        S[(tile + 1) % 2, t] = a[(tile + 1) * 8 + t]\n    for k in range(8):\n"
        "        total += S[tile % 2, k]\nout[t] = total"
    )
    a, _ = floats(40)
    out = np.zeros(8, np.float32)
    assert run(body, (a, out)).findings == ()
    assert out.tolist() == [a.sum()] * 8


def test_a_halo_loaded_once_is_fresh() -> None:
    body = (
        "S = cuda.shared.array(10, float32)\nt = cuda.threadIdx.x\nif t < 2:\n    S[t * 9] = 0\n"
        "for step in range(3):\n    S[t + 1] = a[t] + float32(step)\n    cuda.syncthreads()\n"
        "    out[t] += S[t] + S[t + 2]\n    cuda.syncthreads()"
    )
    assert run(body, floats(8)).findings == ()


def test_an_accumulator_updated_by_some_is_not_stale() -> None:
    body = (
        "S = cuda.shared.array(8, float32)\nt = cuda.threadIdx.x\nS[t] = 0\nfor step in range(4):\n"
        "    if a[t] > step * 2:\n        S[t] += float32(1)\n    cuda.syncthreads()\nout[t] = S[t]"
    )
    assert run(body, floats(8)).findings == ()


SORT = (
    "S = cuda.shared.array(8, float32)\nt = cuda.threadIdx.x\nS[t] = a[t]\ncuda.syncthreads()\nk = 2\n"
    "while k <= 8:\n    j = k >> 1\n    while j > 0:\n        p = t ^ j\n        if p > t:\n{step}\n"
    "        cuda.syncthreads()\n        j >>= 1\n    k <<= 1\nout[t] = S[t]"
)


@pytest.mark.parametrize(
    "step",
    [
        "if (S[t] > S[p]) == ((t & k) == 0):\n    S[t], S[p] = S[p], S[t]",
        "if (S[t] > S[p]) == ((t & k) == 0):\n    x = S[t]\n    S[t] = S[p]\n    S[p] = x",
    ],
)
def test_words_that_are_exchanged_in_place_are_not_stale(step: str) -> None:
    a = np.array([5, 3, 8, 1, 7, 2, 6, 4], np.float32)
    out = np.zeros(8, np.float32)
    step = "\n".join(" " * 12 + line for line in step.splitlines())
    result = run(SORT.format(step=step), (a, out))
    assert result.findings == ()
    assert out.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_tree_sum_in_place_has_no_stale_words() -> None:
    a, out = floats(8)
    body = (
        "S = cuda.shared.array(8, float32)\nt = cuda.threadIdx.x\nS[t] = a[t]\ncuda.syncthreads()\nd = 4\n"
        "while d > 0:\n    if t < d:\n        S[t] = S[t] + S[t + d]\n    cuda.syncthreads()\n    d //= 2\n"
        "out[t] = S[0]"
    )
    assert run(body, (a, out)).findings == ()
    assert out.tolist() == [36] * 8


def test_poison_follows_arithmetic_and_reaches_the_output() -> None:
    body = (
        "S = cuda.shared.array(8, int32)\nt = cuda.threadIdx.x\nif t != 5:\n    S[t] = t\ncuda.syncthreads()\n"
        "v = S[t] * 2 + 1\nw = v if t > 3 else 0\nout[t] = w"
    )
    (finding,) = found(run(body, floats(8)), "uninitialised-shared-read")
    assert (finding.severity, finding.facts["reaches"], finding.counts["threads"]) == ("error", "output", 1)
    assert finding.threads[0].thread == (5, 0, 0)


def test_poison_that_leads_nowhere_is_a_note() -> None:
    body = (
        "S = cuda.shared.array(8, int32)\nt = cuda.threadIdx.x\nif t != 5:\n    S[t] = t\ncuda.syncthreads()\n"
        "v = S[t] * 2\nif t != 5:\n    out[t] = v"
    )
    (finding,) = found(run(body, floats(8)), "uninitialised-shared-read")
    assert (finding.severity, finding.facts["reaches"]) == ("note", "nothing")


def test_a_value_kept_from_a_defined_word_stays_clean() -> None:
    """The word becomes stale after it was read: what was read then is none the worse."""
    body = (
        "S = cuda.shared.array(8, float32)\nt = cuda.threadIdx.x\nS[t] = a[t]\ncuda.syncthreads()\nv = S[t]\n"
        "cuda.syncthreads()\nif t < 4:\n    S[t] = 0\ncuda.syncthreads()\nout[t] = v"
    )
    assert run(body, floats(8)).findings == ()


def test_poison_kept_in_a_variable_stays_poison() -> None:
    """The word is written after it was read: too late for what was read."""
    body = "S = cuda.shared.array(8, float32)\nt = cuda.threadIdx.x\nv = S[t]\nS[t] = a[t]\ncuda.syncthreads()\nout[t] = v"
    (finding,) = found(run(body, floats(8)), "uninitialised-shared-read")
    assert (finding.severity, finding.counts["threads"]) == ("error", 8)


def test_a_clean_operand_that_decides_alone_hides_poison() -> None:
    body = (
        "S = cuda.shared.array(8, float32)\nt = cuda.threadIdx.x\nif t < 4:\n    S[t] = a[t]\ncuda.syncthreads()\n"
        "if t < 4 and S[t] > 0:\n    out[t] = 1"
    )
    assert run(body, floats(8)).errors == ()


def test_undefined_is_told_block_by_block() -> None:
    body = (
        "S = cuda.shared.array(4, float32)\nt, b = cuda.threadIdx.x, cuda.blockIdx.x\nif b != 2:\n    S[t] = 1\n"
        "cuda.syncthreads()\nout[b * 4 + t] = S[t]"
    )
    (finding,) = found(run(body, floats(16), grid=4, block=4), "uninitialised-shared-read")
    assert finding.counts["threads"] == 4
    assert finding.threads[0].block == (2, 0, 0)


def test_local_words_are_undefined_thread_by_thread() -> None:
    body = "L = cuda.local.array(2, float32)\nt = cuda.threadIdx.x\nif t != 3:\n    L[1] = t\nout[t] = L[1]"
    (finding,) = found(run(body, floats(8)), "uninitialised-local-read")
    assert (finding.severity, finding.counts["threads"]) == ("error", 1)
    assert finding.slot is not None
    assert (finding.slot.space, finding.slot.index) == ("local", (1,))
