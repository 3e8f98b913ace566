"""Shared memory of a chunk of blocks: a stretch for each block, for static arrays and for dynamic ones."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from grader.simt.affine import Affine, scale
from grader.simt.aliases import alias
from grader.simt.context import Context, Typed
from grader.simt.elements import poison
from grader.simt.geometry import Chunk
from grader.simt.memory import Buffer, View, c_strides
from grader.simt.requests import BANK_BYTES
from grader.simt.types import Array
from grader.simt.values import UNDEFINED

DYNAMIC = -3
#: What every element's size divides: so far apart lie two blocks' dynamic memory, or a multiple of it.
WIDEST = 16


def static(chunk: Chunk, shape: tuple[int, ...], name: str, code: str, stamped: bool) -> View:
    """An array of its own, whose memory nobody has written yet."""
    buffer = _buffer(chunk, math.prod(shape), name, code, stamped)
    return _on_blocks(buffer, chunk, shape, name, code)


def dynamic(context: Context, node: ast.Call, name: str, code: str) -> Typed:
    """``cuda.shared.array(0, dtype)``: the launch's own shared bytes.

    All such arrays of a kernel, of whatever types, are the same memory from its start on.
    """
    codes = context.kernel.dynamic_codes
    codes.add(code)

    def execute(fr: Any, m: Any) -> View:
        mc = fr.mc
        if len(codes) > 1:
            return _aliased(mc, min(np.dtype(each).itemsize for each in codes), name, code)

        def make(chunk: Chunk) -> View:
            words = mc.shared_bytes // np.dtype(code).itemsize
            return _on_blocks(_buffer(chunk, words, name, code, True), chunk, (words,), name, code)

        view: View = mc.shared_array(DYNAMIC, make)
        return view

    return Typed(Array(code, 1, "shared", DYNAMIC), execute)


def _aliased(mc: Any, unit: int, name: str, code: str) -> View:
    """Dynamic memory of units of ``unit`` bytes, seen as an array of one of its types."""
    known: View | None = mc.aliases.get((name, code))
    if known is not None:
        return known
    unsigned = f"u{unit}"

    def make(chunk: Chunk) -> View:
        words = mc.shared_bytes // unit
        buffer = _buffer(chunk, words, name, unsigned, True, WIDEST)
        buffer.data.fill(np.iinfo(unsigned).max)  # to floats not a number
        return _on_blocks(buffer, chunk, (words,), name, unsigned)

    whole: Buffer = mc.shared_array(DYNAMIC, make).buffer
    buffer = alias(whole, name, code)
    view = mc.aliases[name, code] = _on_blocks(buffer, mc.chunk, (buffer.words,), name, code)
    return view


def _buffer(
    chunk: Chunk, words: int, name: str, code: str, stamped: bool, multiple: int = BANK_BYTES
) -> Buffer:
    """Memory of ``words`` elements a block, each block's from a multiple of ``multiple`` bytes on."""
    dtype = np.dtype(code)
    step = max(1, multiple // dtype.itemsize)
    pitch = -(-words // step) * step
    data = np.full(chunk.blocks * pitch, poison(dtype), dtype)
    taint = np.full(data.size, UNDEFINED, np.uint8)
    buffer = Buffer(data, "shared", name, words, taint=taint, dirty=True, pitch=pitch)
    if stamped:
        buffer.stamp = np.zeros(data.size, np.int32)
    return buffer


def _on_blocks(buffer: Buffer, chunk: Chunk, shape: tuple[int, ...], name: str, code: str) -> View:
    number = chunk.block_number
    base = scale(number, buffer.pitch) if isinstance(number, Affine) else 0
    return View(buffer, base, shape, c_strides(shape), name, code)


__all__ = ["DYNAMIC", "dynamic", "static"]
