"""Statements at the edge of what numba takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_raise_ends_the_thread(run: Any) -> None:
    out = np.zeros(4)
    body = """
    t = cuda.threadIdx.x
    a[t] = 1
    for k in range(3):
        if t + k > 3:
            raise ValueError
        a[t] += 1
    """
    assert run(body, out, block=4).errors == ()
    assert out.tolist() == [4.0, 4.0, 3.0, 2.0]


def test_a_failed_assertion_ends_the_thread(run: Any) -> None:
    out = np.zeros(4)
    assert run("t = cuda.threadIdx.x\nassert t < 2, 'too far'\na[t] = 1", out, block=4).errors == ()
    assert out.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_a_failed_assertion_in_a_device_function_is_not_followed(run: Any) -> None:
    before = "@cuda.jit(device=True)\ndef f(x):\n    assert x < 2\n    return x\n"
    out = np.zeros(1)
    assert run("a[0] = f(1)", out, before=before).errors == ()
    assert out[0] == 1
    (finding,) = run("a[0] = f(2)", out, before=before).errors
    assert finding.facts["construct"] == "assert-in-device-function"


def test_an_assignment_inside_an_expression(run: Any) -> None:
    out = np.zeros(4)
    run("i = 0\nwhile (j := i) < 4:\n    a[i] = j * j\n    i += 1", out)
    assert out.tolist() == [0.0, 1.0, 4.0, 9.0]


def test_a_variable_that_another_path_sets_is_an_error_only_where_it_is_read(run: Any) -> None:
    body = "if b > 0:\n    c = 5\n    a[0] = c\nelse:\n    c += 1\n    a[0] = c"
    out = np.zeros(1)
    assert run(body, out, 1).errors == ()
    assert out[0] == 5
    (finding,) = run(body, out, -1).errors
    assert (finding.name, finding.facts["variable"]) == ("undefined-variable", "c")


@pytest.mark.parametrize(
    "body", ["a[0] = c\nc = 1.5", "for i in range(3):\n    if i > 0:\n        a[i] = c\n    c = 2.0"]
)
def test_a_variable_that_no_line_above_sets_is_refused(run: Any, body: str) -> None:
    (finding,) = run(body, np.zeros(3)).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "unset-variable")


@pytest.mark.parametrize(
    "body",
    [
        "import math",
        "del a",
        "x = [1, 2]",
        "x = {1: 2}",
        "x = [i for i in range(3)]",
        "with open('f'):\n    pass",
        "try:\n    a[0] = 1\nexcept Exception:\n    pass",
        "class C:\n    pass",
    ],
)
def test_python_that_numba_does_not_compile(run: Any, body: str) -> None:
    (finding,) = run(body, np.zeros(3)).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "unsupported-python")


def test_a_list_as_a_shared_shape(run: Any) -> None:
    (finding,) = run("s = cuda.shared.array([4, 4], float32)", np.zeros(3)).errors
    assert (finding.name, finding.facts["reason"]) == ("non-constant-shared-shape", "list")


def test_a_kernel_returns_nothing(run: Any) -> None:
    (finding,) = run("return a[0]", np.zeros(3)).errors
    assert finding.facts["rule"] == "kernel-returns-value"


@pytest.mark.parametrize(
    ("mask", "predicate"), [(np.float32, np.int32), (np.bool_, np.int32), (np.int32, np.float64)]
)
def test_a_votes_types(run: Any, mask: type, predicate: type) -> None:
    args = (np.zeros(32, np.int32), np.ones(32, mask), np.ones(32, predicate))
    (finding,) = run("i = cuda.grid(1)\na[i] = cuda.all_sync(b[i], c[i])", *args, block=32).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "argument-type")


def test_atomics_and_not_a_number(run: Any) -> None:
    out = np.array([5.0, np.nan, 5.0, np.nan])
    body = """
    cuda.atomic.max(a, 0, b)
    cuda.atomic.min(a, 1, 3.0)
    cuda.atomic.nanmax(a, 2, b)
    cuda.atomic.nanmin(a, 3, 3.0)
    """
    run(body, out, np.nan)
    assert out[[0, 2, 3]].tolist() == [5.0, 5.0, 3.0]
    assert np.isnan(out[1])


def test_an_atomic_gives_the_old_value_to_a_lone_thread(run: Any) -> None:
    out = np.array([10.0, 0.0], np.float32)
    assert run("a[1] = cuda.atomic.add(a, 0, 1)", out).errors == ()
    assert out.tolist() == [11.0, 10.0]


def test_an_atomics_index_may_be_a_float(run: Any) -> None:
    out = np.zeros((2, 3), np.int64)
    assert run("cuda.atomic.add(a, (1, b), 4)", out, 2.0).errors == ()
    assert out[1, 2] == 4


def test_compare_and_swap_of_the_rest_of_an_array(run: Any) -> None:
    out = np.array([-1, 7, -1, 9])
    old = np.zeros(4, np.int64)
    run("t = cuda.threadIdx.x\nb[t] = cuda.atomic.compare_and_swap(a[t:], -1, t)", out, old, block=4)
    assert (out.tolist(), old.tolist()) == ([0, 7, 2, 9], [-1, 7, -1, 9])


def test_an_atomic_needs_a_whole_index(run: Any) -> None:
    (finding,) = run("cuda.atomic.add(a, 0, 1)", np.zeros((2, 2))).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "index-rank")


@pytest.mark.parametrize(
    "start",
    [
        "c = None",
        "c = d = None",
        "c, d = None, None",
        "c: None = None",
        "c = NOTHING",
        "c = cuda.syncthreads()",
    ],
)
def test_a_name_that_holds_nothing_before_it_gets_its_value(run: Any, start: str) -> None:
    out = np.zeros(1)
    body = (
        f"{start}\na[0] = 1 if c is None else 2\nc = float32(0.5)\nfor k in range(3):\n    c += k\na[0] += c"
    )
    assert run(body, out, before="NOTHING = None").errors == ()
    assert out[0] == 4.5


def test_a_barrier_whose_result_has_a_name_is_a_barrier(run: Any) -> None:
    body = "s = cuda.shared.array(2, float32)\nt = cuda.threadIdx.x\ns[t] = t\n{}\na[t] = s[1 - t]"
    assert run(body.format("x = cuda.syncthreads()"), out := np.zeros(2), block=2).findings == ()
    assert out.tolist() == [1.0, 0.0]
    assert run(body.format("pass"), np.zeros(2), block=2).findings


@pytest.mark.parametrize(
    "body",
    [
        "c = None\nif b > 0:\n    c = 1.0\na[0] = c",
        "c = None\nfor k in range(b):\n    c = k\na[0] = c",
        "c = None if b > 0 else 1\na[0] = c",
    ],
)
def test_a_name_that_holds_nothing_on_one_path_is_not_followed(run: Any, body: str) -> None:
    (finding,) = run(body, np.zeros(1), 1).errors
    assert (finding.name, finding.facts["construct"]) == ("unsupported-construct", "none-or-value")


def test_nothing_is_no_number(run: Any) -> None:
    (finding,) = run("c = None\na[0] = c + 1", np.zeros(1)).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "operand-type")
