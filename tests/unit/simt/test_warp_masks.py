"""Calls of a warp whose mask and whose lanes do not agree: every form of call, every way to be away.

What is right is CUDA's rule (the Programming Guide on ``__syncwarp``, votes, matches, shuffles): the
caller is in its mask, and all lanes of the mask that have not returned make the same call with the same
mask. Values of groups were worked out by hand.
"""

# ruff: noqa: E501  (kernels and lists of cases, a line each)
from __future__ import annotations

import numpy as np
import pytest

from grader.records import Finding
from grader.simt import Run, launch

HEAD = """from numba import cuda, float32, int32

@cuda.jit(device=True)
def upper_half(v, t):
    if t % 32 < 16:
        return v
    return cuda.shfl_xor_sync(0xFFFFFFFF, v, 0)

@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
"""
FIRST = HEAD.count("\n") + 1  # the line of a body's first statement

CALLS = [
    "cuda.syncwarp()",
    "cuda.syncwarp(0xFFFFFFFF)",
    "cuda.syncwarp(-1)",
    "cuda.shfl_sync(0xFFFFFFFF, a[t], t)",
    "cuda.shfl_up_sync(0xFFFFFFFF, a[t], 0)",
    "cuda.shfl_down_sync(0xFFFFFFFF, a[t], 0)",
    "cuda.shfl_xor_sync(0xFFFFFFFF, a[t], 0)",
    "cuda.all_sync(0xFFFFFFFF, a[t])",
    "cuda.any_sync(0xFFFFFFFF, a[t])",
    "cuda.eq_sync(0xFFFFFFFF, a[t])",
    "cuda.ballot_sync(0xFFFFFFFF, a[t])",
    "cuda.match_any_sync(0xFFFFFFFF, a[t])",
    "cuda.match_all_sync(0xFFFFFFFF, a[t])",
]
AWAY = "inactive-lane-in-mask"


def run(body: str, *, grid: int = 1, block: int | tuple[int, int] = 64, schedule: str = "lockstep") -> Run:
    threads = grid * (block if isinstance(block, int) else block[0] * block[1])
    args = (np.arange(512, dtype=np.int32), np.zeros(threads, np.int32))
    source = HEAD + "    " + body.replace("\n", "\n    ") + "\n"
    return launch(source, "kernel", grid=grid, block=block, args=args, schedule=schedule)


def values(body: str, block: int = 32) -> list[int]:
    out = np.zeros(block, np.int64)
    done = launch(
        HEAD + "    " + body.replace("\n", "\n    ") + "\n",
        "kernel",
        grid=1,
        block=block,
        args=(np.arange(block, dtype=np.int32), out),
    )
    assert done.findings == ()
    return out.tolist()


def one(result: Run, name: str) -> Finding:
    (finding,) = [finding for finding in result.findings if finding.name == name]
    return finding


def names(result: Run) -> set[str]:
    return {finding.name for finding in result.findings if finding.severity != "note"}


@pytest.mark.parametrize("call", CALLS)
def test_half_a_warp_that_names_the_whole(call: str) -> None:
    finding = one(run(f"if t % 32 < 16:\n    {call}\nout[t] = 1"), AWAY)
    assert (finding.severity, finding.counts["threads"], finding.facts["lane"]) == ("error", 32, 16)
    assert [thread.thread[0] for thread in finding.threads] == [16]
    assert finding.primary is not None
    assert finding.secondary is not None
    assert (finding.primary.line, finding.secondary.line) == (FIRST + 1, FIRST)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "body",
    [
        "if a[t] % 3 == 0:\n    CALL",
        "if t == 0:\n    CALL",
        "if t % 2 == 0:\n    t = t\nelse:\n    CALL",
        "for i in range(t % 4):\n    CALL",
        "for i in range(4):\n    if i == t % 4:\n        continue\n    CALL",
        "for i in range(4):\n    if i == t % 4:\n        break\n    CALL",
        "i = 0\nwhile i < t:\n    CALL\n    i += 1",
        "for i in range(2):\n    for j in range(3):\n        if t % 32 > 3:\n            CALL",
    ],
)
def test_every_way_to_keep_a_lane_away(body: str, call: str) -> None:
    assert names(run(body.replace("CALL", call) + "\nout[t] = 1")) == {AWAY}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("CALL", 64),
        ("CALL", 40),  # the last warp is a part of one
        ("CALL", 5),
        ("CALL", (8, 6)),
        ("if t % 32 >= 24:\n    return\nCALL", 64),
        ("assert t % 32 < 24\nCALL", 64),
        ("if a[t] > 7:\n    return\nCALL", 64),
        ("if t < 32:\n    CALL", 64),
        ("if t // 32 == 1:\n    CALL\nelse:\n    CALL", 64),
        ("if cuda.blockIdx.x == 0:\n    CALL", 64),
        ("if a[t // 32] == 0:\n    CALL", 64),
        ("for i in range(3):\n    CALL", 64),
        ("for i in range(t // 32 + 1):\n    CALL", 64),
        ("i = a[t // 32] + 2\nwhile i > 0:\n    CALL\n    i -= 1", 64),
        ("for i in range(t, 64, 32):\n    CALL", 32),
        ("for i in range(5):\n    if i == 3:\n        break\n    CALL", 64),
        ("v = 0\nif t % 32 < 16:\n    v = 2\nCALL", 64),
    ],
)
def test_lanes_that_come_together(body: str, block: int | tuple[int, int], call: str) -> None:
    assert names(run(body.replace("CALL", call), grid=2, block=block)) == set()


