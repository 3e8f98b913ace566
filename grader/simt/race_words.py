"""From logged accesses to words: which threads touched each word, and what they wrote there.

A word's key tells the words of different blocks apart. A thread is kept together with the number
of its statement in one code, ``thread << 16 | statement``, so that the least and the greatest code
of a word name two threads and where in the kernel they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine, Whole
from grader.simt.geometry import Chunk
from grader.simt.memory import Buffer
from grader.simt.race import READ, WRITE, Access, first_of
from grader.simt.race_sweep import Sweep
from grader.simt.values import Tainted, strip

STATEMENT_BITS: Final = 16
GROUP_ELEMENTS = 1 << 21

Ints = npt.NDArray[np.int64]


@dataclass(eq=False, slots=True)
class Words:
    """Flat arrays over the words that accesses of one kind touched, a word perhaps several times.

    ``low`` and ``high`` are codes; ``bits`` are the written values' bit patterns, or (least,
    greatest) pairs of them. ``access`` is None for several accesses at once; ``rounds`` are the
    iterations of a swept loop's read.
    """

    kind: int
    keys: Ints
    low: Ints
    high: Ints
    bits: tuple[Ints, Ints] | None = None
    access: Access | Sweep | None = None
    rounds: Ints | None = None

    def chosen(self, where: Any) -> Words:
        """The touches at some places (a bool array or positions)."""
        bits = None if self.bits is None else (self.bits[0][where], self.bits[1][where])
        rounds = None if self.rounds is None else self.rounds[where]
        return Words(
            self.kind, self.keys[where], self.low[where], self.high[where], bits, self.access, rounds
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """How threads and words are numbered: within blocks, or over the whole launch."""

    chunk: Chunk
    number: Whole
    offset: Ints | None

    @staticmethod
    def of_blocks(chunk: Chunk, buffer: Buffer) -> Scope:
        """Threads by their number in the block; words of different blocks apart."""
        offset = None
        if buffer.space == "global" and isinstance(chunk.block_number, Affine):
            offset = chunk.block_number.array() * stride_of(buffer)
        return Scope(chunk, chunk.lane_number, offset)

    @staticmethod
    def of_launch(chunk: Chunk) -> Scope:
        """Threads by their number in the launch; words as they lie in memory."""
        return Scope(chunk, chunk.thread_number, None)


def stride_of(buffer: Buffer) -> int:
    """How far apart the keys of two blocks' words are."""
    return buffer.pitch if buffer.space == "shared" else buffer.words + 1


def expand(access: Access, scope: Scope, by_thread: bool = False) -> Words:
    """The words of one access.

    An axis along which neither word nor mask nor written value varies is not expanded, unless
    ``by_thread`` asks for every thread: its threads only widen the range from low to high.
    """
    chunk, address = scope.chunk, access.address
    spread = _full_rank(address.array() if isinstance(address, Affine) else np.asarray(address), chunk)
    if scope.offset is not None:
        spread = spread + scope.offset
    active = access.active()
    bits = _bits(access, chunk) if access.kind == WRITE else None
    shapes = [part.shape for part in (spread, active, bits) if part is not None]
    shape = np.broadcast_shapes(*shapes, chunk.shape if by_thread else ())
    low, beyond = _numbers(scope.number, shape, chunk)
    low = np.broadcast_to((low << STATEMENT_BITS) + access.number, shape)
    keys = np.broadcast_to(spread, shape)
    if bits is not None:
        bits = np.broadcast_to(bits, shape)
    if active is None:
        keys, low = keys.ravel(), low.ravel()
        bits = None if bits is None else bits.ravel()
    else:
        chosen = np.broadcast_to(active, shape)
        keys, low = keys[chosen], low[chosen]
        bits = None if bits is None else bits[chosen]
    high = low + (beyond << STATEMENT_BITS) if beyond else low
    return Words(access.kind, keys, low, high, None if bits is None else (bits, bits), access)


def expand_sweep(sweep: Sweep, scope: Scope) -> Words:
    """The words of a swept loop's read, iteration after iteration."""
    first = expand(first_of(sweep), scope)
    size, count = first.keys.size, sweep.count
    steps = sweep.step * np.arange(count, dtype=np.int64)
    keys: Ints = (steps[:, None] + first.keys).ravel()
    rounds: Ints = np.repeat(np.arange(count, dtype=np.int64), size)
    return Words(READ, keys, np.tile(first.low, count), np.tile(first.high, count), None, sweep, rounds)


