"""Which threads of a chunk execute a statement.

``None`` stands for all of them and ``DEAD`` for none, so that code without divergence pays for no
mask at all. A mask knows the mask it was narrowed from: a variable assigned under a mask and read
under a narrower one needs no merging and no check. Its ``origin`` is the site of the test that
made it, for the message about a barrier that only a part of a block reaches.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
KEPT_BYTES = 32 << 20


def named(threads: Bools) -> bytes:
    """A short name for a set of threads, over a whole chunk."""
    return hashlib.blake2b(np.packbits(threads).tobytes(), digest_size=16).digest()


class Mask:
    """A set of threads: a bool array broadcastable to the chunk's shape, neither empty nor full."""

    __slots__ = ("_digest", "_narrowed", "_threads", "array", "origin", "parent")

    def __init__(self, array: Bools, parent: Mask | None) -> None:
        self.array = array
        self.parent = parent
        self.origin: Any = None
        self._narrowed: dict[int, tuple[Any, Active, Active]] = {}
        self._digest: bytes | None = None
        self._threads: bytes | None = None

    def digest(self) -> bytes:
        """A short name for the set of threads, which is the same for equal arrays."""
        if self._digest is None:
            named = repr(self.array.shape).encode() + self.array.tobytes()
            self._digest = hashlib.blake2b(named, digest_size=16).digest()
        return self._digest

    def threads(self, shape: tuple[int, ...]) -> bytes:
        """A short name for the set of threads of a chunk of that shape, the same for the same threads."""
        if self._threads is None:
            self._threads = named(np.broadcast_to(self.array, shape))
        return self._threads

    def within(self, other: Active) -> bool:
        """Whether this mask is known, by how it was made, to be a subset of ``other``."""
        if other is None:
            return True
        step: Mask | None = self
        while step is not None:
            if step is other:
                return True
            step = step.parent
        return False


class Dead:
    """The empty set of threads."""

    __slots__ = ()


DEAD: Final = Dead()
Active = Mask | None
State = Mask | Dead | None


class Narrowing:
    """Splits masks by conditions, and gives the same mask again for the same condition array."""

    __slots__ = ("_combined", "_kept", "_root")

    def __init__(self) -> None:
        self._root: dict[int, tuple[Any, State, State]] = {}
        self._combined: dict[tuple[int, int, bool], tuple[Bools, Bools, Bools]] = {}
        self._kept = 0

    def combine(self, a: Bools, b: Bools, is_and: bool) -> Bools:
        """``a and b``, or ``a or b``; the same array again for the same two arrays.

        A guard of two comparisons then gives the same mask in every round of a loop, as one does.
        """
        if a.base is not None or b.base is not None:  # a view of memory, which changes under it
            return a & b if is_and else a | b
        key = (id(a), id(b), is_and)
        found = self._combined.get(key)
        if found is None:
            found = (a, b, a & b if is_and else a | b)
            self._kept += a.nbytes + b.nbytes + found[2].nbytes
            if self._kept > KEPT_BYTES:
                self._combined.clear()
                self._kept = 0
            self._combined[key] = found
        return found[2]

    def split(self, active: Active, condition: bool | Bools) -> tuple[State, State]:
        """The threads of ``active`` for which ``condition`` is true, and those for which it is false."""
        if condition is True or condition is False:
            return (active, DEAD) if condition else (DEAD, active)
        memory: dict[int, Any] = self._root if active is None else active._narrowed
        found = memory.get(id(condition))
        if found is not None and found[0] is condition:
            return found[1], found[2]
        yes, no = _split(active, condition)
        if len(memory) > 64:
            memory.clear()
        memory[id(condition)] = (condition, yes, no)
        return yes, no


def _split(active: Active, condition: Bools) -> tuple[State, State]:
    if active is None:
        held = np.count_nonzero(condition)
        if not held:
            return DEAD, None
        if held == condition.size:
            return None, DEAD
        return Mask(condition, None), Mask(~condition, None)
    yes = active.array & condition
    if not np.count_nonzero(yes):
        return DEAD, active
    no = active.array & ~condition
    if not np.count_nonzero(no):
        return active, DEAD
    return Mask(yes, active), Mask(no, active)


def union(left: State, right: State, whole: Active) -> State:
    """Threads in either set, where both are subsets of ``whole``."""
    if isinstance(left, Dead):
        return right
    if isinstance(right, Dead):
        return left
    if left is whole or right is whole or left is None or right is None:
        return whole
    either = left.array | right.array
    if whole is None:
        return None if either.all() else Mask(either, None)
    if either.shape == whole.array.shape and bool((either == whole.array).all()):
        return whole
    if not bool((whole.array & ~either).any()):
        return whole
    return Mask(either, whole)


def without(active: State, gone: State) -> State:
    """Threads of ``active`` that are not in ``gone``."""
    if isinstance(active, Dead) or isinstance(gone, Dead):
        return active
    if gone is None:
        return DEAD
    left = ~gone.array if active is None else active.array & ~gone.array
    if not left.any():
        return DEAD
    if active is not None and bool((left == active.array).all()):
        return active
    return Mask(left, active)


def contains(outer: Active, inner: Active) -> bool:
    """Whether every thread of ``inner`` is in ``outer``, looked up first and computed if need be."""
    if outer is None or outer is inner:
        return True
    if inner is None:
        return False
    return inner.within(outer) or not bool((inner.array & ~outer.array).any())
