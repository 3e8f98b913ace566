from __future__ import annotations

import numpy as np
import pytest

from grader.rubric.reference import BadReference, check_reference, evaluate_reference, matrix_product

A = np.arange(6.0).reshape(2, 3) - 2
B = np.arange(12.0).reshape(3, 4) - 5
X = np.array([1.0, -2.0, 3.0, -4.0])


def test_a_product_carries_its_magnitude_and_its_terms() -> None:
    estimate = evaluate_reference("A @ B", {"A": A, "B": B})
    assert np.array_equal(estimate.value, A @ B)
    assert np.array_equal(estimate.magnitude, np.abs(A) @ np.abs(B))
    assert estimate.terms == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A.T", A.T),
        ("sum(x)", -2.0),
        ("sum(A, 1)", A.sum(axis=1)),
        ("max(x)", 3.0),
        ("min(x, 0)", np.minimum(X, 0)),
        ("2 * x - x / 2", 1.5 * X),
        ("-x", -X),
        ("sqrt(abs(x))", np.sqrt(np.abs(X))),
        ("shift(x, 1)", [0, 1, -2, 3]),
        ("shift(x, -1) + shift(x, 1)", [-2, 4, -6, 3]),
        ("shift(x, 9)", [0, 0, 0, 0]),
    ],
)
def test_the_language(text: str, value: object) -> None:
    check_reference(text, {"A", "B", "x"})
    assert np.array_equal(evaluate_reference(text, {"A": A, "B": B, "x": X}).value, value)


def test_a_difference_has_the_magnitude_of_a_sum() -> None:
    assert np.array_equal(evaluate_reference("x - x", {"x": X}).magnitude, 2 * np.abs(X))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("A @ D", "'D' in the reference is no input; the inputs are A, B"),
        ("A.__class__", "not allowed"),
        ("open('x')", "not allowed"),
        ("A[0]", "not allowed"),
        ("A @", "cannot read"),
        ("[A]", "not allowed"),
    ],
)
def test_anything_else_is_refused(text: str, what: str) -> None:
    with pytest.raises(BadReference, match=what.replace("(", r"\(")):
        check_reference(text, {"A", "B"})


def test_plain_products_are_recognised() -> None:
    assert matrix_product("A @ B") == ("A", "B")
    assert matrix_product("A @ B.T") is None
    assert matrix_product("sum(A)") is None
