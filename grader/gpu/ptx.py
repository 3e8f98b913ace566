"""PTX instructions that numba.cuda has no name for, each as a function that a kernel can call.

Wide loads and stores, copies to shared memory that run on while the thread computes (``cp.async``),
and what feeds and drives the tensor cores (``ldmatrix``, ``mma``), of compute capability 8.0 or later;
and ``wgmma``, of 9.0 alone, which :mod:`grader.gpu.ptx_wgmma` tells of.

An operand in memory is an array and an *offset*: the number of elements, in C order, from the array's
first. Global and shared arrays must be C-contiguous; of which memory an array is, is told below by its
name: ``array`` is in global memory, ``shared`` in shared memory, ``memory`` in either, and
``registers`` is a ``cuda.local.array``, whose offsets must be constants once loops are unrolled, so
that its elements become registers. Nothing is checked: offsets must be in range and addresses aligned
as stated (:func:`cuda.shared.array` takes ``alignment=16``).

Source: NVIDIA, Parallel Thread Execution ISA, the sections on ld, cp.async, ldmatrix and mma,
https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.cuda.core.errors import TypingError
from numba.cuda.extending import intrinsic

from grader.gpu.ptx_operands import F32, I32, Operands, require_arrays
from grader.gpu.ptx_wgmma import fence_proxy_async, wgmma_bf16, wgmma_wait

__all__ = [
    "cp_async_4_bytes",
    "cp_async_16_bytes",
    "cp_async_commit",
    "cp_async_wait",
    "fence_proxy_async",
    "ldmatrix_x4",
    "ldmatrix_x4_trans",
    "load4",
    "mma_bf16",
    "store2",
    "store4",
    "wgmma_bf16",
    "wgmma_wait",
]


@intrinsic
def load4(typing_context, registers, r, memory, i):  # type: ignore[no-untyped-def]
    """Load four neighbouring 32-bit elements in one 128-bit access.

    ``registers[r + e] = memory[i + e]`` for e in 0 ... 3, for each lane by itself. Both arrays hold
    elements of one type, float32, int32 or uint32; the address of ``memory[i]`` is a multiple of 16.
    """
    require_arrays("load4", 32, registers, memory, alike=True)

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        vector = builder.load(operands.address_of_vector(2, 4))
        vector.align = 16
        values = [builder.extract_element(vector, ir.Constant(I32, e)) for e in range(4)]
        operands.store(operands.address(0), values)
        return operands.nothing()

    return types.void(registers, r, memory, i), generate


@intrinsic
def store4(typing_context, memory, i, registers, r):  # type: ignore[no-untyped-def]
    """Store four neighbouring 32-bit elements in one 128-bit access.

    ``memory[i + e] = registers[r + e]`` for e in 0 ... 3, for each lane by itself. Types and alignment
    as for :func:`load4`.
    """
    require_arrays("store4", 32, memory, registers, alike=True)
    return types.void(memory, i, registers, r), _store_vector(4)


@intrinsic
def store2(typing_context, memory, i, registers, r):  # type: ignore[no-untyped-def]
    """As :func:`store4`, two elements in one 64-bit access; the address is a multiple of 8."""
    require_arrays("store2", 32, memory, registers, alike=True)
    return types.void(memory, i, registers, r), _store_vector(2)


@intrinsic
def cp_async_4_bytes(typing_context, shared, s, array, i, count):  # type: ignore[no-untyped-def]
    """Start to copy 4 bytes from global to shared memory, without passing through registers.

    With n = 4 / element size, ``shared[s + e] = array[i + e]`` for e < count and ``= 0`` for
    count <= e < n, where 0 <= count <= n; ``array`` is not read at or past ``array[i + count]``, so
    with a count of 0 any offset will do. Both addresses are multiples of 4. The copy is complete, for
    the thread that started it, only after :func:`cp_async_wait`, and for the other threads of the block
    only after a barrier that follows; until then what the slots hold is undefined.
    """
    return types.void(shared, s, array, i, count), _cp_async("ca", 4, shared, array)


@intrinsic
def cp_async_16_bytes(typing_context, shared, s, array, i, count):  # type: ignore[no-untyped-def]
    """As :func:`cp_async_4_bytes`, for 16 bytes: n = 16 / element size, addresses multiples of 16.

    It passes by the L1 cache.
    """
    return types.void(shared, s, array, i, count), _cp_async("cg", 16, shared, array)


@intrinsic
def cp_async_commit(typing_context):  # type: ignore[no-untyped-def]
    """Close a group: all the copies that this thread has started since its last commit; maybe none."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        operands.assemble("cp.async.commit_group;", ir.VoidType(), "")
        return operands.nothing()

    return types.void(), generate


@intrinsic
def cp_async_wait(typing_context, groups):  # type: ignore[no-untyped-def]
    """Wait until of this thread's groups only the latest ``groups`` may still be under way.

    ``groups`` is a literal or a module-level integer; 0 waits for every group that was committed.
    """
    if not isinstance(groups, types.IntegerLiteral):
        raise TypingError("cp_async_wait: the number of groups must be a compile-time constant")

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        operands.assemble(f"cp.async.wait_group {groups.literal_value};", ir.VoidType(), "")
        return operands.nothing()

    return types.void(groups), generate


