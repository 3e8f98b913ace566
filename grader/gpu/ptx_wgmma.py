"""The tensor cores of Hopper, driven by a warpgroup straight from shared memory: ``wgmma``.

A warpgroup is four neighbouring warps, of which the first has a number that is a multiple of 4. Its
multiply-adds run on while its threads compute, and read shared memory by a way of their own, the
asynchronous proxy, which sees what threads have written only after a fence. These instructions exist
for the target ``sm_90a`` alone, for which numba-cuda compiles on a device of compute capability 9.0.

Source: NVIDIA, Parallel Thread Execution ISA, "Asynchronous Warpgroup Level Matrix Instructions" and
"fence.proxy.async", https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

from grader.gpu.ptx_operands import F32, I32, I64, Operands, require_arrays

COLUMNS = (64, 128, 192, 256)
DEPTH = 64
STEPS = DEPTH // 16
ROW_BYTES = 2 * DEPTH
GROUP_BYTES = 8 * ROW_BYTES  # after eight rows the pattern of the swizzle begins anew
PANEL_BYTES = DEPTH * ROW_BYTES
SWIZZLE_128_BYTES = 1 << 62


@intrinsic
def fence_proxy_async(typing_context):  # type: ignore[no-untyped-def]
    """Let ``wgmma`` see what this thread has written to shared memory, by stores and finished copies.

    To be called by each thread that wrote, before the barrier after which the warpgroup multiplies.
    """
    return types.void(), _plain("fence.proxy.async.shared::cta;")


@intrinsic
def wgmma_bf16(typing_context, sums, c, columns, shared, a, b):  # type: ignore[no-untyped-def]
    """Start to multiply and add: C += A @ B with A 64 x 64, B 64 x columns, C 64 x columns, by a warpgroup.

    ``columns`` is a literal or a module-level integer: 64, 128, 192 or 256. All 128 threads take part.
    ``shared`` (16-bit elements) holds A from offset ``a`` on and B from ``b`` on, which are the same for
    all of them; both addresses are multiples of 1024. A's row r is the 64 elements from a + 64 r on; B
    lies in panels of 64 columns, 4096 elements each, where row k is the 64 elements from 64 k on. Within
    each row the eight pieces of eight elements are swizzled: piece j lies where piece j ^ (row % 8) would.

    Of C thread t of the group, with lane l = t % 32, g = l // 4 and q = l % 4, holds for each j < columns / 8

    =================================================  ==========================================
    ``sums[c + 4 j]``, ``sums[c + 4 j + 1]``               C[16 (t // 32) + g, 8 j + 2 q and + 1]
    ``sums[c + 4 j + 2]``, ``sums[c + 4 j + 3]``           C[16 (t // 32) + g + 8, 8 j + 2 q and + 1]
    =================================================  ==========================================

    in float32. From the call on until :func:`wgmma_wait` has waited for it these elements are not to be
    used, other than as the sums of further calls, and A and B not to be written. Each call is a group of
    its own. How sums are rounded on the way is the hardware's own.
    """
    require_arrays("wgmma_bf16", 32, sums)
    require_arrays("wgmma_bf16", 16, shared)
    if not isinstance(columns, types.IntegerLiteral) or columns.literal_value not in COLUMNS:
        raise TypingError("wgmma_bf16: columns must be a compile-time constant: 64, 128, 192 or 256")
    count = columns.literal_value // 2

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        target = operands.address(0)
        results = operands.assemble(
            _code(columns.literal_value),
            ir.LiteralStructType([F32] * count),
            ",".join(["=f"] * count + [str(e) for e in range(count)] + ["l", "l"]),
            *operands.load(target, count),
            _descriptor(operands, builder, 4, 1),
            _descriptor(operands, builder, 5, PANEL_BYTES),
        )
        operands.store(target, operands.parts(results, count))
        return operands.nothing()

    return types.void(sums, c, columns, shared, a, b), generate


@intrinsic
def wgmma_wait(typing_context, groups):  # type: ignore[no-untyped-def]
    """Wait until of the warpgroup's calls of ``wgmma`` only the latest ``groups`` may be under way.

    ``groups`` is a literal or a module-level integer; 0 waits for all of them.
    """
    if not isinstance(groups, types.IntegerLiteral) or not 0 <= groups.literal_value <= 7:
        raise TypingError("wgmma_wait: the number of groups must be a compile-time constant, 0 to 7")
    return types.void(groups), _plain(f"wgmma.wait_group.sync.aligned {groups.literal_value};")


def _plain(code: str) -> Any:
    """An instruction without operands."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        operands.assemble(code, ir.VoidType(), "")
        return operands.nothing()

    return generate


def _descriptor(operands: Operands, builder: Any, k: int, lead: int) -> Any:
    """The 64-bit name of a swizzled matrix at offset ``k`` of the array before A's offset.

    Its fields are the address, how far panels lie apart (B alone has more than one) and how far groups
    of eight rows do, each in 16 bytes, and the swizzle.
    """
    constant = (lead >> 4 << 16) | (GROUP_BYTES >> 4 << 32) | SWIZZLE_128_BYTES
    sixteenth = builder.lshr(operands.shared_address(3, k), ir.Constant(I32, 4))
    return builder.or_(builder.zext(sixteenth, I64), ir.Constant(I64, constant))


def _code(columns: int) -> str:
    """A group of multiply-adds, each 16 deep: A's next 16 columns are 32 bytes on, B's next rows 2048."""
    count = columns // 2
    sums = ",".join(f"${e}" for e in range(count))
    kind = f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16"
    lines = [
        "{ .reg .pred add; .reg .b64 a, b;",
        "setp.ne.b32 add, 1, 0;",
        f"mov.b64 a, ${2 * count}; mov.b64 b, ${2 * count + 1};",
        "wgmma.fence.sync.aligned;",
    ]
    for step in range(STEPS):
        if step:
            lines.append(f"add.s64 a, a, {32 >> 4}; add.s64 b, b, {16 * ROW_BYTES >> 4};")
        # The last four: A and B as they are, A's rows lie along k, B's along its columns.
        lines.append(f"{kind} {{{sums}}}, a, b, add, 1, 1, 0, 1;")
    return "\n".join([*lines, "wgmma.commit_group.sync.aligned; }"])


__all__ = ["COLUMNS", "DEPTH", "fence_proxy_async", "wgmma_bf16", "wgmma_wait"]
