"""Whole numbers that are linear in the launch's axes.

``threadIdx.x``, ``blockIdx.y * TILE + threadIdx.y`` and nearly every index that kernels compute
are a base plus one coefficient for each axis of the launch. Kept in that form they cost nothing
to add or multiply, their least and greatest value is known at once, and memory can be read through
a strided view without forming an address for each thread.
"""

from __future__ import annotations

from operator import add as plus
from typing import Any

import numpy as np
import numpy.typing as npt

KEPT_BYTES = 32 << 20


class Extents:
    """The axes of one chunk of a launch: how many values each takes.

    Arrays of ``np.int64`` for linear forms are made once and kept: the same guard is evaluated in
    every iteration of a loop, and a comparison that gives the same object again lets the masks
    derived from it be recognised as the same too.
    """

    __slots__ = ("_compared", "_kept", "_linear", "naxes", "shape", "zero")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.naxes = len(shape)
        self.zero = (0,) * self.naxes
        self._linear: dict[tuple[int, ...], npt.NDArray[np.int64]] = {}
        self._compared: dict[tuple[str, int, tuple[int, ...]], npt.NDArray[np.bool_]] = {}
        self._kept = 0

    def linear(self, coefs: tuple[int, ...]) -> npt.NDArray[np.int64]:
        """Sum of coefficient times coordinate, broadcastable to the chunk's shape (int64)."""
        found = self._linear.get(coefs)
        if found is None:
            found = np.zeros((1,) * self.naxes, np.int64)
            for axis, coef in enumerate(coefs):
                if coef:
                    along = [1] * self.naxes
                    along[axis] = self.shape[axis]
                    step = np.int64(_wrapped(coef))
                    found = found + (step * np.arange(self.shape[axis], dtype=np.int64)).reshape(along)
            self._keep(self._linear, coefs, found)
        return found

    def compare(self, operator: str, coefs: tuple[int, ...], bound: int) -> npt.NDArray[np.bool_]:
        """``linear(coefs) <operator> bound`` for the operators lt, le, eq (bool)."""
        key = (operator, bound, coefs)
        found = self._compared.get(key)
        if found is None:
            values = self.linear(coefs)
            found = {"lt": np.less, "le": np.less_equal, "eq": np.equal}[operator](values, bound)
            self._keep(self._compared, key, found)
        return found

    def _keep(self, memory: dict[Any, Any], key: Any, array: npt.NDArray[Any]) -> None:
        """Keep an array for the next time, within bounds."""
        self._kept += array.nbytes
        if self._kept > KEPT_BYTES:
            self._linear.clear()
            self._compared.clear()
            self._kept = array.nbytes
        memory[key] = array


class Affine:
    """``base + sum(coefs[i] * axis[i])`` over the axes of a chunk."""

    __slots__ = ("base", "coefs", "extents")

    def __init__(self, base: int, coefs: tuple[int, ...], extents: Extents) -> None:
        self.base = base
        self.coefs = coefs
        self.extents = extents

    def bounds(self) -> tuple[int, int]:
        """Least and greatest value over the chunk."""
        low = high = self.base
        for coef, extent in zip(self.coefs, self.extents.shape, strict=True):
            if coef > 0:
                high += coef * (extent - 1)
            elif coef:
                low += coef * (extent - 1)
        return low, high

    def array(self) -> npt.NDArray[np.int64]:
        """The values, broadcastable to the chunk's shape (int64)."""
        values = self.extents.linear(self.coefs)
        return values + _wrapped(self.base) if self.base else values


Whole = int | Affine


def _wrapped(value: int) -> int:
    """A Python integer as 64 bits hold it."""
    return value if -(2**63) <= value < 2**63 else (value + 2**63) % 2**64 - 2**63


def _overflows(value: Whole) -> bool:
    """Whether some thread's value does not fit 64 bits, where a device wraps."""
    low, high = (value, value) if isinstance(value, int) else value.bounds()
    return low < -(2**63) or high >= 2**63


def _make(base: int, coefs: tuple[int, ...], extents: Extents) -> Whole:
    return Affine(base, coefs, extents) if any(coefs) else base


def add(a: Whole, b: Whole) -> Whole:
    """The sum, in linear form."""
    if isinstance(a, int):
        return a + b if isinstance(b, int) else Affine(a + b.base, b.coefs, b.extents)
    if isinstance(b, int):
        return Affine(a.base + b, a.coefs, a.extents)
    return _make(a.base + b.base, tuple(map(plus, a.coefs, b.coefs)), a.extents)


def scale(a: Affine, factor: int) -> Whole:
    """``a * factor``."""
    return _make(a.base * factor, tuple([coef * factor for coef in a.coefs]), a.extents)


def subtract(a: Whole, b: Whole) -> Whole:
    """The difference, in linear form."""
    if isinstance(b, int):
        return add(a, -b)
    return add(a, scale(b, -1))


def divide(a: Affine, divisor: int) -> tuple[Whole, Whole] | None:
    """Quotient and remainder (rounded down) in linear form, or None where they have none.

    They do where ``a`` splits into a multiple of the divisor and a rest that stays within
    ``range(divisor)``: the shape of ``tid // TILE`` once the flat axis is factored.
    """
    if divisor <= 0:
        return None
    rest = Affine(a.base % divisor, tuple([coef % divisor and coef for coef in a.coefs]), a.extents)
    low, high = rest.bounds()
    if low < 0 or high >= divisor:
        return None
    base = (a.base - rest.base) // divisor
    quotient = tuple([0 if coef % divisor else coef // divisor for coef in a.coefs])
    return _make(base, quotient, a.extents), _make(rest.base, rest.coefs, a.extents)


def compare(operator: str, a: Whole, b: Whole) -> bool | npt.NDArray[np.bool_]:
    """``a <operator> b``; a plain bool where it is the same for every thread of the chunk."""
    if isinstance(a, int) and isinstance(b, int):
        return bool(_PLAIN[operator](a, b))
    if operator in ("gt", "ge"):
        operator, a, b = {"gt": "lt", "ge": "le"}[operator], b, a
    difference = subtract(a, b)
    if isinstance(difference, int):
        return bool(_PLAIN[operator](difference, 0))
    low, high = difference.bounds()
    if (low < -(2**62) or high >= 2**62) and (_overflows(a) or _overflows(b) or _overflows(difference)):
        return _by_value(operator, a, b)
    if operator == "ne":
        same = _decide("eq", low, high)
        if same is not None:
            return not same
        return np.logical_not(difference.extents.compare("eq", difference.coefs, -difference.base))
    known = _decide(operator, low, high)
    if known is not None:
        return known
    return difference.extents.compare(operator, difference.coefs, -difference.base)


def _by_value(operator: str, a: Whole, b: Whole) -> npt.NDArray[np.bool_]:
    """The comparison of what 64 bits hold."""
    left, right = (part.array() if isinstance(part, Affine) else np.int64(_wrapped(part)) for part in (a, b))
    ufunc = {"lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal}[operator]
    return np.asarray(ufunc(left, right))


def _decide(operator: str, low: int, high: int) -> bool | None:
    """Whether values in [low, high] compare to 0 all alike."""
    if operator == "eq":
        return False if low > 0 or high < 0 else None
    limit = -1 if operator == "lt" else 0
    if high <= limit:
        return True
    return False if low > limit else None


_PLAIN: dict[str, Any] = {
    "lt": int.__lt__,
    "le": int.__le__,
    "gt": int.__gt__,
    "ge": int.__ge__,
    "eq": int.__eq__,
    "ne": int.__ne__,
}
