"""Barriers: complete, divergent, with threads that have left, of one block among many, of a warp."""

# ruff: noqa: E501  (kernels and lists of cases, a line each)
from __future__ import annotations

import numpy as np
import pytest

from grader.records import Finding
from grader.simt import Run, launch

HEAD = "from numba import cuda, float32, int32\n\n@cuda.jit\ndef kernel(a, out):\n    t, b = cuda.threadIdx.x, cuda.blockIdx.x\n"


def run(body: str, *, grid: int = 1, block: int = 32) -> Run:
    a = np.arange(512, dtype=np.int32)
    source = HEAD + "    " + body.replace("\n", "\n    ") + "\n"
    return launch(source, "kernel", grid=grid, block=block, args=(a, np.zeros(grid * block, np.int32)))


def one(result: Run, name: str) -> Finding:
    (finding,) = [finding for finding in result.findings if finding.name == name]
    return finding


def names(result: Run) -> set[str]:
    return {finding.name for finding in result.findings if finding.severity != "note"}


def test_a_barrier_that_part_of_a_block_reaches() -> None:
    finding = one(run("if t < 5:\n    cuda.syncthreads()\nout[b * 32 + t] = t", grid=3), "divergent-barrier")
    assert dict(finding.counts) == {"arrived": 5, "live": 32, "blocks": 3}
    assert [thread.thread[0] for thread in finding.threads] == [0, 5]
    assert finding.primary is not None
    assert finding.secondary is not None
    assert (finding.primary.line, finding.secondary.line) == (7, 6)


def test_a_branch_that_whole_blocks_take() -> None:
    body = (
        "S = cuda.shared.array(32, int32)\nif b % 2 == 0:\n    S[t] = t\n    cuda.syncthreads()\n"
        "    out[b * 32 + t] = S[31 - t]\nelse:\n    out[b * 32 + t] = 0"
    )
    result = run(body, grid=4)
    assert result.findings == ()
    assert result.counters.barriers == 1


def test_threads_that_have_left_are_not_waited_for() -> None:
    body = "if t >= 20:\n    return\ncuda.syncthreads()\nout[31 - t] = t"
    finding = one(run(body), "exit-before-barrier")
    assert (finding.severity, dict(finding.counts)) == ("warning", {"exited": 12, "live": 20, "blocks": 1})
    assert "divergent-barrier" not in names(run(body))


def test_whole_blocks_that_have_left_are_no_matter() -> None:
    assert run("if b == 1:\n    return\ncuda.syncthreads()\nout[b * 32 + t] = t", grid=3).findings == ()


def test_leaving_after_the_last_barrier_is_no_matter() -> None:
    body = "cuda.syncthreads()\nif t >= 20:\n    return\nout[31 - t] = t"
    assert run(body).findings == ()


def test_two_barriers_met_by_two_halves() -> None:
    result = run("if t < 16:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()\nout[t] = t")
    lines = [f.primary.line for f in result.findings if f.name == "divergent-barrier" and f.primary]
    assert lines == [7, 9]


def test_a_loop_with_a_trip_count_for_each_block() -> None:
    body = (
        "S = cuda.shared.array(32, int32)\nS[t] = 0\nfor step in range(b):\n    cuda.syncthreads()\n    v = S[31 - t]\n"
        "    cuda.syncthreads()\n    S[t] = v + 1\nout[b * 32 + t] = S[t]"
    )
    assert run(body, grid=4).findings == ()


def test_a_block_at_its_barrier_does_not_clear_its_neighbours() -> None:
    """Block 0 goes through a barrier between write and read, block 1 does not."""
    body = "S = cuda.shared.array(32, int32)\nS[t] = t\nif b == 0:\n    cuda.syncthreads()\nout[b * 32 + t] = S[31 - t]"
    finding = one(run(body, grid=2), "shared-read-before-barrier")
    assert {thread.block for thread in finding.threads} == {(1, 0, 0)}
    assert finding.counts["words"] == 32


def test_votes() -> None:
    out = np.zeros(96, np.int32)
    source = (
        HEAD
        + "    out[b * 32 + t] = cuda.syncthreads_or(int(a[t] == 31 - b)) + 10 * cuda.syncthreads_and(int(a[t] >= b))\n"
    )
    launch(source, "kernel", grid=3, block=32, args=(np.arange(32, dtype=np.int32), out))
    assert out.tolist() == [11] * 32 + [1] * 64


def test_a_warp_barrier_orders_its_warp() -> None:
    body = (
        "S = cuda.shared.array(64, int32)\nS[t] = a[t]\ncuda.syncwarp()\nv = S[t ^ 1]\ncuda.syncwarp()\nS[t] = v\n"
        "cuda.syncthreads()\nout[t] = S[63 - t]"
    )
    assert run(body, block=64).findings == ()