@intrinsic
def ldmatrix_x4(typing_context, registers, r, shared, s):  # type: ignore[no-untyped-def]
    """Load four 8 x 8 matrices of 16-bit elements and deal them out over a whole warp.

    All 32 lanes take part. Lane 8 j + i gives as ``s`` where row i of matrix j begins: 8 elements, at
    an address that is a multiple of 16. Each lane gets two neighbours of each matrix: lane l gets as
    ``registers[r + j]``, a uint32, the elements (l // 4, 2 (l % 4)) and (l // 4, 2 (l % 4) + 1) of
    matrix j, the first in the low half. ``shared`` holds 16-bit elements.
    """
    return types.void(registers, r, shared, s), _ldmatrix("ldmatrix_x4", "", registers, shared)


@intrinsic
def ldmatrix_x4_trans(typing_context, registers, r, shared, s):  # type: ignore[no-untyped-def]
    """As :func:`ldmatrix_x4`, each matrix transposed on the way.

    Lane l gets as ``registers[r + j]`` the elements (2 (l % 4), l // 4) and (2 (l % 4) + 1, l // 4) of
    matrix j, the first in the low half.
    """
    return types.void(registers, r, shared, s), _ldmatrix("ldmatrix_x4_trans", ".trans", registers, shared)


@intrinsic
def mma_bf16(typing_context, sums, c, a_registers, a, b_registers, b):  # type: ignore[no-untyped-def]
    """Multiply and add on a tensor core: C += A @ B with A 16 x 16, B 16 x 8 and C 16 x 8, by a warp.

    All 32 lanes take part, each holding a part of every matrix. With g = l // 4 and q = l % 4 lane l
    holds, two bfloat16 in each uint32 and the first in the low half:

    ==============================  ======================================
    ``a_registers[a]``              A[g, 2q], A[g, 2q + 1]
    ``a_registers[a + 1]``          A[g + 8, 2q], A[g + 8, 2q + 1]
    ``a_registers[a + 2]``          A[g, 2q + 8], A[g, 2q + 9]
    ``a_registers[a + 3]``          A[g + 8, 2q + 8], A[g + 8, 2q + 9]
    ``b_registers[b]``              B[2q, g], B[2q + 1, g]
    ``b_registers[b + 1]``          B[2q + 8, g], B[2q + 9, g]
    ``sums[c]``, ``sums[c + 1]``      C[g, 2q], C[g, 2q + 1]
    ``sums[c + 2]``, ``sums[c + 3]``  C[g + 8, 2q], C[g + 8, 2q + 1]
    ==============================  ======================================

    ``sums`` (float32) is updated in place. Products are exact; the order in which they are added, and
    how the sum is rounded on the way, is the hardware's own.
    """
    require_arrays("mma_bf16", 32, sums, a_registers, b_registers)

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        target = operands.address(0)
        values = [
            value for k, n in ((0, 4), (2, 4), (4, 2)) for value in operands.load(operands.address(k), n)
        ]
        results = operands.assemble(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{$0,$1,$2,$3}, {$8,$9,$10,$11}, {$12,$13}, {$4,$5,$6,$7};",
            ir.LiteralStructType([F32] * 4),
            "=f,=f,=f,=f,f,f,f,f,r,r,r,r,r,r",
            *values,
            pure=True,
        )
        operands.store(target, operands.parts(results, 4))
        return operands.nothing()

    return types.void(sums, c, a_registers, a, b_registers, b), generate


def _store_vector(count: int) -> Any:
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        target = operands.address_of_vector(0, count)
        vector = ir.Constant(target.type.pointee, ir.Undefined)
        for e, value in enumerate(operands.load(operands.address(2), count)):
            vector = builder.insert_element(vector, value, ir.Constant(I32, e))
        builder.store(vector, target).align = 4 * count
        return operands.nothing()

    return generate


def _cp_async(cache: str, size: int, shared: Any, array: Any) -> Any:
    name = f"cp_async_{size}_bytes"
    for operand in (shared, array):
        if not isinstance(operand, types.Array) or operand.layout != "C":
            raise TypingError(f"{name}: {operand} is no C-contiguous array")
    if shared.dtype != array.dtype or size * 8 % array.dtype.bitwidth:
        raise TypingError(f"{name}: cannot copy {array.dtype} to {shared.dtype}")
    width = array.dtype.bitwidth // 8

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        operands.assemble(
            f"cp.async.{cache}.shared.global [$0], [$1], {size}, $2;",
            ir.VoidType(),
            "r,l,r",
            operands.shared_address(0),
            operands.global_address(2),
            builder.mul(operands.integer(4), ir.Constant(I32, width)),
        )
        return operands.nothing()

    return generate


def _ldmatrix(name: str, trans: str, registers: Any, shared: Any) -> Any:
    require_arrays(name, 32, registers)
    require_arrays(name, 16, shared)

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        operands = Operands(context, builder, signature, args)
        results = operands.assemble(
            f"ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{$0,$1,$2,$3}}, [$4];",
            ir.LiteralStructType([I32] * 4),
            "=r,=r,=r,=r,r",
            operands.shared_address(2),
        )
        operands.store(operands.address(0), operands.parts(results, 4))
        return operands.nothing()

    return generate
