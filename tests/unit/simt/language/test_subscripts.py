"""Tuples, slices, views and odd arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from grader.simt import launch


class Point(NamedTuple):
    """Two fields."""

    x: int
    y: float


def test_tuples_of_arrays_and_tuples_as_arguments(run: Any) -> None:
    out = np.zeros(4)
    pair = (np.array([1.0, 2.0]), np.array([[3.0, 4.0]]))
    body = "a[0] = b[0][1]\na[1] = b[1][0, 1]\na[2] = c[0][1]\na[3] = c[1]\nb[0][0] = 9"
    assert run(body, out, pair, ((5, 6), 7.5)).errors == ()
    assert out.tolist() == [2.0, 4.0, 6.0, 7.5]
    assert pair[0][0] == 9


def test_named_tuples(run: Any) -> None:
    out = np.zeros(2)
    run("a[0] = b.y\na[1] = b.x + b[0]", out, Point(3, 4.5))
    assert out.tolist() == [4.5, 6.0]
    (finding,) = run("a[0] = b.z", out, Point(3, 4.5)).errors
    assert finding.facts["rule"] == "unknown-attribute"


def test_an_item_of_a_tuple_for_each_thread(run: Any) -> None:
    out = np.zeros(4, np.int64)
    run("t = cuda.threadIdx.x\na[t] = (10, 20, 30)[t - 1]", out, block=4)
    assert out.tolist() == [30, 10, 20, 30]


def test_slices_and_sums_of_tuples(run: Any) -> None:
    out = np.zeros((2, 3))
    run("s = a.shape[1:] + (7, *a.shape)\na[0, 0] = len(s)\na[0, 1] = s[-1]\na[0, 2] = s[0]", out)
    assert out[0].tolist() == [4.0, 3.0, 3.0]


@pytest.mark.parametrize("cut", ["::-1", "::2", "1:4", "4:1:-1", "-2:", "5:2"])
def test_views_by_slices(run: Any, cut: str) -> None:
    out = np.full(6, -1)
    run(f"v = b[{cut}]\nfor i in range(v.shape[0]):\n    a[i] = v[i]", out, np.arange(6))
    wanted = eval(f"np.arange(6)[{cut}]", {"np": np})
    assert out[: len(wanted)].tolist() == wanted.tolist()
    assert (out[len(wanted) :] == -1).all()


def test_writing_through_a_backward_view_of_shared_memory(run: Any) -> None:
    out = np.zeros(8)
    body = """
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    s[::-1][t] = t
    cuda.syncthreads()
    a[t] = s[t]
    """
    assert run(body, out, block=8).errors == ()
    assert out.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_filling_slices_with_a_number(run: Any) -> None:
    out = np.full((3, 4), -1)
    body = "t = cuda.threadIdx.x\na[t, 1:3] = t\na[t][3:] = 7\nif t == 1:\n    a[t] = 5"
    assert run(body, out, block=2).errors == ()
    assert out.tolist() == [[-1, 0, 0, 7], [5, 5, 5, 5], [-1, -1, -1, -1]]


def test_filling_a_shared_tile_row_by_row(run: Any) -> None:
    out = np.zeros(4)
    body = """
    tile = cuda.shared.array((4, 3), float32)
    t = cuda.threadIdx.x
    tile[t, :] = t + 0.5
    cuda.syncthreads()
    a[t] = tile[3 - t, 2]
    """
    assert run(body, out, block=4).errors == ()
    assert out.tolist() == [3.5, 2.5, 1.5, 0.5]


def test_an_array_cannot_be_assigned_to_a_slice(run: Any) -> None:
    (finding,) = run("a[:] = b", np.zeros(3), np.ones(3)).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "array-assignment")


def test_reshape_and_transpose(run: Any) -> None:
    out = np.zeros(4)
    body = """
    v = b.reshape((-1, 2))
    a[0] = v[2, 1]
    a[1] = b.reshape(-1)[4]
    a[2] = b.transpose()[2, 1]
    a[3] = v.shape[0]
    """
    assert run(body, out, np.arange(6.0).reshape(2, 3)).errors == ()
    assert out.tolist() == [5.0, 4.0, 5.0, 3.0]


@pytest.mark.parametrize(
    ("method", "wanted"), [("ravel", "c.reshape(-1)"), ("flatten", "c.reshape(-1)"), ("copy", "")]
)
@pytest.mark.parametrize("place", ["b", "cuda.shared.array(2, float32)", "cuda.local.array(2, float32)"])
def test_a_method_that_makes_a_new_array_is_refused(run: Any, method: str, wanted: str, place: str) -> None:
    (finding,) = run(f"c = {place}\na[0] = c.{method}()[0]", np.zeros(1), np.ones(2)).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "array-method")
    assert finding.facts["wanted"] == wanted


def test_a_sum_of_an_array_is_not_followed(run: Any) -> None:
    (finding,) = run("a[0] = b.sum()", np.zeros(1), np.ones(2)).errors
    assert (finding.name, finding.facts["construct"]) == ("unsupported-construct", "array-sum")


def test_an_array_that_is_not_aligned_in_its_memory() -> None:
    store = np.zeros(80, np.byte)
    out = np.ndarray(9, buffer=store[4:-4], dtype=np.double)
    source = "from numba import cuda\n@cuda.jit\ndef kernel(a):\n    i = cuda.grid(1)\n    a[i] = i\n"
    assert launch(source, "kernel", grid=1, block=9, args=(out,)).errors == ()
    assert out.tolist() == list(range(9))


def test_cache_hints_are_plain_accesses(run: Any) -> None:
    out = np.zeros((2, 3))
    body = "i = cuda.threadIdx.x\ncuda.stcg(a, (1, i), cuda.ldcs(b, i) + 1)"
    assert run(body, out, np.arange(3.0), block=3).errors == ()
    assert out.tolist() == [[0, 0, 0], [1, 2, 3]]


def test_bytes_of_an_array(run: Any) -> None:
    out = np.zeros(3, np.int64)
    run("a[0] = b.nbytes\na[1] = b.itemsize\na[2] = b.strides[0]", out, np.zeros((2, 3), np.float32))
    assert out.tolist() == [24, 4, 12]


@pytest.mark.parametrize("index", ["b > 0", "True", "not b", "(b > 0) & (b < 2)"])
def test_a_bool_is_no_index(run: Any, index: str) -> None:
    for statement in (f"a[{index}] = 1", f"a[0] = a[{index}]", f"a[0] = (1.0, 2.0)[{index}]"):
        (finding,) = run(statement, np.zeros(4), 1).errors
        assert (finding.facts["rule"], finding.facts["got"]) == ("index-type", "bool")
    # A number made of it is one, and so is the bound of a slice; an atomic takes both.
    out = np.zeros(4)
    body = f"a[int({index})] += 1\na[(b > 0) * 2] += 1\ncuda.atomic.add(a, b > 0, 1)\na[(b > 0):][2] = 7"
    assert run(body, out, 1).errors == ()
    assert out[2:].tolist() == [1, 7]


@pytest.mark.parametrize(
    "index", ["b[0, None][0]", "b[None, 0, 0][0]", "b[np.newaxis, 0, 0][0]", "b[:, None][0, 0]"]
)
def test_a_new_axis_is_not_followed(run: Any, index: str) -> None:
    (finding,) = run(f"a[0] = {index}", np.zeros(1), np.ones((2, 2))).errors
    assert (finding.name, finding.facts["construct"]) == ("unsupported-construct", "newaxis")
