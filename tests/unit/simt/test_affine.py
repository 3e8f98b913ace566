"""Linear forms against brute force over all threads."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.simt import affine
from grader.simt.affine import Affine, Extents

COMPARE = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


@st.composite
def pairs(draw: Any) -> tuple[Any, Any]:
    """Two linear forms (or plain integers) over the same axes."""
    extents = Extents(draw(SHAPES))

    def one() -> Any:
        base = draw(st.integers(-50, 50))
        coefs = draw(st.tuples(*[st.integers(-6, 6)] * extents.naxes))
        return Affine(base, coefs, extents) if any(coefs) else base

    return one(), one()


def brute(value: Any, shape: tuple[int, ...]) -> Any:
    """The value of every thread, by the definition."""
    if isinstance(value, int):
        return np.full(shape, value)
    found = np.empty(shape, np.int64)
    for place in np.ndindex(*shape):
        found[place] = value.base + sum(c * at for c, at in zip(value.coefs, place, strict=True))
    return found


def shape_of(*values: Any) -> tuple[int, ...]:
    return next((value.extents.shape for value in values if isinstance(value, Affine)), (1,))


@settings(max_examples=150, deadline=None)
@given(pairs())
def test_sum_and_difference(pair: tuple[Any, Any]) -> None:
    a, b = pair
    shape = shape_of(a, b)
    assert np.array_equal(brute(affine.add(a, b), shape), brute(a, shape) + brute(b, shape))
    assert np.array_equal(brute(affine.subtract(a, b), shape), brute(a, shape) - brute(b, shape))


@settings(max_examples=100, deadline=None)
@given(pairs(), st.integers(-9, 9))
def test_product_bounds_and_array(pair: tuple[Any, Any], factor: int) -> None:
    a, _ = pair
    if isinstance(a, int):
        return
    every = brute(a, a.extents.shape)
    assert a.bounds() == (every.min(), every.max())
    assert np.array_equal(np.broadcast_to(a.array(), every.shape), every)
    assert np.array_equal(brute(affine.scale(a, factor), every.shape), every * factor)


@settings(max_examples=200, deadline=None)
@given(pairs(), st.integers(-3, 12))
def test_a_quotient_in_linear_form_is_the_quotient(pair: tuple[Any, Any], divisor: int) -> None:
    a, _ = pair
    if isinstance(a, int):
        return
    parts = affine.divide(a, divisor)
    if parts is not None:
        every = brute(a, a.extents.shape)
        assert np.array_equal(brute(parts[0], every.shape), every // divisor)
        assert np.array_equal(brute(parts[1], every.shape), every % divisor)


@settings(max_examples=200, deadline=None)
@given(pairs(), st.sampled_from(sorted(COMPARE)))
def test_comparison(pair: tuple[Any, Any], name: str) -> None:
    a, b = pair
    shape = shape_of(a, b)
    wanted = COMPARE[name](brute(a, shape), brute(b, shape))
    assert np.array_equal(np.broadcast_to(affine.compare(name, a, b), shape), wanted)


def test_a_factored_axis_divides() -> None:
    """``tid // 4`` and ``tid % 4`` of 3 x 4 threads are the two axes."""
    extents = Extents((3, 4))
    parts = affine.divide(Affine(0, (4, 1), extents), 4)
    assert parts is not None
    quotient, rest = parts
    assert isinstance(quotient, Affine)
    assert isinstance(rest, Affine)
    assert (quotient.base, quotient.coefs) == (0, (1, 0))
    assert (rest.base, rest.coefs) == (0, (0, 1))


def test_an_axis_that_is_not_factored_does_not_divide() -> None:
    assert affine.divide(Affine(0, (1,), Extents((12,))), 4) is None
    assert affine.divide(Affine(0, (4, 1), Extents((3, 4))), 0) is None
    assert affine.divide(Affine(1, (4, 1), Extents((3, 4))), 4) is None


def test_the_same_comparison_gives_the_same_array() -> None:
    value = Affine(0, (1,), Extents((8,)))
    assert affine.compare("lt", value, 5) is affine.compare("lt", affine.add(value, 2), 7)


def test_values_beyond_64_bits_wrap() -> None:
    value = affine.scale(Affine(0, (1,), Extents((3,))), 2**63)
    assert isinstance(value, Affine)
    assert value.array().tolist() == [0, -(2**63), 0]
    assert np.asarray(affine.compare("lt", value, 0)).tolist() == [False, True, False]


def test_kept_arrays_are_bounded() -> None:
    extents = Extents((65_536,))
    for step in range(1, 400):
        Affine(0, (step,), extents).array()
    assert sum(array.nbytes for array in extents._linear.values()) <= affine.KEPT_BYTES
