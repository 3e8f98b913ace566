"""What a warp does as one: ``ldmatrix`` and the matrix multiply-add of a tensor core.

Which lane holds which element is told in ``grader.gpu.ptx``. Here a warp's registers are an array of
(blocks, warps, lanes), dealt out into whole matrices and back. The products of a multiply-add are
exact and their sum with C is rounded once, to float32; hardware may round on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt import wide
from grader.simt.context import Context, Typed
from grader.simt.evidence import Entry, Site, loops_at
from grader.simt.lanes import Lanes
from grader.simt.machine import Machine
from grader.simt.mask import Active
from grader.simt.tally import LOAD
from grader.simt.types import NONE
from grader.simt.values import Tainted, Value, strip, taint_of

Bits = npt.NDArray[Any]
ROW_BYTES = 16


def ldmatrix(transposed: bool) -> Callable[[Context, ast.Call], Typed]:
    """The handler of ``ldmatrix_x4(registers, r, shared, s)``, or of its transposing twin."""

    def handler(context: Context, node: ast.Call) -> Typed:
        wide.arity(context, node, 4)
        target = wide.operand(context, node, 0, "iI", 4, store=True)
        source = wide.operand(context, node, 2, wide.CODES_OF_BITS[16], ROW_BYTES)
        _refuse_other_memory(context, node, source)

        def execute(fr: Any, m: Any) -> None:
            lanes = Lanes(fr.mc, m)
            check_whole(fr.mc, m, lanes, source.wide)
            offset = source.offset(fr, m)
            wide.tally(fr, m, source, offset, LOAD)
            row = wide.load(fr, m, source, offset, 8)
            dealt = _dealt(lanes, row, transposed)
            wide.store(fr, m, target, target.offset(fr, m), [_as_type(v, target.code) for v in dealt])

        return Typed(NONE, execute)

    return handler


def _refuse_other_memory(context: Context, node: ast.Call, source: wide.Operand) -> None:
    if source.site.space != "shared":
        context.unsupported(node, f"{ast.unparse(node.func)}-of-{source.site.space}-memory")


def _dealt(lanes: Lanes, row: list[Value], transposed: bool) -> list[Value]:
    """The four registers of each lane, as uint32, from the eight elements that it points at."""
    low_high = _pairs(lanes, [_bits(value, 16) for value in row], transposed)
    words = low_high[..., 0].astype(np.uint32) | (low_high[..., 1].astype(np.uint32) << np.uint32(16))
    if all(taint_of(value) is None for value in row):
        return [lanes.gather(words[:, :, j]) for j in range(4)]
    marks = [_mark(value) for value in row]
    pair = _pairs(lanes, marks, transposed)
    taint = pair[..., 0] | pair[..., 1]
    return [Tainted(lanes.gather(words[:, :, j]), lanes.gather(taint[:, :, j])) for j in range(4)]


def _bits(value: Value, width: int) -> Bits:
    """A value's bit pattern as an unsigned integer of ``width`` bits."""
    plain = np.asarray(strip(value))
    if plain.dtype.kind == "f":
        return np.ascontiguousarray(plain).view(f"u{width // 8}")
    return plain.astype(np.int64).astype(f"u{width // 8}")


def _pairs(lanes: Lanes, row: list[Bits], transposed: bool) -> Bits:
    """(blocks, warps, matrix, lane, 2): the two elements of each matrix that a lane gets."""
    given = np.stack([lanes.spread(element, 0) for element in row], axis=-1)
    blocks, warps = given.shape[:2]
    matrices = given.reshape(blocks, warps, 4, 8, 8)
    if transposed:
        matrices = matrices.swapaxes(3, 4)
    return matrices.reshape(blocks, warps, 4, 32, 2)


def _mark(value: Value) -> Bits:
    taint = taint_of(value)
    return np.zeros(1, np.uint8) if taint is None else taint


def _as_type(value: Value, code: str) -> Value:
    """A uint32 of bits as the registers' own type."""
    if type(value) is Tainted:
        return Tainted(_as_type(value.value, code), value.taint)
    return value.view(code)


def mma(context: Context, node: ast.Call) -> Typed:
    """``mma_bf16(sums, c, a_registers, a, b_registers, b)``: C += A @ B on bfloat16 pairs."""
    wide.arity(context, node, 6)
    codes = wide.CODES_OF_BITS[32]
    sums = wide.operand(context, node, 0, "f", 4, store=True)
    first, second = (wide.operand(context, node, at, codes, 4) for at in (2, 4))
    ident = context.kernel.statements

    def execute(fr: Any, m: Any) -> None:
        lanes = Lanes(fr.mc, m)
        check_whole(fr.mc, m, lanes, sums.wide)
        fr.mc.tally.flop(-1 - ident, (("mma", 1),), m)
        at = sums.offset(fr, m)
        a = wide.load(fr, m, first, first.offset(fr, m), 4)
        b = wide.load(fr, m, second, second.offset(fr, m), 2)
        c = wide.load(fr, m, sums, at, 4)
        wide.store(fr, m, sums, at, _multiplied(lanes, a, b, c))

    return Typed(NONE, execute)


