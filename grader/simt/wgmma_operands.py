"""The two matrices in shared memory that a warpgroup multiplies: where they lie, who reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Finding
from grader.simt import access, wide
from grader.simt.aliases import adder
from grader.simt.evidence import Site
from grader.simt.lanes import Lanes
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active
from grader.simt.race import READ
from grader.simt.values import Value, strip, taint_of

GROUP = 128
DEPTH = 64
_PANEL = DEPTH * 64
Words = npt.NDArray[np.int64]


def _pattern(columns: int | None) -> Words:
    """Offsets of a matrix's elements: (64, 64) of A for ``columns`` None, else (64, columns) of B.

    Rows are 64 elements; of row r the piece j of eight elements lies where piece j ^ (r % 8) would.
    """
    row, column = np.indices((DEPTH, columns or DEPTH))
    piece, element = column % 64 // 8, column % 8
    return column // 64 * _PANEL + row * 64 + (piece ^ (row % 8)) * 8 + element


class Matrix:
    """One operand: its elements' words for each warpgroup, (blocks, groups, 64, 64 or columns)."""

    def __init__(self, fr: Any, m: Active, operand: wide.Operand, columns: int | None = None) -> None:
        mc = fr.mc
        lanes = Lanes(mc, m)
        self.view = operand.flat(fr, m)
        self.pattern = _pattern(columns)
        given = operand.offset(fr, m)
        wide.check_alignment(mc, m, self.view, given, operand)
        blocks = mc.chunk.blocks
        offsets = lanes.spread(strip(given), 0).reshape(blocks, -1, GROUP).astype(np.int64)
        active = lanes.active.reshape(blocks, -1, GROUP)
        # Of a warpgroup that does not take part, whose result nobody sees, any offset will do.
        offset = np.where(active[:, :, 0], offsets[:, :, 0], 0)
        if ((offsets != offset[:, :, None]) & active).any():
            raise Stop(_unfollowed(operand.site, "wgmma-offset-of-each-thread"))
        last = self.view.size - self.pattern.size
        if last < 0 or (offset < 0).any() or (offset > last).any():
            end = np.where(offset < 0, offset, offset + self.pattern.size - 1)
            wide_end = np.broadcast_to(end[:, :, None], offsets.shape).reshape(mc.chunk.shape)
            access.load(mc, m, self.view, [wide_end], operand.site, counted=False)
            if last < 0:
                raise Stop(_unfollowed(operand.site, "wgmma-of-less-than-a-tile"))
            offset = np.clip(offset, 0, last)
        full = np.broadcast_to(np.asarray(strip(self.view.base)), mc.chunk.shape)
        self.start = full.reshape(blocks, -1)[:, 0].astype(np.int64)
        self.words = self.start[:, None, None, None] + offset[:, :, None, None] + self.pattern

    def bits(self) -> npt.NDArray[np.uint16]:
        """What the elements hold."""
        found: npt.NDArray[np.uint16] = self.view.buffer.data.view(np.uint16)[self.words]
        return found

    def taint(self) -> npt.NDArray[np.uint8]:
        """The taint of each element."""
        buffer = self.view.buffer
        if buffer.taint is None:
            return np.zeros(self.words.shape, np.uint8)
        units = buffer.taint.size // buffer.data.size
        parts = buffer.taint.reshape(-1, units)[self.words]
        found: npt.NDArray[np.uint8] = np.bitwise_or.reduce(parts, axis=-1)
        return found

    def units(self) -> Words:
        """The words as the buffer's taint counts them: more than one each where arrays of types alias."""
        buffer = self.view.buffer
        assert buffer.taint is not None
        ratio = buffer.taint.size // buffer.data.size
        return (self.words[..., None] * ratio + np.arange(ratio)).ravel()


def _unfollowed(site: Site, construct: str) -> Finding:
    return Finding("unsupported-construct", "error", site.span, facts={"construct": construct})


