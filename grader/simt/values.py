"""Values of one expression for every thread of a chunk, and arithmetic on them.

A value is a plain Python or NumPy scalar where it is the same for all threads, an
:class:`~grader.simt.affine.Affine` where it is a whole number linear in the launch's axes, and
otherwise an array broadcastable to the chunk's shape. :class:`Tainted` adds which threads' values
came from a word that nobody wrote (or that a skipped store left behind); it exists only where
there is such a thread, and NumPy's override protocol carries it through every ufunc, so that clean
code pays nothing for it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from grader.simt import affine
from grader.simt.affine import Affine

UNDEFINED: Final = 1
STALE: Final = 2

Value = Any


class Tainted:
    """A value with, for each thread, the bits UNDEFINED and STALE of what it was computed from."""

    __slots__ = ("taint", "value")

    def __init__(self, value: Value, taint: npt.NDArray[np.uint8]) -> None:
        self.value = value
        self.taint = taint

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kwargs.pop("out", None)
        result = getattr(ufunc, method)(*(strip(value) for value in inputs), **kwargs)
        return join(result, *inputs)


def strip(value: Value) -> Value:
    """The value itself, as NumPy takes it."""
    if type(value) is Tainted:
        value = value.value
    return value.array() if type(value) is Affine else value


def taint_of(value: Value) -> npt.NDArray[np.uint8] | None:
    """The taint of a value, or None where it is clean."""
    return value.taint if type(value) is Tainted else None


def join(result: Value, *sources: Value) -> Value:
    """``result`` with the taint of everything it was computed from."""
    taint = None
    for source in sources:
        if type(source) is Tainted:
            taint = source.taint if taint is None else taint | source.taint
    return result if taint is None else Tainted(result, taint)


def is_uniform(value: Value) -> bool:
    """Whether the value is one scalar for all threads."""
    return not isinstance(value, np.ndarray | Affine | Tainted)


def select(condition: Any, yes: Value, no: Value) -> Value:
    """``yes`` where the bool array ``condition`` holds, else ``no``, with their taints."""
    result = np.where(condition, strip(yes), strip(no))
    if type(yes) is not Tainted and type(no) is not Tainted:
        return result
    zero = np.zeros((1,) * condition.ndim, np.uint8)
    left, right = taint_of(yes), taint_of(no)
    taint = np.where(condition, zero if left is None else left, zero if right is None else right)
    return Tainted(result, taint) if taint.any() else result


# -- casts -----------------------------------------------------------------------------------------

_INT_BOUNDS = {code: (int(np.iinfo(code).min), int(np.iinfo(code).max)) for code in "bhiqBHIQ"}


def wrap(value: int, code: str) -> int:
    """A Python integer wrapped to the width of an integer type."""
    low, high = _INT_BOUNDS[code]
    if low <= value <= high:
        return value
    return (value - low) % (high - low + 1) + low


def cast(value: Value, code: str) -> Value:
    """``value`` converted to the scalar type ``code`` the way a C cast does."""
    kind = type(value)
    if kind is np.ndarray:
        return value if value.dtype.char == code else _cast_array(value, code)
    if kind is Tainted:
        return Tainted(cast(value.value, code), value.taint)
    if kind is Affine:
        if code in _INT_BOUNDS:
            low, high = value.bounds()
            if _INT_BOUNDS[code][0] <= low and high <= _INT_BOUNDS[code][1]:
                return value
        return _cast_array(value.array(), code)
    return cast_scalar(value, code)


def _cast_array(value: npt.NDArray[Any], code: str) -> npt.NDArray[Any]:
    if code in "QLIHB" and value.dtype.kind == "f":
        return value.astype(np.int64).astype(code)
    return value.astype(code, copy=False)


def cast_scalar(value: Any, code: str) -> Any:
    """A uniform scalar of type ``code``: int, float and bool stay Python's, the rest NumPy's."""
    if code == "q":
        return wrap(_truncate(value), "q")
    if code == "d":
        return float(value)
    if code == "?":
        return bool(value)
    if code in _INT_BOUNDS:
        return wrap(_truncate(value), code)
    return np.dtype(code).type(value)


def _truncate(value: Any) -> int:
    try:
        return int(value)
    except (OverflowError, ValueError):
        return -(2**63)


def numeric(value: Value) -> Value:
    """A value that NumPy's ufuncs take: linear forms become arrays."""
    return value.array() if type(value) is Affine else value


def as_condition(value: Value) -> Value:
    """A condition: a plain bool, a bool array, or a :class:`Tainted` of the latter."""
    kind = type(value)
    if kind is bool:
        return value
    if kind is np.ndarray:
        return value if value.dtype == np.bool_ else value != 0
    if kind is Tainted:
        return Tainted(as_condition(np.asarray(value.value)), value.taint)
    if kind is Affine:
        return affine.compare("ne", value, 0)
    return bool(value)
