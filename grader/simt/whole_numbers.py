"""Arithmetic on whole numbers, which keeps linear values linear where it can."""

from __future__ import annotations

import numpy as np

from grader.simt import affine
from grader.simt.affine import Affine
from grader.simt.values import Value, numeric, wrap


def _linear(a: Value, b: Value) -> bool:
    ta, tb = type(a), type(b)
    return (ta is int or ta is Affine) and (tb is int or tb is Affine)


def int_add(a: Value, b: Value) -> Value:
    """``a + b``, linear where both are; 64-bit results wrap."""
    if _linear(a, b):
        result = affine.add(a, b)
        return wrap(result, "q") if type(result) is int else result
    return np.add(numeric(a), numeric(b))


def int_subtract(a: Value, b: Value) -> Value:
    """``a - b``, as :func:`int_add`."""
    if _linear(a, b):
        result = affine.subtract(a, b)
        return wrap(result, "q") if type(result) is int else result
    return np.subtract(numeric(a), numeric(b))


def int_multiply(a: Value, b: Value) -> Value:
    """``a * b``, linear where one of them is uniform."""
    if type(a) is int:
        if type(b) is int:
            return wrap(a * b, "q")
        if type(b) is Affine:
            return affine.scale(b, a)
    elif type(b) is int and type(a) is Affine:
        return affine.scale(a, b)
    return np.multiply(numeric(a), numeric(b))


def int_divide(a: Value, b: Value) -> Value:
    """Quotient rounded down; a division by zero gives 0, as numba's device code does not trap."""
    if type(b) is int:
        if type(a) is int:
            return a // b if b else 0
        if type(a) is Affine:
            parts = affine.divide(a, b)
            if parts is not None:
                return parts[0]
    return _by_divisor(np.floor_divide, a, b)


def int_remainder(a: Value, b: Value) -> Value:
    """Remainder with the sign of the divisor."""
    if type(b) is int:
        if type(a) is int:
            return a % b if b else 0
        if type(a) is Affine:
            parts = affine.divide(a, b)
            if parts is not None:
                return parts[1]
    return _by_divisor(np.remainder, a, b)


def _by_divisor(ufunc: np.ufunc, a: Value, b: Value) -> Value:
    return ufunc(numeric(a), numeric(b))


def int_and(a: Value, b: Value) -> Value:
    """``a & b``; a low mask of a linear value is a remainder."""
    if type(a) is int and type(b) is int:
        return a & b
    if type(a) is Affine and type(b) is int and b >= 0 and (b & (b + 1)) == 0:
        parts = affine.divide(a, b + 1)
        if parts is not None:
            return parts[1]
    return np.bitwise_and(numeric(a), numeric(b))


def int_shift_right(a: Value, b: Value) -> Value:
    """``a >> b``; of a linear value a quotient."""
    if type(b) is int and 0 <= b < 63:
        if type(a) is int:
            return a >> b
        if type(a) is Affine:
            parts = affine.divide(a, 1 << b)
            if parts is not None:
                return parts[0]
    return np.right_shift(numeric(a), numeric(b))


def int_shift_left(a: Value, b: Value) -> Value:
    """``a << b``; of a linear value a product."""
    if type(b) is int and 0 <= b < 63 and type(a) in (int, Affine):
        return int_multiply(a, 1 << b)
    return np.left_shift(numeric(a), numeric(b))


def int_minimum(a: Value, b: Value) -> Value:
    """The smaller, without looking at threads where bounds tell."""
    if _linear(a, b):
        smaller = affine.compare("le", a, b)
        if isinstance(smaller, bool):
            return a if smaller else b
    return np.minimum(numeric(a), numeric(b))


def int_maximum(a: Value, b: Value) -> Value:
    """The greater, without looking at threads where bounds tell."""
    if _linear(a, b):
        greater = affine.compare("ge", a, b)
        if isinstance(greater, bool):
            return a if greater else b
    return np.maximum(numeric(a), numeric(b))