MASKED = [
    "cuda.syncwarp(m)",
    "cuda.shfl_xor_sync(m, a[t], 0)",
    "cuda.all_sync(m, a[t])",
    "cuda.any_sync(m, a[t])",
    "cuda.eq_sync(m, a[t])",
    "cuda.ballot_sync(m, a[t])",
    "cuda.match_any_sync(m, a[t])",
    "cuda.match_all_sync(m, a[t])",
]


@pytest.mark.parametrize("call", MASKED)
def test_masks_of_just_the_lanes_that_come(call: str) -> None:
    for body in (
        f"if t % 32 < 16:\n    m = 0xFFFF\n    {call}",
        f"if a[t] % 3 == 0:\n    m = cuda.activemask()\n    {call}",
        f"m = cuda.ballot_sync(0xFFFFFFFF, a[t] % 3 == 0)\nif a[t] % 3 == 0:\n    {call}",
        f"m = cuda.match_any_sync(0xFFFFFFFF, a[t] % 4)\n{call}",
        f"m = 0xFFFF\nif t % 32 >= 16:\n    m = 0xFFFF0000\n{call}",
        f"if t % 32 < 16:\n    m = 0xFFFF\n    {call}\nelse:\n    m = 0xFFFF0000\n    {call}",
    ):
        assert names(run(body)) == set(), body
    # The mask of all, taken before the branch; a mask that has not the caller.
    assert names(run(f"m = cuda.activemask()\nif t % 32 < 16:\n    {call}")) == {AWAY}
    assert "lane-not-in-mask" in names(run(f"m = 0xFFFF\n{call}"))


@pytest.mark.parametrize("call", MASKED)
def test_lanes_that_come_with_different_masks(call: str) -> None:
    """Lanes 0 to 15 are named by the others, and come with a mask of their own."""
    finding = one(run(f"m = 0xFFFFFFFF\nif t % 32 < 16:\n    m = 0xFFFF\n{call}"), AWAY)
    assert finding.facts["other_mask"] is True
    assert (finding.facts["lane"], finding.counts["threads"]) == (0, 32)


@pytest.mark.parametrize(
    "body",
    [
        "if t % 32 < 16 and cuda.any_sync(0xFFFFFFFF, 1):\n    out[t] = 1",
        "if t % 32 < 16 or cuda.any_sync(0xFFFFFFFF, 1):\n    out[t] = 1",
        "out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, a[t], 0) if t % 32 < 16 else 0",
        "out[t] = upper_half(a[t], t)",
        "s = 0\nfor i in range(t % 4):\n    s += cuda.shfl_xor_sync(0xFFFFFFFF, a[t], 0)\nout[t] = s",
    ],
)
def test_conditions_within_an_expression_and_a_function(body: str) -> None:
    assert names(run(body)) == {AWAY}