def _full_rank(array: npt.NDArray[Any], chunk: Chunk) -> npt.NDArray[Any]:
    return array.reshape((1,) * (len(chunk.shape) - array.ndim) + array.shape)


def _numbers(number: Whole, shape: tuple[int, ...], chunk: Chunk) -> tuple[Ints, int]:
    """The least thread of each position of ``shape``, and how far up its unexpanded axes reach."""
    low: Ints = np.full((1,) * len(shape), number if isinstance(number, int) else number.base, np.int64)
    beyond = 0
    if isinstance(number, Affine):
        for axis, coef in enumerate(number.coefs):
            if shape[axis] > 1:
                along = [1] * len(shape)
                along[axis] = -1
                low = low + (coef * np.arange(shape[axis], dtype=np.int64)).reshape(along)
            else:
                beyond += coef * (chunk.shape[axis] - 1)
    return low, beyond


def _bits(access: Access, chunk: Chunk) -> Ints:
    """Bit patterns of the written values, equal where the values are (int64)."""
    dtype = access.view.buffer.data.dtype
    value = _full_rank(np.asarray(strip(access.value)), chunk).astype(dtype)
    if dtype.kind in "fc" and type(access.view.buffer) is Buffer:
        value = value + dtype.type(0)  # -0.0 and 0.0: not so where arrays of other types see the bits
    if dtype.itemsize == 16:
        halves = np.ascontiguousarray(value).view(np.int64).reshape(*value.shape, 2)
        return np.asarray(halves[..., 0] * np.int64(1_000_003) ^ halves[..., 1])
    return np.ascontiguousarray(value).view(f"i{dtype.itemsize}").astype(np.int64)


def expand_all(accesses: list[Access], scope: Scope) -> Iterator[Words]:
    """The words of many accesses, joined into a few large batches of one kind each."""
    waiting: dict[int, list[Words]] = {}
    sizes: dict[int, int] = {}
    for words in _grouped(accesses, scope):
        waiting.setdefault(words.kind, []).append(words)
        sizes[words.kind] = sizes.get(words.kind, 0) + words.keys.size
        if sizes[words.kind] > GROUP_ELEMENTS:
            yield _joined(waiting.pop(words.kind))
            sizes[words.kind] = 0
    for parts in waiting.values():
        yield _joined(parts)


def _joined(parts: list[Words]) -> Words:
    if len(parts) == 1:
        return parts[0]
    bits = [part.bits for part in parts if part.bits is not None]
    pair = (np.concatenate([b[0] for b in bits]), np.concatenate([b[1] for b in bits])) if bits else None
    keys, low, high = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("keys", "low", "high")
    )
    return Words(parts[0].kind, keys, low, high, pair)


def _grouped(accesses: list[Access], scope: Scope) -> Iterator[Words]:
    """Accesses that differ in a constant offset, or in a value that is the same for all threads, together."""
    groups: dict[Any, list[Access]] = {}
    for access in accesses:
        address = access.address
        varied = isinstance(address, np.ndarray) or access.valid is not None
        if varied or isinstance(access.value, np.ndarray | Affine | Tainted):
            yield expand(access, scope)
            continue
        coefs = address.coefs if isinstance(address, Affine) else None
        groups.setdefault((access.kind, access.number, coefs, id(access.mask)), []).append(access)
    for members in groups.values():
        first = expand(members[0], scope)
        step = max(1, GROUP_ELEMENTS // max(1, first.keys.size))
        for start in range(0, len(members), step):
            yield _shifted(first, members[0], members[start : start + step], scope)


def _shifted(first: Words, model: Access, members: list[Access], scope: Scope) -> Words:
    """The words of accesses that are ``model``, expanded to ``first``, but for their offsets and values."""
    if len(members) == 1 and members[0] is model:
        return first
    bases = np.array([_base(member) for member in members], np.int64)
    start = _base(model)
    bits = None
    if first.bits is not None:
        each = np.array([_bits(member, scope.chunk).ravel()[0] for member in members])
        repeated = np.repeat(each, first.keys.size)
        bits = (repeated, repeated)
    keys: Ints = (first.keys + (bases - start)[:, None]).ravel()
    times = len(members)
    return Words(first.kind, keys, np.tile(first.low, times), np.tile(first.high, times), bits)


def _base(access: Access) -> int:
    address = access.address
    assert not isinstance(address, np.ndarray)
    return address.base if isinstance(address, Affine) else address


__all__ = [
    "STATEMENT_BITS",
    "Ints",
    "Scope",
    "Words",
    "expand",
    "expand_all",
    "expand_sweep",
    "stride_of",
]
