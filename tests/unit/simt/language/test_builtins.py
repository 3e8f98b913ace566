"""Python's builtin functions, with numba's types and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (0.5425, 3, 0.542),
        (1234.5, -2, 1200.0),
        (2.5, 0, 2.0),
        (0.12345678987654321e-15, 23, 1.2345679e-16),
        (np.finfo(np.float64).max, 12, np.finfo(np.float64).max),
        (np.inf, 2, np.inf),
    ],
)
def test_round_to_digits(run: Any, value: float, digits: int, expected: float) -> None:
    out = np.zeros(1)
    assert run("a[0] = round(b, c)", out, value, np.int32(digits)).errors == ()
    assert out[0] == pytest.approx(expected, rel=1e-15)


def test_round_to_digits_of_a_float32_scales_in_float64(run: Any) -> None:
    out = np.zeros(2, np.float32)
    run("a[0] = round(b, 3)\na[1] = round(c, 300)", out, np.float32(0.3425), np.finfo(np.float32).max)
    assert out.tolist() == [np.float32(0.343), np.finfo(np.float32).max]


def test_round_without_digits_gives_an_integer_to_the_even_side(run: Any) -> None:
    out = np.zeros(4, np.int64)
    run("a[0] = round(0.5)\na[1] = round(1.5)\na[2] = round(-2.5)\na[3] = round(float32(3.7))", out)
    assert out.tolist() == [0, 2, -2, 4]


def test_divmod_has_the_divisors_sign(run: Any) -> None:
    out = np.zeros(2, np.int64)
    run("q, r = divmod(b, 3)\na[0] = q\na[1] = r", out, -7)
    assert out.tolist() == [-3, 2]


def test_extremes_and_sum_of_tuples(run: Any) -> None:
    out = np.zeros(4)
    run("t = (3, 1.5, 2)\na[0] = min(t)\na[1] = max(t)\na[2] = sum(t)\na[3] = len(t)", out)
    assert out.tolist() == [1.5, 3.0, 6.5, 3.0]


def test_extremes_take_the_number_beside_a_nan(run: Any) -> None:
    out = np.zeros(4)
    run("a[0] = min(b, 2.0)\na[1] = max(2.0, b)\na[2] = min(b, b)\na[3] = max(b, c)", out, np.nan, -1.0)
    assert out[[0, 1, 3]].tolist() == [2.0, 2.0, -1.0]
    assert np.isnan(out[2])


def test_abs_of_a_bool_is_an_integer(run: Any) -> None:
    out = np.zeros(2)
    run("a[0] = abs(b > 0) + 1\na[1] = abs(-3) / 2", out, 5)
    assert out.tolist() == [2.0, 1.5]


def test_float_of_a_bool_is_refused(run: Any) -> None:
    (finding,) = run("a[0] = float(b > 0)", np.zeros(1), 5).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "argument-type")


def test_fma_rounds_once(run: Any) -> None:
    out = np.zeros(2, np.float32)
    x = np.float32(1 + 2**-12)
    run("a[0] = cuda.fma(b, b, c)\na[1] = b * b + c", out, x, np.float32(-1))
    assert out[0] == np.float32(2.0**-11 + 2.0**-24)
    assert out[1] == np.float32(2.0**-11)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add", 9),
        ("sub", 5),
        ("mul", 14),
        ("floordiv", 3),
        ("truediv", 3.5),
        ("mod", 1),
        ("lt", 0),
        ("xor", 5),
    ],
)
def test_functions_of_operator(run: Any, name: str, expected: float) -> None:
    out = np.zeros(1)
    assert run(f"a[0] = operator.{name}(b, 2)", out, 7).errors == ()
    assert out[0] == expected


def test_membership_in_a_tuple(run: Any) -> None:
    out = np.zeros((6, 2), np.int64)
    run("t = cuda.threadIdx.x\na[t, 0] = t in (1, 4)\na[t, 1] = t not in [0, 1]", out, block=6)
    assert out.tolist() == [[0, 0], [1, 0], [0, 1], [0, 1], [1, 1], [0, 1]]