def _multiplied(lanes: Lanes, a: list[Value], b: list[Value], c: list[Value]) -> list[Value]:
    """The new sums of each lane (float32)."""
    left = _matrix_a([_bfloats(lanes, value) for value in a])
    right = _matrix_b([_bfloats(lanes, value) for value in b])
    old = _matrix_c([lanes.spread(np.asarray(strip(value), np.float32), 0) for value in c])
    new = (left @ right + old).astype(np.float32)
    parts = [lanes.gather(part) for part in _parts_of_c(new)]
    if all(taint_of(value) is None for value in (*a, *b, *c)):
        return list(parts)
    return [Tainted(part, taint) for part, taint in zip(parts, _tainted(lanes, a, b, c), strict=True)]


def _tainted(lanes: Lanes, a: list[Value], b: list[Value], c: list[Value]) -> list[Bits]:
    """A sum is as undefined as any element of its row of A and its column of B."""
    marks = [[lanes.spread(_mark(value), 0) for value in part] for part in (a, b, c)]
    rows = np.bitwise_or.reduce(_matrix_a([np.stack([m, m], -1) for m in marks[0]]), axis=-1, keepdims=True)
    columns = np.bitwise_or.reduce(
        _matrix_b([np.stack([m, m], -1) for m in marks[1]]), axis=-2, keepdims=True
    )
    return [lanes.gather(part) for part in _parts_of_c(rows | columns | _matrix_c(marks[2]))]


def _bfloats(lanes: Lanes, value: Value) -> Bits:
    """(blocks, warps, lanes, 2): the two bfloat16 of a 32-bit register, as float64."""
    bits = lanes.spread(_bits(value, 32), 0)
    halves = np.stack([bits << np.uint32(16), bits & np.uint32(0xFFFF0000)], axis=-1)
    return halves.view(np.float32).astype(np.float64)


# Lane l is (g, q) = divmod(l, 4). Registers of shape (..., 32, 2) become (..., g, q, 2) and, the two
# elements of a register lying side by side, (..., g, 2 q + e).


def _matrix_a(registers: list[Bits]) -> Bits:
    """(..., 16, 16) from four registers: rows g and g + 8, columns 2 q and 2 q + 8."""
    parts = [part.reshape(*part.shape[:-2], 8, 8) for part in registers]
    upper = np.concatenate([parts[0], parts[2]], axis=-1)
    lower = np.concatenate([parts[1], parts[3]], axis=-1)
    return np.concatenate([upper, lower], axis=-2)


def _matrix_b(registers: list[Bits]) -> Bits:
    """(..., 16, 8) from two registers: rows 2 q and 2 q + 8, column g."""
    parts = [part.reshape(*part.shape[:-2], 8, 8).swapaxes(-1, -2) for part in registers]
    return np.concatenate(parts, axis=-2)


def _matrix_c(registers: list[Bits]) -> Bits:
    """(..., 16, 8) from four registers of one element: rows g and g + 8, columns 2 q and 2 q + 1."""
    upper, lower = (np.stack(registers[k : k + 2], axis=-1) for k in (0, 2))
    shape = (*registers[0].shape[:-1], 8, 8)
    return np.concatenate([upper.reshape(shape), lower.reshape(shape)], axis=-2)


def _parts_of_c(matrix: Bits) -> list[Bits]:
    """The four registers of :func:`_matrix_c` again."""
    halves = [matrix[..., k : k + 8, :].reshape(*matrix.shape[:-2], 32, 2) for k in (0, 8)]
    return [half[..., e] for half in halves for e in range(2)]


def check_whole(mc: Machine, m: Active, lanes: Lanes, site: Site) -> None:
    """Report a warp of which only a part comes: what the instruction gives is undefined."""
    absent = lanes.active.any(axis=2, keepdims=True) & ~lanes.active
    if not absent.any() or mc.ledger.seen("shuffle-from-inactive-lane", site.ident):
        return
    block, warp, lane = (int(part) for part in np.argwhere(absent)[0])
    here = np.zeros(lanes.active.shape, bool)
    here[block, warp] = lanes.active[block, warp]
    flat = int(np.argmax(lanes.gather(here)))
    entry = Entry("shuffle-from-inactive-lane", "error", site.span, site.guard)
    entry.threads = (mc.chunk.thread(flat),)
    entry.loops = loops_at(mc.loops, mc.chunk, flat)
    whole = lanes.active.any(axis=2, keepdims=True) & ~lanes.active.all(axis=2, keepdims=True)
    entry.counts = {"threads": int(np.count_nonzero(lanes.active & whole))}
    entry.facts = {"lane": lane, "whole_warp": True}
    mc.ledger.add(("shuffle-from-inactive-lane", site.ident), entry)
