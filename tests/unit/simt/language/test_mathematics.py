"""``math``, NumPy's functions of numbers, ``cmath``, float16 and bits."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("math.exp2(b)", 2**2.75),
        ("math.erfc(b)", math.erfc(2.75)),
        ("math.remainder(b, 2.0)", 0.75),
        ("math.fmod(-b, 2.0)", -0.75),
        ("math.nextafter(b, 9.0)", math.nextafter(2.75, 9)),
        ("math.ldexp(b, 3)", 22.0),
        ("math.modf(b)[0]", 0.75),
        ("math.modf(b)[1]", 2.0),
        ("math.frexp(b)[0]", 0.6875),
        ("math.frexp(b)[1]", 2.0),
        ("math.copysign(b, -1.0)", -2.75),
        ("math.gamma(5.0)", 24.0),
        ("math.trunc(-b)", -2.0),
        ("cuda.cbrt(27.0)", 3.0),
        ("np.maximum(b, 3.0)", 3.0),
        ("np.arctan2(b, 1.0)", math.atan2(2.75, 1)),
    ],
)
def test_a_function_of_a_float64(run: Any, call: str, expected: float) -> None:
    out = np.zeros(1)
    assert run(f"a[0] = {call}", out, 2.75).errors == ()
    assert out[0] == pytest.approx(expected, rel=1e-15)


def test_erfc_keeps_its_small_values(run: Any) -> None:
    out = np.zeros(1)
    run("a[0] = math.erfc(8.0)", out)
    assert out[0] == pytest.approx(1.1224297172982928e-29, rel=1e-12)


def test_ieee_remainder_of_nothing_is_nan(run: Any) -> None:
    out = np.zeros(1)
    run("a[0] = math.remainder(b, b)", out, 0.0)
    assert np.isnan(out[0])


def test_functions_of_integers_are_computed_in_float64(run: Any) -> None:
    out = np.zeros(2)
    run("a[0] = math.sqrt(b)\na[1] = math.ceil(b) / 2", out, np.int32(2))
    assert out.tolist() == [math.sqrt(2), 1.0]


def test_pow_of_a_float32_and_an_int32_stays_float32(run: Any) -> None:
    out = np.zeros(2)
    run("a[0] = math.pow(b, c)\na[1] = math.pow(b, d)", out, np.float32(1.1), np.int32(2), np.int64(2))
    assert out[0] == np.power(np.float32(1.1), np.float32(2))
    assert out[1] == np.power(np.float64(np.float32(1.1)), 2.0)


def test_a_logarithm_takes_no_base(run: Any) -> None:
    (finding,) = run("a[0] = math.log(b, 2.0)", np.zeros(1), 3.0).errors
    assert finding.facts["rule"] == "argument-count"


def test_a_function_of_an_array_is_not_followed(run: Any) -> None:
    (finding,) = run("np.sin(a, a)", np.zeros(3)).errors
    assert (finding.name, finding.facts["construct"]) == ("unsupported-construct", "function-of-arrays")


@pytest.mark.parametrize(
    ("call", "dtype", "value", "expected"),
    [
        ("cuda.popc(b)", np.uint32, 0xF0F0, 8),
        ("cuda.popc(b)", np.int64, -1, 64),
        ("cuda.clz(b)", np.int32, 0x00FF, 24),
        ("cuda.clz(b)", np.uint64, 1, 63),
        ("cuda.ffs(b)", np.int32, 0, 0),
        ("cuda.ffs(b)", np.int64, 1 << 40, 41),
        ("cuda.brev(b)", np.uint32, 0b1101, 0b1011 << 28),
        ("cuda.brev(b)", np.int64, 1, 1 << 31),
        ("cuda.brev(b)", np.uint64, 1, 1 << 63),
        ("b.bit_count()", np.uint16, 0xFFFF, 16),
    ],
)
def test_bits(run: Any, call: str, dtype: type, value: int, expected: int) -> None:
    out = np.zeros(1, np.uint64)
    assert run(f"a[0] = {call}", out, dtype(value)).errors == ()
    assert out[0] == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("cuda.fp16.hadd(b, c)", np.float16(1.5) + np.float16(0.7)),
        ("cuda.fp16.hdiv(b, c)", np.float16(1.5) / np.float16(0.7)),
        ("cuda.fp16.hmax(b, c)", np.float16(1.5)),
        ("cuda.fp16.hneg(b)", np.float16(-1.5)),
        ("cuda.fp16.hexp2(b)", np.float16(2**1.5)),
        ("cuda.fp16.hlt(b, c)", np.float16(0)),
        ("cuda.fp16.hge(b, c)", np.float16(1)),
        ("float16(2)", np.float16(2)),
        ("math.sqrt(b)", np.sqrt(np.float16(1.5))),
    ],
)
def test_half_precision(run: Any, call: str, expected: np.float16) -> None:
    out = np.zeros(1, np.float16)
    assert run(f"a[0] = {call}", out, np.float16(1.5), np.float16(0.7)).errors == ()
    assert out[0] == expected


def test_a_fused_half_rounds_once(run: Any) -> None:
    out = np.zeros(1, np.float16)
    x = np.float16(1 + 2**-7)
    run("a[0] = cuda.fp16.hfma(b, b, c)", out, x, np.float16(-1))
    assert out[0] == np.float16((1 + 2**-7) ** 2 - 1)


@pytest.mark.parametrize("name", ["exp", "sqrt", "log", "sin", "acosh", "tanh"])
def test_complex_functions(run: Any, name: str) -> None:
    out = np.zeros(1, np.complex128)
    run(f"a[0] = cmath.{name}(b)", out, 0.5 + 2j)
    assert out[0] == getattr(cmath, name)(0.5 + 2j)


def test_parts_of_complex_numbers(run: Any) -> None:
    out = np.zeros(4, np.complex128)
    z = 3 - 4j
    body = (
        "a[0] = b.conjugate()\na[1] = complex(b.imag, b.real)\na[2] = complex(*cmath.polar(b))\na[3] = abs(b)"
    )
    assert run(body, out, z).errors == ()
    assert out.tolist() == [3 + 4j, -4 + 3j, complex(*cmath.polar(z)), 5]


def test_a_complex_number_is_no_float(run: Any) -> None:
    (finding,) = run("a[0] = math.sqrt(b)", np.zeros(1), 1j).errors
    assert finding.facts["rule"] == "argument-type"


@pytest.mark.parametrize(
    "call",
    [
        "math.fma(b, b, b)", "math.cbrt(b)", "math.sumprod(a, a)", "math.gcd(4, 2)", "math.isqrt(4)",
        "math.comb(4, 2)", "math.dist(b, b)", "math.ulp(b)", "math.isclose(b, b)", "math.nothing(b)",
        "np.nothing(b)",
    ],
)  # fmt: skip
def test_what_the_target_does_not_know_of_math_is_no_attribute(run: Any, call: str) -> None:
    (finding,) = run(f"a[0] = {call}", np.zeros(1), 3.0).errors
    module, _, name = call.partition("(")[0].partition(".")
    facts = finding.facts
    assert (finding.name, facts["rule"], facts["name"]) == ("type-error", "unknown-attribute", name)
    assert facts["got"] == {"np": "numpy"}.get(module, module)
