"""Atomic operations: their results, their order, and what they do to undefined words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.simt import Run, launch


def run(body: str, args: tuple[Any, ...], *, grid: Any = 1, block: Any = 8) -> Run:
    head = (
        "from numba import cuda, float32, int32\n\n@cuda.jit\ndef kernel(a, out):\n    t = cuda.threadIdx.x\n"
    )
    source = head + "    " + body.replace("\n", "\n    ") + "\n"
    return launch(source, "kernel", grid=grid, block=block, args=args)


VALUES = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)


@pytest.mark.parametrize(
    ("name", "start", "expected"),
    [
        ("add", 10, 10 + 31),
        ("sub", 10, 10 - 31),
        ("max", 7, 9),
        ("min", 7, 1),
        ("and_", 15, 0),
        ("or_", 0, 15),
        ("xor", 0, 3 ^ 1 ^ 4 ^ 1 ^ 5 ^ 9 ^ 2 ^ 6),
        ("exch", 0, 6),
    ],
)
def test_an_operation_on_one_word(name: str, start: int, expected: int) -> None:
    for dtype in (np.int32, np.int64):
        out = np.full(1, start, dtype)
        assert run(f"cuda.atomic.{name}(out, 0, a[t])", (VALUES, out)).errors == ()
        assert out.tolist() == [expected]


def test_inc_and_dec_wrap_at_their_limit() -> None:
    out = np.array([0, 2], np.uint32)
    run("cuda.atomic.inc(out, 0, 4)\ncuda.atomic.dec(out, 1, 4)", (VALUES, out))
    assert out.tolist() == [3, 4]


def test_old_values_come_in_the_order_of_threads() -> None:
    out = np.zeros(9, np.int32)
    assert run("out[t + 1] = cuda.atomic.add(out, 0, 10)", (VALUES, out)).errors == ()
    assert out.tolist() == [80, 0, 10, 20, 30, 40, 50, 60, 70]


def test_compare_and_swap_lets_one_thread_in() -> None:
    out = np.zeros(9, np.int32)
    run("out[t + 1] = cuda.atomic.cas(out, 0, 0, t + 5)", (VALUES, out))
    assert out.tolist() == [5, 0, 5, 5, 5, 5, 5, 5, 5]
    lock = np.zeros(1, np.int32)
    run("cuda.atomic.compare_and_swap(out, 0, t + 5)", (VALUES, lock))
    assert lock.tolist() == [5]


def test_float_sums_and_two_dimensional_indices() -> None:
    out = np.zeros((2, 2), np.float32)
    run("cuda.atomic.add(out, (t % 2, t // 4), a[t] * 0.5)", (VALUES, out))
    assert out.tolist() == [[3.5, 3.5], [1.0, 7.5]]


def test_narrow_integers_wrap() -> None:
    out = np.full(1, 2**31 - 1, np.int32)
    run("cuda.atomic.add(out, 0, 1)", (VALUES, out), block=2)
    assert out.tolist() == [-(2**31) + 1]


def test_atomics_among_themselves_are_no_race() -> None:
    out = np.zeros(1, np.int32)
    assert run("cuda.atomic.add(out, 0, 1)", (VALUES, out), grid=5, block=64).findings == ()
    assert out.tolist() == [320]


def test_an_atomic_against_a_plain_access_of_another_block() -> None:
    out = np.zeros(65, np.int32)
    result = run(
        "cuda.atomic.add(out, 0, 1)\nout[t + 1] = 7 if cuda.blockIdx.x else out[0]", (VALUES, out), grid=2
    )
    scopes = {(f.name, f.facts["scope"]) for f in result.errors}
    assert ("global-read-write-race", "grid") in scopes


def test_an_undefined_word_stays_undefined() -> None:
    out = np.zeros(8, np.int32)
    body = "S = cuda.shared.array(1, int32)\ncuda.atomic.add(S, 0, 1)\ncuda.syncthreads()\nout[t] = S[0]"
    assert {f.name for f in run(body, (VALUES, out)).errors} == {"uninitialised-shared-read"}


def test_an_exchange_defines_a_word() -> None:
    out = np.zeros(8, np.int32)
    body = "S = cuda.shared.array(1, int32)\ncuda.atomic.exch(S, 0, 7)\ncuda.syncthreads()\nout[t] = S[0]"
    assert run(body, (VALUES, out)).errors == ()
    assert out.tolist() == [7] * 8


def test_a_masked_and_an_outlying_index() -> None:
    out = np.zeros(4, np.int32)
    result = run("if t > 1:\n    cuda.atomic.add(out, t, 1)", (VALUES, out))
    assert out.tolist() == [0, 0, 1, 1]
    (finding,) = result.errors
    assert (finding.name, finding.counts["threads"]) == ("out-of-bounds-write", 4)


def test_a_local_array_is_refused() -> None:
    (finding,) = run(
        "L = cuda.local.array(2, int32)\ncuda.atomic.add(L, 0, 1)", (VALUES, VALUES.copy())
    ).findings
    assert (finding.name, finding.facts["construct"]) == ("unsupported-construct", "atomic-on-local-array")
