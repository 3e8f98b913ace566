"""Flat memory: views of every layout, wrapping, aliasing past a row, accesses that leave the allocation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.simt import Run, launch
from grader.simt.memory import Buffer, global_view

HEAD = "from numba import cuda, float32, int32, int64, uint64\n\n@cuda.jit\n"


def run(body: str, args: tuple[Any, ...], *, grid: Any = 1, block: Any = 1, names: str = "a, out") -> Run:
    text = body.replace("\n", "\n    ")
    return launch(f"{HEAD}def kernel({names}):\n    {text}\n", "kernel", grid=grid, block=block, args=args)


COPY = "c, r = cuda.grid(2)\nif r < a.shape[0] and c < a.shape[1]:\n    out[r, c] = a[r, c] * 2"
BASE = np.arange(48, dtype=np.float32).reshape(6, 8)
VIEWS = {
    "C order": BASE,
    "Fortran order": np.asfortranarray(BASE),
    "transposed": BASE.T,
    "rows reversed": BASE[::-1],
    "both reversed": BASE[::-1, ::-1],
    "every second": BASE[::2, 1::3],
    "a slice": BASE[2:5, 3:7],
    "one row for all": np.broadcast_to(BASE[0], (5, 8)),
    "one value for all": np.broadcast_to(np.float32(3), (4, 3)),
    "swapped axes": np.arange(24, dtype=np.float32).reshape(2, 3, 4).swapaxes(0, 2)[1],
    "no rows": np.zeros((0, 4), np.float32),
    "no columns": np.zeros((4, 0), np.float32),
    "one element": np.ones((1, 1), np.float32),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_read_as_numpy_reads_it(name: str) -> None:
    view = VIEWS[name]
    out = np.full(view.shape, -1, np.float32)
    result = run(COPY, (view, out), grid=(2, 2), block=(8, 8))
    assert result.completed
    assert result.errors == ()
    assert np.array_equal(out, view * 2)


@pytest.mark.parametrize("name", [name for name in VIEWS if "for all" not in name])
def test_a_view_is_written_as_numpy_writes_it(name: str) -> None:
    a = np.array(VIEWS[name])
    whole = np.full((40, 40), -1, np.float32)
    for target in (whole[1 : 1 + a.shape[0], 2 : 2 + a.shape[1]], whole.T[3:][: a.shape[0], : a.shape[1]]):
        whole[:] = -1
        result = run(COPY, (a, target), grid=(2, 2), block=(8, 8))
        assert result.errors == ()
        assert np.array_equal(target, a * 2)
        assert np.count_nonzero(whole != -1) == a.size
        assert result.written[1].shape == target.shape
        assert result.written[1].all()


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_every_element_type_goes_through(dtype: str) -> None:
    a = np.array([0, 1, 1, 0, 1], dtype)
    out = np.zeros(5, dtype)
    result = run("i = cuda.grid(1)\nout[i] = a[i]", (a, out), block=5)
    assert result.errors == ()
    assert np.array_equal(a, out)


def test_zero_dimensional_and_three_dimensional_arrays() -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    out = np.zeros_like(a)
    run("x, y, z = cuda.grid(3)\nout[z, y, x] = a[z, y, x] + a.shape[2]", (a, out), block=(4, 3, 2))
    assert np.array_equal(out, a + 4)


def test_negative_indices_wrap_once() -> None:
    out = np.zeros(4, np.int64)
    a = np.arange(10, 14)
    result = run("t = cuda.threadIdx.x\nout[t] = a[t - 2]", (a, out), block=4)
    assert out.tolist() == [12, 13, 10, 11]
    (finding,) = result.findings
    assert (finding.name, finding.severity, finding.counts["threads"]) == ("negative-index", "note", 2)
    assert finding.slot is not None
    assert finding.slot.index == (-2,)


def test_a_literal_negative_index_is_meant() -> None:
    out = np.zeros(1, np.int64)
    assert run("out[0] = a[-1] + a.shape[-1]", (np.arange(5), out)).findings == ()
    assert out.tolist() == [9]


def test_an_unsigned_index_does_not_wrap() -> None:
    out = np.full(4, -1, np.int64)
    result = run("t = cuda.threadIdx.x\nout[t] = a[uint64(t) - uint64(2)]", (np.arange(10, 14), out), block=4)
    assert out.tolist() == [0, 0, 10, 11]
    assert [finding.name for finding in result.findings] == ["out-of-bounds-read"]


def test_an_index_past_a_row_lands_in_the_next() -> None:
    a = np.zeros((3, 4), np.int32)
    result = run("out[cuda.threadIdx.x, 5] = 1 + cuda.threadIdx.x", (a, a), block=2)
    assert a.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0]]
    (finding,) = result.errors
    assert finding.name == "out-of-bounds-write"
    assert finding.facts == {
        "axis": 1,
        "size": 4,
        "shape": (3, 4),
        "inside_allocation": True,
        "aliases": (1, 1),
    }


def test_an_index_past_a_slice_reaches_the_array_behind_it() -> None:
    whole = np.zeros(10, np.int32)
    result = run("out[4] = 7", (whole, whole[:4]))
    assert whole.tolist() == [0, 0, 0, 0, 7, 0, 0, 0, 0, 0]
    assert result.errors[0].facts["inside_allocation"] is True


def test_a_store_past_the_allocation_is_dropped() -> None:
    out = np.zeros(4, np.int32)
    result = run("i = cuda.grid(1)\nout[i] = i + 1", (out, out), block=9)
    assert out.tolist() == [1, 2, 3, 4]
    (finding,) = result.errors
    assert (finding.name, finding.counts["threads"]) == ("out-of-bounds-write", 5)
    assert finding.facts["inside_allocation"] is False
    assert finding.facts["aliases"] is None
    assert finding.threads[0].thread == (4, 0, 0)


def test_a_read_past_the_allocation_gives_zero() -> None:
    out = np.full(4, -1, np.int64)
    result = run("i = cuda.grid(1)\nout[i] = a[i + 2]", (np.arange(1, 5), out), block=4)
    assert out.tolist() == [3, 4, 0, 0]
    assert result.errors[0].name == "out-of-bounds-read"


def test_shared_memory_does_not_leak_past_its_block() -> None:
    out = np.zeros((2, 4), np.int32)
    body = (
        "S = cuda.shared.array(4, int32)\nt, b = cuda.threadIdx.x, cuda.blockIdx.x\nS[t] = 10 * b + t\n"
        "cuda.syncthreads()\nout[b, t] = S[t + 1]"
    )
    result = run(body, (out, out), grid=2, block=4)
    assert out.tolist() == [[1, 2, 3, 0], [11, 12, 13, 0]]
    assert result.errors[0].counts["threads"] == 2


def test_shared_memory_is_one_for_a_block_and_starts_undefined() -> None:
    out = np.zeros(6, np.int32)
    body = (
        "S = cuda.shared.array(1, int32)\ni = cuda.grid(1)\nif cuda.blockIdx.x == 0:\n    S[0] = 5\n"
        "cuda.syncthreads()\nout[i] = S[0]"
    )
    result = run(body, (out, out), grid=2, block=3)
    assert out[:3].tolist() == [5, 5, 5]
    assert out[3] != 5
    (finding,) = result.errors
    assert (finding.name, finding.threads[0].block) == ("uninitialised-shared-read", (1, 0, 0))


def test_a_local_array_belongs_to_its_thread() -> None:
    out = np.zeros((3, 5), np.int32)
    body = (
        "L = cuda.local.array(4, int32)\nt, b = cuda.threadIdx.x, cuda.blockIdx.x\nfor k in range(4):\n"
        "    L[(k + t) % 4] = 100 * b + 10 * t + k\nout[b, t] = L[(t + 3) % 4]"
    )
    assert run(body, (out, out), grid=3, block=5).errors == ()
    assert out.tolist() == [[100 * b + 10 * t + 3 for t in range(5)] for b in range(3)]


def test_two_arguments_over_one_allocation_share_it() -> None:
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    buffers: dict[int, Buffer] = {}
    a, b = (
        global_view(view, name, at, buffers)
        for at, (name, view) in enumerate({"a": whole, "b": whole.T[1:]}.items())
    )
    assert a.buffer is b.buffer
    assert (a.base, a.strides) == (0, (4, 1))
    assert (b.base, b.strides, b.shape) == (1, (1, 4), (3, 3))
    assert b.index_of(9) == (1, 2)
