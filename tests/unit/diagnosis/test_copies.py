"""What is told of the functions of grader.gpu.ptx: slots not filled yet, warps that are not whole."""

from __future__ import annotations

import numpy as np

from grader.diagnosis import Context, explain
from grader.simt import launch

SOURCE = """\
from numba import cuda, float32
from grader.gpu import ptx


@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(128, float32, alignment=16)
    i = 4 * cuda.threadIdx.x
    ptx.cp_async_16_bytes(tile, i, a, i, 4)
    ptx.cp_async_commit()
    cuda.syncthreads()
    for e in range(4):
        out[i + e] = tile[i + e]
"""


def test_a_read_before_the_wait_is_told_with_the_copy() -> None:
    a, out = np.ones(128, np.float32), np.zeros(128, np.float32)
    run = launch(SOURCE, "kernel", grid=1, block=32, args=(a, out))
    [finding] = run.errors
    said = explain(finding, Context("copy.py", tuple(SOURCE.splitlines()), block=(32, 1, 1), grid=(1, 1, 1)))
    assert said.headline == "`tile[i + e]` reads `tile[0]`, and a copy to that array is still under way"
    assert said.frame is not None
    assert said.frame.secondary is not None
    assert (said.frame.primary.span.line, said.frame.secondary.span.line) == (13, 9)
    assert (
        said.hints[-1]
        == "commit the copy's group, wait for it and meet at a barrier before the read on line 13"
    )
    waiting = SOURCE.replace("commit()\n", "commit()\n    ptx.cp_async_wait(0)\n")
    assert launch(waiting, "kernel", grid=1, block=32, args=(a, out)).errors == ()


PART = """\
from numba import cuda, float32, uint32
from grader.gpu import ptx


@cuda.jit
def kernel(out):
    a = cuda.local.array(4, uint32)
    c = cuda.local.array(4, float32)
    for e in range(4):
        a[e] = 0
        c[e] = 0
    i = cuda.threadIdx.x
    if i != 7:
        ptx.mma_bf16(c, 0, a, 0, a, 0)
        out[i] = c[0]
"""


def test_a_part_of_a_warp_is_told_as_that() -> None:
    run = launch(PART, "kernel", grid=1, block=32, args=(np.zeros(32, np.float32),))
    [finding] = run.errors
    said = explain(finding, Context("part.py", tuple(PART.splitlines()), block=(32, 1, 1), grid=(1, 1, 1)))
    assert said.headline == (
        "`ptx.mma_bf16(c, 0, a, 0, a, 0)` is done by a warp as one, and lane 7 does not take part"
    )
    assert "31 threads come here without their whole warp" in said.seen
    assert said.hints[1] == "`i != 7` around the call keeps lanes from it"
