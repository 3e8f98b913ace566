"""Functions of ``math`` and NumPy that host code may call on plain values, each bounded in cost.

A number goes in and a number comes out as the library itself gives it: ``np.sqrt(256)`` is a
``np.float64``, which the compiler refuses in a shared array's shape where it takes ``int(np.sqrt(256))``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

MAX_SIZE = 100_000
#: Arguments beyond this make numbers of many thousand digits.
MAX_COMBINATORIAL = 1_000

_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees dist erf erfc exp exp2 expm1 "
    "fabs floor fma fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt lcm ldexp lgamma log "
    "log10 log1p log2 modf nextafter pow radians remainder sin sinh sqrt sumprod tan tanh trunc ulp"
)
_ELEMENTWISE = (
    "abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or "
    "bitwise_xor cbrt ceil clip copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 "
    "fabs float_power floor floor_divide fmax fmin fmod frexp gcd greater greater_equal hypot invert "
    "isfinite isinf isnan isclose lcm ldexp left_shift less less_equal log log10 log1p log2 "
    "logical_and logical_not logical_or maximum minimum mod modf multiply negative not_equal positive "
    "power rad2deg radians reciprocal remainder right_shift rint round sign sin sinh sqrt square "
    "subtract tan tanh true_divide trunc where"
)
_REDUCING = (
    "all allclose amax amin any argmax argmin argsort array_equal average concatenate copy count_nonzero "
    "cumprod cumsum diff dot flip full_like mean median max min ndim ones_like prod ravel reshape "
    "roll shape size sort squeeze std sum transpose tril triu trace unique var zeros_like"
)
#: Keywords that change what a function computes and not how much.
NUMPY_KEYWORDS = frozenset({"axis", "decimals", "dtype", "initial", "keepdims", "a_min", "a_max"})

ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    f"numpy.{name}": getattr(np, name) for name in _ELEMENTWISE.split()
}
NUMPY: Mapping[str, Callable[..., Any]] = {
    **ELEMENTWISE,
    **{f"numpy.{name}": getattr(np, name) for name in _REDUCING.split()},
}
#: Types, and what is known of them.
_TYPES = (
    "bool_ int8 int16 int32 int64 intp intc uint8 uint16 uint32 uint64 uintp float16 float32 float64 double "
    "single half complex64 complex128"
)
TYPES = frozenset(_TYPES.split())
ABOUT_TYPES: Mapping[str, Callable[[str], Any]] = {
    "numpy.dtype": np.dtype,
    "numpy.iinfo": np.iinfo,
    "numpy.finfo": np.finfo,
}
#: What may be asked of arrays, their numbers and types.
ARRAY_FACTS = frozenset({"shape", "size", "ndim", "itemsize", "nbytes", "T", "real", "imag", "dtype"})
TYPE_FACTS = frozenset({"itemsize", "kind", "name", "max", "min", "eps", "bits", "tiny"})


class TooLargeError(Exception):
    """A function was asked for more than the interpreter computes."""


def _combinatorial(function: Callable[..., int]) -> Callable[..., int]:
    def compute(*arguments: Any) -> int:
        if any(isinstance(one, int) and one > MAX_COMBINATORIAL for one in arguments):
            raise TooLargeError
        return function(*arguments)

    return compute


def _product(items: Any, *, start: Any = 1) -> Any:
    items = list(items)
    if len(items) > MAX_COMBINATORIAL and any(isinstance(one, int) for one in items):
        raise TooLargeError
    return math.prod(items, start=start)


#: Names that this Python's ``math`` lacks stay unknown.
MATH: Mapping[str, Callable[..., Any]] = {
    **{f"math.{name}": getattr(math, name) for name in _MATH.split() if hasattr(math, name)},
    **{f"math.{name}": _combinatorial(getattr(math, name)) for name in ("comb", "factorial", "perm")},
    "math.prod": _product,
}


def call_numpy(path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Call a function of ``NUMPY``; ``TooLargeError`` where its result would be too large.

    Whole numbers have to fit 64 bits: on Python's own, NumPy would compute without bound.
    """
    parts = [np.asarray(one) for one in arguments if one is not None and not isinstance(one, str)]
    if any(part.dtype.hasobject for part in parts):
        raise TooLargeError
    if (
        path in ELEMENTWISE
        and np.prod(np.broadcast_shapes(*(p.shape for p in parts)), dtype=float) > MAX_SIZE
    ):
        raise TooLargeError
    if path == "numpy.dot" and any(part.ndim > 1 for part in parts):
        raise TooLargeError
    with np.errstate(all="ignore"):
        result = NUMPY[path](*arguments, **keywords)
    if isinstance(result, np.ndarray) and (result.size > MAX_SIZE or result.dtype.hasobject):
        raise TooLargeError
    return result
