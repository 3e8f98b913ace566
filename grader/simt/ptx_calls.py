"""The functions of ``grader.gpu.ptx``: what each does, for all threads at once.

Their docstrings there say what lane holds what and which addresses have to be aligned; numba's typing
of them is followed here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from grader.simt import ptx_copies, ptx_matrices, ptx_wgmma, wide
from grader.simt.context import Context, Typed
from grader.simt.tally import LOAD, STORE
from grader.simt.types import NAMES, NONE

MODULE: Final = "grader.gpu.ptx"
_QUAD_BYTES = 16


def load4(context: Context, node: ast.Call) -> Typed:
    """``load4(registers, r, memory, i)``: four 32-bit elements in one request."""
    wide.arity(context, node, 4)
    codes = wide.CODES_OF_BITS[32]
    target = wide.operand(context, node, 0, codes, 4, store=True)
    source = wide.operand(context, node, 2, codes, _QUAD_BYTES)
    _check_equal(context, node, target, source)

    def execute(fr: Any, m: Any) -> None:
        offset = source.offset(fr, m)
        wide.tally(fr, m, source, offset, LOAD)
        wide.store(fr, m, target, target.offset(fr, m), wide.load(fr, m, source, offset, 4))

    return Typed(NONE, execute)


def storing(elements: int) -> Callable[[Context, ast.Call], Typed]:
    """The handler of ``store4(memory, i, registers, r)``, or of ``store2``: 32-bit elements, one request."""

    def handler(context: Context, node: ast.Call) -> Typed:
        wide.arity(context, node, 4)
        codes = wide.CODES_OF_BITS[32]
        target = wide.operand(context, node, 0, codes, 4 * elements, store=True)
        source = wide.operand(context, node, 2, codes, 4)
        _check_equal(context, node, target, source)

        def execute(fr: Any, m: Any) -> None:
            offset = target.offset(fr, m)
            wide.tally(fr, m, target, offset, STORE)
            values = wide.load(fr, m, source, source.offset(fr, m), elements)
            wide.store(fr, m, target, offset, values)

        return Typed(NONE, execute)

    return handler


def _check_equal(context: Context, node: ast.Call, one: wide.Operand, other: wide.Operand) -> None:
    if one.code != other.code:
        got = (f"array({NAMES[one.code]})", f"array({NAMES[other.code]})")
        name = ast.unparse(node.func)
        context.fail(node, "argument-type", name=name, got=got, wanted=f"array({NAMES[one.code]})")


CALLS: Final[dict[str, Callable[[Context, ast.Call], Typed]]] = {
    f"{MODULE}.load4": load4,
    f"{MODULE}.store4": storing(4),
    f"{MODULE}.store2": storing(2),
    f"{MODULE}.cp_async_4_bytes": ptx_copies.copying(4),
    f"{MODULE}.cp_async_16_bytes": ptx_copies.copying(16),
    f"{MODULE}.cp_async_commit": ptx_copies.commit,
    f"{MODULE}.cp_async_wait": ptx_copies.wait,
    f"{MODULE}.ldmatrix_x4": ptx_matrices.ldmatrix(transposed=False),
    f"{MODULE}.ldmatrix_x4_trans": ptx_matrices.ldmatrix(transposed=True),
    f"{MODULE}.mma_bf16": ptx_matrices.mma,
    f"{MODULE}.fence_proxy_async": ptx_wgmma.fence,
    f"{MODULE}.wgmma_bf16": ptx_wgmma.wgmma,
    f"{MODULE}.wgmma_wait": ptx_wgmma.wait,
}

__all__ = ["CALLS", "MODULE"]
