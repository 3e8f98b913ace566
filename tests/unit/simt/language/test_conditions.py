"""``and`` and ``or``: which operand is the value, and who evaluates it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def pick(t: int, data: list[float]) -> dict[str, float]:
    """What each way of writing it gives for thread ``t`` of 4, by Python's own rules."""
    return {
        "t < 3 and b[t] or 9.0": (t < 3 and data[t]) or 9.0,
        "t < 3 and b[t]": t < 3 and data[t],
        "t < 3 and t > 0 and b[t] or -1.0": (t < 3 and t > 0 and data[t]) or -1.0,
        "t >= 3 or b[t]": t >= 3 or data[t],
        "t >= 3 or t == 1 or b[t] and 7.0": t >= 3 or t == 1 or (data[t] and 7.0),
        "t and b[t - 1] or b[t]": (t and data[t - 1]) or data[t],
    }


@pytest.mark.parametrize("written", pick(0, [0.0] * 3))
def test_a_later_operand_is_read_by_those_threads_alone_that_come_to_it(run: Any, written: str) -> None:
    data = np.array([2.0, 0.0, 5.0])
    out = np.zeros(4)
    found = run(f"t = cuda.threadIdx.x\na[t] = {written}", out, data, block=4)
    assert found.findings == ()
    assert out.tolist() == [float(pick(t, data.tolist())[written]) for t in range(4)]


@pytest.mark.parametrize(
    ("test", "taken"),
    [
        ("t < 3 and b[t]", [1, 0, 1, 0]),
        ("t >= 3 or b[t]", [1, 0, 1, 1]),
        ("not (t < 3 and b[t])", [0, 1, 0, 1]),
        ("t < 3 and b[t] > 1", [1, 0, 1, 0]),
        ("3 > t < b[t]", [1, 0, 1, 0]),
    ],
)
def test_a_number_as_the_last_condition_of_a_test(run: Any, test: str, taken: list[int]) -> None:
    out, body = np.zeros(4), f"t = cuda.threadIdx.x\nif {test}:\n    a[t] = 1"
    assert run(body, out, np.array([2.0, 0.0, 5.0]), block=4).findings == ()
    assert out.tolist() == taken


def test_an_operand_that_no_thread_comes_to_is_not_read(run: Any) -> None:
    out = np.zeros(4)
    found = run("t = cuda.threadIdx.x\na[t] = t > 7 and b[t + 9] or 1.5", out, np.ones(1), block=4)
    assert (found.findings, out.tolist()) == ((), [1.5] * 4)
    assert found.counters.global_load_requests == 0


def test_a_name_that_a_later_operand_sets_is_set_for_those_threads_alone(run: Any) -> None:
    out = np.zeros(4)
    body = "t = cuda.threadIdx.x\nk = {}\nif t < 2 and (k := t) > 0:\n    a[t] = 1\na[t] += 10 * k"
    assert run(body.format("int32(5)"), out, block=4).findings == ()
    assert out.tolist() == [0.0, 11.0, 50.0, 50.0]
    (finding,) = run(body.format("5.0"), out, block=4).errors
    assert finding.facts["construct"] == "walrus-of-another-type"


def test_a_number_that_only_some_threads_set_is_no_constant(run: Any) -> None:
    out = np.zeros(4)
    body = "t = cuda.threadIdx.x\nk = 1\nj = 7\na[t] = t if t < 2 or (k := j) > 9 else 5\na[t] += 10 * k"
    assert run(body, out, block=4).errors == ()
    assert out.tolist() == [10.0, 11.0, 75.0, 75.0]


def test_an_undefined_condition_makes_the_value_undefined(run: Any) -> None:
    body = "s = cuda.shared.array(4, float32)\nt = cuda.threadIdx.x\na[t] = s[t] and 1.0"
    (finding,) = run(body, np.zeros(4), block=4).errors
    assert finding.name == "uninitialised-shared-read"
