"""Per-thread local arrays.

While a kernel indexes one by the same number in all threads (``acc[m, n]`` in unrollable loops),
each element is kept as a value of its own, which leaves a register tile's operands broadcast.
The first index that differs between threads turns the array into flat memory, one stretch a thread.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from grader.simt import access, affine
from grader.simt.affine import Affine
from grader.simt.context import UNSET
from grader.simt.evidence import Site
from grader.simt.machine import Machine
from grader.simt.mask import Active, union
from grader.simt.memory import Buffer, View, c_strides
from grader.simt.race import READ, WRITE
from grader.simt.values import UNDEFINED, Tainted, cast_scalar, strip, taint_of
from grader.simt.variables import merge, settled


class LocalArray:
    """A local array of one chunk: cells by flat index, or a view of flat memory."""

    __slots__ = ("cells", "code", "defined", "name", "shape", "view")

    def __init__(self, name: str, shape: tuple[int, ...], code: str) -> None:
        self.name = name
        self.shape = shape
        self.code = code
        size = math.prod(shape)
        self.cells: list[Any] = [UNSET] * size
        self.defined: list[Active] = [None] * size
        self.view: View | None = None

    @property
    def size(self) -> int:
        """How many elements each thread's array has."""
        return math.prod(self.shape)

    def flat(self, dims: list[Any]) -> int | None:
        """The cell of an index that is the same, and in range, for all threads; else None."""
        word = 0
        for index, size in zip(dims, self.shape, strict=True):
            if type(index) is not int:
                return None
            at = index + size if index < 0 else index
            if not 0 <= at < size:
                return None
            word = word * size + at
        return word

    def load(self, mc: Machine, m: Active, dims: list[Any], site: Site) -> Any:
        """The element that each thread reads of its own array."""
        word = None if self.view is not None else self.flat(dims)
        if word is None:
            return access.load(mc, m, self.spread(mc), dims, site)
        value = self.cells[word]
        defined = self.defined[word]
        if value is UNSET:
            return self._undefined(mc, m, word, site, cast_scalar(0, self.code), None)
        if defined is None or defined is m or (m is not None and m.within(defined)):
            return value
        return self._undefined(mc, m, word, site, value, defined)

    def cell(self, m: Active, dims: list[Any]) -> Any:
        """The value of an element that all threads of ``m`` have set; UNSET for any other."""
        word = None if self.view is not None else self.flat(dims)
        if word is None:
            return UNSET
        defined = self.defined[word]
        known = defined is None or defined is m or (m is not None and m.within(defined))
        return self.cells[word] if known else UNSET

    def _undefined(self, mc: Machine, m: Active, word: int, site: Site, value: Any, defined: Active) -> Any:
        taint = np.full((1,) * len(mc.chunk.shape), UNDEFINED, np.uint8)
        if defined is not None:
            taint = np.where(defined.array, np.uint8(0), taint)
        hit = taint if m is None else taint * m.array
        if not hit.any():
            return value
        mc.trail.read(site, self._plan(), taint, m, np.full((1,) * taint.ndim, word), mc.loops)
        return Tainted(value, taint)

    def _plan(self) -> View:
        """A view that only serves to name elements."""
        strides = c_strides(self.shape)
        buffer = Buffer(np.zeros(0), "local", self.name, self.size)
        return View(buffer, 0, self.shape, strides, self.name, self.code)

    def store(self, mc: Machine, m: Active, dims: list[Any], value: Any, site: Site) -> None:
        """Write one element of each thread's own array."""
        word = None if self.view is not None else self.flat(dims)
        if word is None:
            access.store(mc, m, self.spread(mc), dims, value, site)
            return
        value = settled(value)
        old, defined = self.cells[word], self.defined[word]
        if m is None or old is UNSET or defined is m or (defined is not None and defined.within(m)):
            self.cells[word], self.defined[word] = value, m
            return
        self.cells[word] = merge(m, value, old)
        if defined is not None:
            whole = defined.parent if defined.parent is m.parent else None
            self.defined[word] = union(defined, m, whole)  # type: ignore[assignment]

    def spread(self, mc: Machine) -> View:
        """The array as flat memory, one stretch of words a thread."""
        if self.view is not None:
            return self.view
        words, threads = self.size, mc.chunk.threads
        data = np.zeros(threads * words, self.code)
        taint = np.full(threads * words, UNDEFINED, np.uint8)
        buffer = Buffer(data, "local", self.name, words, taint=taint, dirty=True)
        number = mc.chunk.chunk_number
        base: affine.Whole = affine.scale(number, words) if isinstance(number, Affine) else 0
        self.view = View(buffer, base, self.shape, c_strides(self.shape), self.name, self.code)
        for word, value in enumerate(self.cells):
            if value is not UNSET:
                address = affine.add(base, word)
                defined = self.defined[word]
                where = None if defined is None else defined.array
                clean = taint_of(value)
                access.put(mc, data, address, where, strip(value))
                access.put(mc, taint, address, where, np.uint8(0) if clean is None else clean)
        return self.view


__all__ = ["READ", "WRITE", "LocalArray"]