class Operands:
    """A and B of one call, with what they held when it began."""

    def __init__(self, lanes: Lanes, a: Matrix, b: Matrix, site: Site) -> None:
        self.parts = (a, b)
        self.site = site
        self.held = [part.bits() for part in self.parts]
        self.active = lanes.active.reshape(len(lanes.active), -1, GROUP)[:, :, 0]
        self.taints = [part.taint() * self.active[:, :, None, None] for part in self.parts]

    def hidden(self, mc: Machine) -> bool:
        """Whether some word was written and not fenced since."""
        if mc.proxy is None:
            return False
        buffer = self.parts[0].view.buffer
        if buffer.taint is None:
            return False
        return any(
            mc.proxy.hidden(buffer, part.units().reshape(*self.active.shape, -1)[self.active].ravel())
            for part in self.parts
        )

    def log(self, mc: Machine, m: Active) -> None:
        """Tell the race log, and the trail of what is undefined: two threads read each element."""
        for part, taint in zip(self.parts, self.taints, strict=True):
            if part.view.buffer.shadowed:
                self._log(mc, m, part)
            if taint.any():
                self._show(mc, m, part, taint)

    def read_again(self, mc: Machine, m: Active) -> bool:
        """Log the reads once more, for the threads of ``m``; whether an operand has changed since."""
        for part, taint in zip(self.parts, self.taints, strict=True):
            if part.view.buffer.shadowed:
                self._log(mc, m, part)
            new = part.taint() * self.active[:, :, None, None]
            if (new & ~taint).any():  # copies are under way to where it was read
                return True
        where = self.active[:, :, None, None]
        return any(
            ((part.bits() != held) & where).any() for part, held in zip(self.parts, self.held, strict=True)
        )

    def _log(self, mc: Machine, m: Active, part: Matrix) -> None:
        buffer = part.view.buffer
        add = buffer.log.add if buffer.plain else adder(buffer)
        blocks, groups = self.active.shape
        flat = part.words.reshape(blocks, groups, -1)
        for at in range(0, flat.shape[2], GROUP):
            for turn in (0, GROUP // 2):
                words = np.roll(flat[:, :, at : at + GROUP], turn, axis=2).reshape(mc.chunk.shape)
                index = words - part.start.repeat(groups * GROUP).reshape(mc.chunk.shape)
                if add(READ, self.site, part.view, words, (index,), m, None, mc.loops, None):
                    mc.fold(buffer.log)

    def _show(self, mc: Machine, m: Active, part: Matrix, taint: npt.NDArray[np.uint8]) -> None:
        """Read some of the undefined elements as a thread would, which reports them."""
        blocks, groups = self.active.shape
        flat, marks = part.words.reshape(blocks, groups, -1), taint.reshape(blocks, groups, -1)
        first = np.argsort(marks == 0, axis=2, kind="stable")[:, :, :GROUP]
        index = np.take_along_axis(flat, first, axis=2) - part.start[:, None, None]
        access.load(mc, m, part.view, [index.reshape(mc.chunk.shape)], self.site, counted=False)

    def product(self) -> npt.NDArray[np.float64]:
        """(blocks, groups, 64, columns): A @ B, in float64, in which each product is exact."""
        left, right = (_bfloats(bits) for bits in self.held)
        with np.errstate(invalid="ignore", over="ignore"):
            found: npt.NDArray[np.float64] = left @ right
        return found


def _bfloats(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float64]:
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def dealt(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(registers, blocks, warps, 32) from (blocks, groups, 64, columns): who holds what of C."""
    blocks, groups, _, columns = matrix.shape
    parts = matrix.reshape(blocks, groups, 4, 2, 8, columns // 8, 4, 2)
    # block, group, warp, half, g, j, q, e -> j, half, e, block, group, warp, g, q
    return parts.transpose(5, 3, 7, 0, 1, 2, 4, 6).reshape(columns // 2, blocks, groups * 4, 32)


def tainted_sums(lanes: Lanes, operands: Operands, old: list[Value]) -> list[npt.NDArray[np.uint8]] | None:
    """The taint of each thread's sums, None where all are clean: that of a row of A and a column of B."""
    a, b = operands.taints
    before = [taint_of(value) for value in old]
    if not a.any() and not b.any() and all(one is None for one in before):
        return None
    rows = np.bitwise_or.reduce(a, axis=3, keepdims=True)
    new = dealt(rows | np.bitwise_or.reduce(b, axis=2, keepdims=True))
    zero = np.zeros(1, np.uint8)
    kept = [lanes.spread(zero if one is None else one, 0) for one in before]
    return [lanes.gather(part | one) for part, one in zip(new, kept, strict=True)]


__all__ = ["DEPTH", "GROUP", "Matrix", "Operands", "dealt", "tainted_sums"]
