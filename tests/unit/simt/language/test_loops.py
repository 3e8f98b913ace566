"""Loops over what is not a range."""

from __future__ import annotations

from typing import Any

import numpy as np

VALUES = np.array([5, 7, 11, 13], np.int32)


def test_over_an_array(run: Any) -> None:
    out = np.zeros(2, np.int64)
    run("s = 0\nfor x in b:\n    if x == 11:\n        break\n    s += x\na[0] = s\na[1] = x", out, VALUES)
    assert out.tolist() == [12, 11]


def test_enumerate_and_zip(run: Any) -> None:
    out = np.zeros(4, np.int64)
    body = """
    for i, x in enumerate(b):
        a[i] += 100 * x
    for i, (x, y) in enumerate(zip(b, c)):
        a[i] += x * y
    for k, x in zip(range(2, 4), c):
        a[k] += k
    """
    assert run(body, out, VALUES, VALUES[:3]).errors == ()
    assert out.tolist() == [525, 749, 1223, 1303]


def test_enumerate_from_a_start(run: Any) -> None:
    out = np.zeros(3, np.int64)
    run("for i, x in enumerate((4, 5), 1):\n    a[i] = x", out)
    assert out.tolist() == [0, 4, 5]


def test_a_tuple_with_break_and_else(run: Any) -> None:
    out = np.zeros(4, np.int64)
    body = """
    t = cuda.threadIdx.x
    for step in (1, 2, 4):
        if step > t:
            break
        a[t] += step
    else:
        a[t] += 100
    """
    assert run(body, out, block=4).errors == ()
    assert out.tolist() == [0, 1, 3, 3]


def test_a_tuple_of_different_types_is_unrolled(run: Any) -> None:
    out = np.zeros(3)
    run("k = 0\nfor x in (1, 2.5, b):\n    a[k] = x / 2\n    k += 1", out, np.int32(7))
    assert out.tolist() == [0.5, 1.25, 3.5]


def test_nested_loops_over_arrays_in_divergent_code(run: Any) -> None:
    out = np.zeros(4, np.int64)
    body = """
    t = cuda.threadIdx.x
    if t < 3:
        for x in b:
            for y in b[:2]:
                if y > x:
                    continue
                a[t] += x - y + t
    """
    assert run(body, out, VALUES, block=4).errors == ()
    plain = [sum(x - y + t for x in VALUES.tolist() for y in (5, 7) if y <= x) for t in range(3)]
    assert out.tolist() == [*plain, 0]


def test_a_loop_variable_that_the_body_reuses_for_an_array(run: Any) -> None:
    out = np.zeros(1)
    assert (
        run(
            "for t in range(2):\n    for i in range(3):\n        t = b\n        a[0] += t[i]", out, VALUES
        ).errors
        == ()
    )
    assert out[0] == 46


def test_a_number_cannot_be_walked_over(run: Any) -> None:
    (finding,) = run("for x in 3.5:\n    a[0] = x", np.zeros(1)).errors
    assert finding.facts["rule"] == "not-iterable"


def test_threads_with_a_step_of_zero_end_at_the_range(run: Any) -> None:
    out = np.zeros(4, np.int64)
    body = """
    t = cuda.threadIdx.x
    a[t] = 1
    for r in range(2):
        for k in range(0, 4, t):
            a[t] += 10
        a[t] += 100
    """
    (finding,) = run(body, out, block=4).errors
    assert (finding.name, finding.counts, finding.loops) == ("zero-step", {"threads": 1}, (("r", 0),))
    assert finding.threads[0].thread == (0, 0, 0)
    assert out.tolist() == [1, 281, 241, 241]


def test_a_step_of_zero_ends_every_thread(run: Any) -> None:
    out = np.zeros(4, np.int64)
    body = "t = cuda.threadIdx.x\nfor k in range(0, 4, a[t]):\n    a[t] += 1\na[t] = 7"
    assert [one.name for one in run(body, out, block=4).errors] == ["zero-step"]
    assert out.tolist() == [0, 0, 0, 0]


def test_steps_that_differ_and_are_not_zero(run: Any) -> None:
    out = np.zeros(4, np.int64)
    body = """
    t = cuda.threadIdx.x
    for k in range(0, 4, t + 1):
        a[t] += 1
    for k in range(4, 0, -1 - t):
        a[t] += 10
    """
    assert run(body, out, block=4).errors == ()
    assert out.tolist() == [44, 22, 22, 11]