def test_two_groups_in_one_call_vote_apart() -> None:
    groups = "m = 0xFFFF\nif t >= 16:\n    m = 0xFFFF0000\n"
    assert values(groups + "out[t] = cuda.ballot_sync(m, t % 8 == 0)") == [0x0101] * 16 + [0x01010000] * 16
    assert values(groups + "out[t] = cuda.any_sync(m, t == 3)") == [1] * 16 + [0] * 16
    assert values(groups + "out[t] = cuda.all_sync(m, t < 16)") == [1] * 16 + [0] * 16
    assert values(groups + "out[t] = cuda.eq_sync(m, t == 3)") == [0] * 16 + [1] * 16
    assert values(groups + "out[t] = cuda.match_any_sync(m, t % 16)") == [1 << t for t in range(32)]
    assert (
        values(groups + "n, p = cuda.match_all_sync(m, t // 16)\nout[t] = n")
        == [0xFFFF] * 16 + [0xFFFF0000] * 16
    )
    assert values(groups + "n, p = cuda.match_all_sync(m, t < 17)\nout[t] = int32(p)") == [1] * 16 + [0] * 16


def test_a_shuffle_from_another_group() -> None:
    body = "m = 0xFFFF\nif t % 32 >= 16:\n    m = 0xFFFF0000\nout[t] = cuda.shfl_down_sync(m, a[t], 1)"
    finding = one(run(body), "shuffle-from-inactive-lane")
    assert (finding.facts["lane"], finding.counts["threads"]) == (16, 2)
    assert [thread.thread[0] for thread in finding.threads] == [15]


@pytest.mark.parametrize(
    "body",
    [
        "if t % 32 < 16:\n    cuda.syncwarp()\nelse:\n    cuda.syncwarp()",
        "if t % 32 < 16:\n    cuda.syncwarp()\n    cuda.syncwarp()\nelse:\n    cuda.syncwarp()\n    cuda.syncwarp()",
        "if t % 32 < 8:\n    cuda.syncwarp()\nelif t % 32 < 16:\n    cuda.syncwarp()\nelse:\n    cuda.syncwarp()",
        "if t % 32 < 16:\n    cuda.syncwarp()\nif t % 32 >= 16:\n    cuda.syncwarp()",
        "if t % 32 >= 24:\n    return\nif t % 32 < 16:\n    cuda.syncwarp()\nelse:\n    cuda.syncwarp()",
    ],
)
def test_a_warp_that_meets_on_different_lines_is_not_judged(body: str) -> None:
    """The guide allows it since compute capability 7.0; lockstep does not follow it."""
    result = run(body)
    assert not result.completed
    assert names(result) == {"unsupported-construct"}
    assert one(result, "unsupported-construct").facts["construct"] == "split-warp-barrier"


@pytest.mark.parametrize(
    "body",
    [
        # The others come to another line only after all were together again, or never all of them.
        "if t % 32 < 16:\n    cuda.syncwarp()\ncuda.syncwarp()\nif t % 32 >= 16:\n    cuda.syncwarp()",
        "if t % 32 < 16:\n    cuda.syncwarp()\nelif t % 32 < 24:\n    cuda.syncwarp()",
        "if t % 32 < 16:\n    cuda.syncwarp()\nelse:\n    m = 0xFFFF0000\n    cuda.syncwarp(m)",
        "if t % 32 < 16:\n    cuda.syncwarp()\nelse:\n    cuda.any_sync(0xFFFFFFFF, 1)",
        "if t < 16:\n    cuda.syncwarp()\nif t >= 48:\n    cuda.syncwarp()",
    ],
)
def test_lanes_on_other_lines_that_do_not_make_up_the_mask(body: str) -> None:
    result = run(body)
    assert result.completed
    assert names(result) == {AWAY}


def test_a_barrier_of_a_part_of_a_warp_orders_that_part() -> None:
    body = (
        "S = cuda.shared.array(64, int32)\nif t % 32 < 16:\n    S[t] = a[t]\n    cuda.syncwarp(0xFFFF)\n"
        "    out[t] = S[t ^ 1]\nelse:\n    out[t] = 0"
    )
    assert names(run(body)) == set()


def test_warp_by_warp_schedules_meet_too() -> None:
    body = "if t // 32 == 1:\n    cuda.syncwarp()\ncuda.syncthreads()\ncuda.syncwarp()\nout[t] = 1"
    assert run(body, schedule="descending").completed
