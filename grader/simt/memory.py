"""Flat memory: buffers, the arrays that view them, and the addresses that indices become."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine, Whole

Address = int | Affine | npt.NDArray[np.int64]


@dataclass(eq=False, slots=True)
class Buffer:
    """One allocation: a flat run of elements.

    For shared memory ``data`` holds one stretch of ``words`` elements for each block of the chunk
    and ``taint`` the bits UNDEFINED and STALE of every element; ``dirty`` is False while all of
    them are known to be 0. ``stamp`` is the number of the barrier interval of an element's last
    write, kept only where some store of the array stands under a condition. ``pitch`` is how far
    apart the stretches of two blocks lie, ``words`` (at least 1) where it is not given.
    """

    #: Whether elements are what is logged and shadowed; not so in :class:`grader.simt.aliases.Alias`.
    plain: ClassVar[bool] = True

    data: npt.NDArray[Any]
    space: str
    name: str
    words: int
    position: int = -1
    taint: npt.NDArray[np.uint8] | None = None
    dirty: bool = False
    stamp: npt.NDArray[np.int32] | None = None
    shadowed: bool = False
    log: Any = None
    owner: Any = None
    pitch: int = 0

    def __post_init__(self) -> None:
        self.pitch = self.pitch or max(1, self.words)


@dataclass(eq=False, slots=True)
class View:
    """An array as a kernel sees it: shape and strides, in elements, over a buffer."""

    buffer: Buffer
    base: Whole
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    name: str
    code: str
    #: The array that this view flattens, whose indices its words are told by.
    whole: View | None = None

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape) if self.shape else 1

    def index_of(self, word: int) -> tuple[int, ...]:
        """The index of the element at ``word`` words past the view's start, were it C-ordered.

        For other layouts the dimensions are taken from the greatest stride down, which gives the
        element of a permuted array too.
        """
        if self.whole is not None:
            return self.whole.index_of(word)
        index = [0] * len(self.shape)
        for dim in sorted(range(len(self.shape)), key=lambda d: -abs(self.strides[d])):
            stride = self.strides[dim]
            if stride:
                index[dim], word = divmod(word, stride)
        return tuple(index)


def global_view(array: npt.NDArray[Any], name: str, position: int, buffers: dict[int, Buffer]) -> View:
    """The view of a launch argument; arrays over one allocation share a buffer."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    buffer = buffers.get(id(owner))
    if buffer is None:
        data = _flatten(owner)
        buffer = Buffer(data, "global", name, data.size, position, owner=owner)
        buffers[id(owner)] = buffer
    itemsize = array.itemsize
    if owner.dtype != array.dtype:
        data = _flatten(array)
        buffer = Buffer(data, "global", name, data.size, position, owner=array)
    start = _address(array) - _address(buffer.data)
    if start % itemsize and array.size:  # misaligned within its allocation: memory of its own
        buffer = Buffer(_flatten(array), "global", name, 0, position, owner=array)
        buffer.words = buffer.data.size
        start = _address(array) - _address(buffer.data)
    strides = tuple(stride // itemsize for stride in array.strides)
    return View(
        buffer, start // itemsize if array.size else 0, array.shape, strides, name, code_of(array.dtype)
    )


def _address(array: npt.NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def code_of(dtype: np.dtype[Any]) -> str:
    """The type character of a dtype, with one letter for each width."""
    return {"l": "q", "L": "Q"}.get(dtype.char, dtype.char)


def _flatten(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """All elements from the lowest address of ``array`` to its highest, in address order."""
    if array.size == 0:
        return np.zeros(0, array.dtype)
    low, high = np.lib.array_utils.byte_bounds(array)
    forwards = (slice(None) if stride >= 0 else slice(None, None, -1) for stride in array.strides)
    corner = array[(*forwards, ...)]
    count = (high - low) // array.itemsize
    return np.lib.stride_tricks.as_strided(corner, (count,), (array.itemsize,))


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a C-ordered array."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def window(data: npt.NDArray[Any], address: Affine, shape: tuple[int, ...] | None = None) -> npt.NDArray[Any]:
    """A strided view of ``data`` with one element a thread, broadcast axes kept at extent 1.

    With ``shape`` given, axes along which the address does not change are widened to it at
    stride 0. The caller has made sure that every address lies within ``data``.
    """
    size = data.itemsize
    if shape is None:
        shape = tuple(
            [extent if coef else 1 for coef, extent in zip(address.coefs, address.extents.shape, strict=True)]
        )
    strides = tuple([coef * size for coef in address.coefs])
    return np.ndarray(shape, data.dtype, data, address.base * size, strides)


def inside(address: Affine, words: int) -> bool:
    """Whether all threads' addresses lie within a buffer."""
    low, high = address.bounds()
    return low >= 0 and high < words
