"""``wgmma`` on the machine, against the addresses and the register layout of the PTX ISA."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import grader
from grader.diagnosis.constructs import CONSTRUCTS
from grader.simt import Run, launch
from grader.simt.tally import MMA_FLOPS
from tests.unit.simt.test_ptx_calls import HEAD, RNG, bfloats, clean, names

#: One warpgroup's product for each group of the block: a and b are images of shared memory.
BODY = """\
s = cuda.shared.array(0, uint16, alignment=1024)
r = cuda.local.array({count}, float32)
group = l // 128
for i in range(l, a.size, cuda.blockDim.x):
    s[i] = a[i]
for e in range({count}):
    r[e] = c[l, e]
ptx.fence_proxy_async()
cuda.syncthreads()
ptx.wgmma_bf16(r, 0, {columns}, s, group * 4096, {groups} * 4096)
ptx.wgmma_wait(0)
for e in range({count}):
    b[cuda.blockIdx.x, l, e] = r[e]
"""


def image(matrix: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Shared memory that holds a matrix of 64 rows in panels of 64 columns, swizzled by 128 bytes.

    The hardware takes bits 7 to 9 of a byte's address and flips bits 4 to 6 where they are set.
    """
    memory = np.zeros(matrix.size, np.uint16)
    for (row, column), value in np.ndenumerate(matrix):
        address = column // 64 * 8192 + row * 128 + column % 64 * 2
        memory[(address ^ (address >> 7 & 7) << 4) // 2] = value
    return memory


def registers(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(128, columns / 2): what each thread of a warpgroup holds of a matrix of 64 rows."""
    held = np.zeros((128, matrix.shape[1] // 2), matrix.dtype)
    for thread in range(128):
        warp, (g, q) = thread // 32, divmod(thread % 32, 4)
        for register in range(held.shape[1]):
            j, (below, right) = register // 4, divmod(register % 4, 2)
            held[thread, register] = matrix[16 * warp + g + 8 * below, 8 * j + 2 * q + right]
    return held


def multiply(
    columns: int, groups: int = 1, grid: int = 1, body: str = BODY, times: int = 1, **options: Any
) -> Any:
    """Run: what it found, what came out, what should have where the product is added so many times.

    Both are (threads, columns / 2), the first one for each block.
    """
    lefts = [bfloats((64, 64)) for _ in range(groups)]
    B, right = bfloats((64, columns))
    memory = np.concatenate([*(image(A) for A, _ in lefts), image(B)])
    sums = [RNG.random((64, columns), np.float32) for _ in range(groups)]
    wanted = [
        registers((times * (left @ right) + C).astype(np.float32))
        for (_, left), C in zip(lefts, sums, strict=True)
    ]
    out = np.zeros((grid, 128 * groups, columns // 2), np.float32)
    args = (memory, out, np.concatenate([registers(C) for C in sums]))
    text = body.format(columns=columns, count=columns // 2, groups=groups)
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    source = f"{HEAD}\n\n@cuda.jit\ndef kernel(a, b, c):\n    l = cuda.threadIdx.x\n{lines}\n"
    options.setdefault("block", 128 * groups)
    done = launch(source, "kernel", grid=grid, args=args, shared_bytes=2 * memory.size, **options)
    return done, out, np.concatenate(wanted)


def constructs(done: Run) -> list[Any]:
    return [f.facts["construct"] for f in done.findings if f.name == "unsupported-construct"]


@pytest.mark.parametrize("columns", [64, 128, 256])
def test_a_warpgroup_multiplies_and_adds(columns: int) -> None:
    done, out, wanted = multiply(columns)
    clean(done)
    np.testing.assert_array_equal(out[0], wanted)
    assert done.counters.mma_threads * MMA_FLOPS == 2 * 64 * columns * 64


def test_every_group_of_every_block_multiplies_its_own() -> None:
    done, out, wanted = multiply(64, groups=3, grid=2)
    clean(done)
    for block in range(2):
        np.testing.assert_array_equal(out[block], wanted)


def test_calls_go_on_from_the_sums_of_the_one_under_way() -> None:
    call = "ptx.wgmma_bf16(r, 0, {columns}, s, group * 4096, {groups} * 4096)\n"
    body = BODY.replace(call, call * 3 + "ptx.wgmma_wait(1)\n")
    done, out, wanted = multiply(64, body=body, times=3)
    clean(done)
    np.testing.assert_allclose(out[0], wanted, rtol=3e-7)


def test_the_sums_of_a_call_under_way_are_not_defined() -> None:
    done, out, _ = multiply(64, body=BODY.replace("ptx.wgmma_wait(0)", "ptx.wgmma_wait(1)"))
    assert done.completed
    assert np.isnan(out).all()


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("cuda.syncthreads()\n", "", "shared-read-before-barrier"),
        ("ptx.wgmma_wait(0)\n", "s[l] = 1\nptx.wgmma_wait(0)\n", "shared-overwrite-before-barrier"),
        ("s, group * 4096", "s, group * 4096 + 8", "misaligned-access"),
        ("{groups} * 4096)", "{groups} * 4096 + 4096)", "out-of-bounds-read"),
        ("a.size,", "a.size - 700,", "uninitialised-shared-read"),
        ("ptx.wgmma_bf16(", "if l != 5:\n    ptx.wgmma_bf16(", "shuffle-from-inactive-lane"),
    ],
)
def test_a_fault_is_found(old: str, new: str, found: str) -> None:
    assert old in BODY
    done, _, _ = multiply(64, body=BODY.replace(old, new))
    assert found in names(done)


FENCE, WAIT, BARRIER = "ptx.fence_proxy_async()\n", "ptx.wgmma_wait(0)\n", "cuda.syncthreads()\n"
NOT_FENCED, OVERWRITTEN = "wgmma-operands-not-fenced", "wgmma-operands-overwritten"


@pytest.mark.parametrize(
    ("old", "new", "construct"),
    [
        (FENCE, "", NOT_FENCED),
        (FENCE, f"{FENCE}s[l] = a[l]\n", NOT_FENCED),
        (FENCE, f"if l < 64:\n    {FENCE}", NOT_FENCED),
        (WAIT, f"{BARRIER}s[l] = 1\n{BARRIER}{WAIT}", OVERWRITTEN),
        ("ptx.wgmma_bf16(", "if l < 64:\n    ptx.wgmma_bf16(", "part-of-a-warpgroup"),
        ("s, group * 4096", "s, l // 64 * 4096", "wgmma-offset-of-each-thread"),
        (WAIT, "ptx.wgmma_bf16(r, 4, 64, s, 0, 4096)\n", "wgmma-of-other-sums-under-way"),
    ],
)
def test_what_is_not_followed_stops_the_launch(old: str, new: str, construct: str) -> None:
    assert old in BODY
    columns = 128 if "r, 4" in new else 64
    done, _, _ = multiply(columns, body=BODY.replace(old, new))
    assert not done.completed
    assert constructs(done) == [construct]


def test_warp_by_warp_no_warpgroup_can_multiply() -> None:
    done, _, _ = multiply(64, schedule="ascending")
    assert not done.completed
    assert constructs(done) == ["part-of-a-warpgroup"]


def test_a_block_of_other_than_whole_warpgroups_is_not_followed() -> None:
    done, _, _ = multiply(64, block=96)
    assert not done.completed


def test_arrays_of_two_types_on_one_memory_are_read_alike() -> None:
    body = BODY.replace("r = cuda", "also = cuda.shared.array(0, float32)\nr = cuda")
    done, out, wanted = multiply(64, body=body)
    clean(done)
    np.testing.assert_array_equal(out[0], wanted)


@pytest.mark.parametrize("columns", ["32", "b.shape[2]", "320"])
def test_the_columns_are_a_constant_of_four(columns: str) -> None:
    done, _, _ = multiply(64, body=BODY.replace("0, {columns},", f"0, {columns},"))
    [finding] = [f for f in done.findings if f.severity == "error"]
    assert finding.facts["rule"] == "argument-type"


def test_what_is_not_followed_is_told_in_words() -> None:
    folder = Path(grader.__file__).parent / "simt"
    text = "".join(
        (folder / name).read_text(encoding="utf-8") for name in ("ptx_wgmma.py", "wgmma_operands.py")
    )
    codes = set(re.findall(r'"((?:wgmma|part)-[a-z-]+)"', text))
    assert len(codes) == 7
    assert codes <= set(CONSTRUCTS)
