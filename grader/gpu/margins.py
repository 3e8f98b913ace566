"""Guard margins: poisoned memory before and after each array on the GPU, and what of it was written to.

Each 4-byte word of a margin is a float32 NaN whose low bits are its own position, so a value read from it
spoils whatever is computed with it, and one margin word copied onto another shows too. Two of them are
a float64 NaN, and the upper half of each is a float16 NaN.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["inner", "margin_of", "padded", "reached"]

#: Arrays begin on a boundary of this many bytes, as CUDA's allocations do.
ALIGNMENT = 512
LEAST, MOST = 4096, 1 << 20
_ROWS = 4


def margin_of(array: npt.NDArray[Any]) -> int:
    """Bytes of margin on each side of an array: at least four of its rows, and 4 KiB."""
    row = array.shape[-1] * array.itemsize if array.ndim else array.itemsize
    wanted = min(max(LEAST, _ROWS * row), MOST)
    return -(-wanted // ALIGNMENT) * ALIGNMENT


def padded(array: npt.NDArray[Any], margin: int) -> bytes:
    """The bytes of an array between its two margins."""
    poison = _poison(margin)
    return b"".join((poison, np.ascontiguousarray(array).tobytes(), poison))


def inner(data: bytes, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array between the margins, of the shape and type of ``like``."""
    return np.frombuffer(data, like.dtype, like.size, margin_of(like)).reshape(like.shape)


def reached(data: bytes, like: npt.NDArray[Any]) -> int:
    """How far from the array the nearest word of a margin lies that was changed; 0 where none was.

    In bytes, of the word's byte that is nearest to the array: words before it count negative, from -1;
    those after it positive, from 1.
    """
    margin = margin_of(like)
    poison = np.frombuffer(_poison(margin), np.uint32)
    first = np.frombuffer(data, np.uint32, margin // 4)
    last = np.frombuffer(data[len(data) - margin :], np.uint32)
    before, after = np.flatnonzero(first != poison), np.flatnonzero(last != poison)
    distances = [4 * int(before[-1]) + 3 - margin] if before.size else []
    distances += [4 * int(after[0]) + 1] if after.size else []
    return min(distances, key=abs, default=0)


@cache
def _poison(margin: int) -> bytes:
    words = np.arange(margin // 4, dtype=np.uint32) | np.uint32(0xFFF80000)
    return words.astype("<u4").tobytes()