def test_a_warp_barrier_does_not_order_two_warps() -> None:
    body = "S = cuda.shared.array(64, int32)\nS[t] = a[t]\ncuda.syncwarp()\nout[t] = S[t ^ 32]"
    finding = one(run(body, block=64), "shared-read-before-barrier")
    assert (finding.facts["scope"], finding.counts["words"]) == ("block", 64)
    first, second = (thread.thread[0] // 32 for thread in finding.threads)
    assert first != second


def test_a_hazard_within_a_warp_before_its_barrier_is_kept() -> None:
    body = "S = cuda.shared.array(64, int32)\nS[t] = a[t]\nv = S[t ^ 1]\ncuda.syncwarp()\nout[t] = v"
    finding = one(run(body, block=64), "shared-read-before-barrier")
    assert finding.facts["scope"] == "warp"


def test_a_warp_tail_with_barriers_is_right() -> None:
    body = (
        "S = cuda.shared.array(64, int32)\nS[t] = a[t]\ncuda.syncthreads()\nif t < 32:\n    S[t] += S[t + 32]\n"
        "    cuda.syncwarp()\n    s = 16\n    while s > 0:\n        v = S[t + s]\n        cuda.syncwarp()\n"
        "        S[t] += v\n        cuda.syncwarp()\n        s //= 2\ncuda.syncthreads()\nout[t] = S[0]"
    )
    assert names(run(body, block=64)) == set()


@pytest.mark.parametrize(
    "call",
    [
        "cuda.shfl_down_sync(0xFFFFFFFF, a[t], 8)",
        "cuda.shfl_sync(-1, a[t], 0)",
        "cuda.any_sync(0xFFFFFFFF, a[t])",
        "cuda.ballot_sync(0xFFFFFFFF, a[t])",
        "cuda.match_any_sync(0xFFFFFFFF, a[t])",
    ],
)
def test_a_mask_that_names_lanes_on_the_other_side_of_a_branch(call: str) -> None:
    finding = one(run(f"if t % 32 < 16:\n    out[t] = {call}", block=64), "inactive-lane-in-mask")
    assert (finding.severity, finding.counts["threads"], finding.facts["lane"]) == ("error", 32, 16)
    assert [thread.thread[0] for thread in finding.threads] == [16]
    assert finding.primary is not None
    assert finding.secondary is not None
    assert (finding.primary.line, finding.secondary.line) == (7, 6)
    # Half a warp whose mask names just that half; a branch that whole warps take; lanes that have returned,
    # that never were, and those of a loop that all go round alike.
    for body, block in (
        (f"if t % 32 < 16:\n    out[t] = {call}".replace("0xFFFFFFFF", "0xFFFF").replace("-1", "0xFFFF"), 64),
        (f"if t < 32:\n    out[t] = {call}", 64),
        (f"if t % 32 >= 24:\n    return\nout[t] = {call.replace(', 8)', ', 0)')}", 64),
        (f"out[t] = {call.replace(', 8)', ', 0)')}", 40),
        (f"for i in range(3):\n    out[t] = {call}", 64),
    ):
        assert "inactive-lane-in-mask" not in names(run(body, block=block)), body


def test_lanes_that_left_a_loop_are_away_and_not_gone() -> None:
    body = "i = 0\nwhile i < t % 4:\n    out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, i, 0)\n    i += 1"
    finding = one(run(body), "inactive-lane-in-mask")
    assert (finding.counts["threads"], finding.facts["lane"]) == (8, 0)
    assert "lane-not-in-mask" in names(run("out[t] = cuda.all_sync(0xFFFF, a[t])"))


VOTES = [
    ("count", "t < 40", 40),
    ("count", "t % 3", sum(t % 3 != 0 for t in range(96))),
    ("and", "1", 1),
    ("and", "t != 70", 0),
    ("or", "t == 70", 1),
    ("or", "0", 0),
]


@pytest.mark.parametrize("schedule", ["lockstep", "ascending", "descending", "middle-first"])
@pytest.mark.parametrize(("kind", "predicate", "wanted"), VOTES)
def test_a_counting_barrier_counts_the_whole_block_in_every_order(
    schedule: str, kind: str, predicate: str, wanted: int
) -> None:
    body = f"v = cuda.syncthreads_{kind}(int32({predicate}))\nout[b * 96 + t] = v"
    out = np.full(192, -1, np.int32)
    source = HEAD + "    " + body.replace("\n", "\n    ") + "\n"
    result = launch(source, "kernel", grid=2, block=96, args=(np.zeros(1, np.int32), out), schedule=schedule)
    assert (result.completed, result.errors, set(out.tolist())) == (True, (), {wanted})


def test_threads_that_have_left_do_not_vote_in_any_order() -> None:
    body = "if t >= 40:\n    return\nfor i in range(3):\n    out[t] = cuda.syncthreads_count(int32(t > i))"
    out = np.zeros(96, np.int32)
    source = HEAD + "    " + body.replace("\n", "\n    ") + "\n"
    args = (np.zeros(1, np.int32), out)
    assert launch(source, "kernel", grid=1, block=96, args=args, schedule="descending").errors == ()
    assert out.tolist() == [37] * 40 + [0] * 56


def test_a_missing_barrier_beside_a_counting_one_shows_in_some_order() -> None:
    body = (
        "S = cuda.shared.array(64, int32)\ni = 0\nwhile cuda.syncthreads_or(int32(i < 2)):\n"
        "    S[t] = t + i\n    out[t] = S[63 - t]\n    i += 1"
    )
    source, wrong = HEAD + "    " + body.replace("\n", "\n    ") + "\n", 0
    for schedule in ("ascending", "descending"):
        out = np.zeros(64, np.int32)
        args = (np.zeros(1, np.int32), out)
        assert launch(source, "kernel", grid=1, block=64, args=args, schedule=schedule).completed
        wrong += out.tolist() != [64 - t for t in range(64)]
    assert wrong == 2
