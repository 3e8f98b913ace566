"""What a matrix-product kernel does, counted: flops, bytes at each level, threads, registers.

C (M x N) = A (M x K) B (K x N), row-major. A block computes a ``bm`` x ``bn`` tile of C in slices of
``bk`` along k. Counts are of what the threads ask for, element by element: a guarded load outside
the matrices asks for nothing, while staged tiles are filled with zeros and multiplied whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from grader.perf.devices import ELEMENT_BYTES

if TYPE_CHECKING:
    from grader.perf.devices import Device, Dtype

Kind = Literal["naive", "tiled", "register-blocked", "tensor-core"]

# Addresses, indices and loop counters. numba's tiled kernel takes 32 registers and its 4 x 4 one 55,
# as the driver reports them on an H200: 29 and 31 above the accumulators and operands.
_REGISTERS_BESIDE_VALUES = 29
_MATRIX_STEP = 16


class KernelError(ValueError):
    """A kernel description that is not one; the text is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class GemmKernel:
    """A matrix-product kernel.

    Parameters
    ----------
    kind
        ``naive``: one thread per element of C, operands straight from global memory.
        ``tiled``: one thread per element, operands staged in shared memory.
        ``register-blocked``: a ``tm`` x ``tn`` patch of C per thread, staged.
        ``tensor-core``: a ``tm`` x ``tn`` patch of C per ``warps`` warps, staged, on the matrix units.
    bm, bn, bk
        Block tile of C and depth of one k-slice, in elements. ``bk`` is 1 for a naive kernel.
    dtype
        Of A and B. Sums and C are float32, or float64 for float64 inputs.
    registers
        Per thread, where known (a compiler's report); estimated otherwise.
    stages
        Shared buffers per operand: 2 for double buffering.
    warps
        Warps that multiply a patch together: 4 for the warpgroups of Hopper. For ``tensor-core`` alone.
    """

    kind: Kind
    bm: int
    bn: int
    bk: int = 1
    tm: int = 1
    tn: int = 1
    dtype: Dtype = "float32"
    registers: int | None = None
    stages: int = 1
    warps: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no kernel. Raises KernelError."""
        if self.kind not in get_args(Kind):
            raise KernelError(f"no kernel kind {self.kind!r} (known: {', '.join(get_args(Kind))})")
        if self.dtype not in ELEMENT_BYTES:
            raise KernelError(f"no dtype {self.dtype!r} (known: {', '.join(ELEMENT_BYTES)})")
        sizes = {name: getattr(self, name) for name in ("bm", "bn", "bk", "tm", "tn", "stages", "warps")}
        for name, size in sizes.items():
            if not 1 <= size <= 65536:
                raise KernelError(f"{name} is {size}; it must be a whole number from 1 to 65536")
        if self.bm % self.tm or self.bn % self.tn:
            raise KernelError(
                f"a {self.bm} x {self.bn} block tile does not divide into {self.tm} x {self.tn} patches"
            )
        if self.kind in {"naive", "tiled"} and (self.tm, self.tn) != (1, 1):
            raise KernelError(f"a {self.kind} kernel has one element of C per thread; tm and tn must be 1")
        if self.kind != "tensor-core" and self.warps != 1:
            raise KernelError(f"a {self.kind} kernel has patches of threads, not of warps; warps must be 1")
        if self.kind == "naive" and self.bk != 1:
            raise KernelError("a naive kernel has no k-slices; bk must be 1")
        if self.kind == "tensor-core" and self.dtype not in {"float16", "bfloat16"}:
            raise KernelError(f"a tensor-core kernel takes float16 or bfloat16 inputs, not {self.dtype}")

    @property
    def staged(self) -> bool:
        """Whether operands pass through shared memory."""
        return self.kind != "naive"

    @property
    def element_bytes(self) -> int:
        """Bytes of one element of A or B."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def accumulator_bytes(self) -> int:
        """Bytes of one sum, and of one element of C."""
        return 8 if self.dtype == "float64" else 4

    @property
    def patches(self) -> int:
        """Patches of C in a block: one for each thread, or for each ``warps`` warps on tensor cores."""
        return (self.bm // self.tm) * (self.bn // self.tn)

    @property
    def shared_bytes_per_block(self) -> int:
        """Shared memory for the staged tiles of A and B, unpadded."""
        return self.stages * self.element_bytes * self.bk * (self.bm + self.bn) if self.staged else 0

    def threads_per_block(self, device: Device) -> int:
        """Threads of one block."""
        return self.patches * (self.warps * device.warp_width if self.kind == "tensor-core" else 1)

    def registers_per_thread(self, device: Device) -> int:
        """32-bit registers per thread: as given, or estimated from the values that stay live.

        The estimate counts the thread's accumulators, its operands of one step of k (for tensor
        cores: the fragments of a 16-deep step) and 29 for addresses and counters.
        """
        if self.registers is not None:
            return self.registers
        words = self.accumulator_bytes // 4
        if self.kind != "tensor-core":
            return _REGISTERS_BESIDE_VALUES + words * (self.tm * self.tn + self.tm + self.tn)
        lanes = self.warps * device.warp_width
        sums = -(-self.tm * self.tn // lanes)
        fragments = -(-(self.tm + self.tn) * _MATRIX_STEP * self.element_bytes // (4 * lanes))
        return _REGISTERS_BESIDE_VALUES + sums + fragments


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one launch of a kernel does on M, N, K. Bytes are those that threads ask for."""

    flops: int
    """2 M N K, the useful ones."""
    executed_flops: int
    """Those carried out, with the zeros of ragged tiles."""
    global_load_bytes: int
    global_store_bytes: int
    shared_bytes: int
    """Tile stores and operand reads; 0 for a naive kernel."""
    compulsory_bytes: int
    """A, B and C once each: the least that any kernel moves."""
    blocks: int

    @property
    def global_bytes(self) -> int:
        """Loads and stores together."""
        return self.global_load_bytes + self.global_store_bytes


def traffic(kernel: GemmKernel, M: int, N: int, K: int) -> Traffic:
    """Count one launch. M, N, K are positive; they need not be multiples of the tile.

    Every column of blocks reads all of A and every row of blocks all of B, so the loads are
    e K (M ceil(N / bn) + N ceil(M / bm)) bytes: e (bm bk + bk bn) for each whole slice of a block.
    """
    check_sizes(M, N, K)
    rows, columns, slices = -(-M // kernel.bm), -(-N // kernel.bn), -(-K // kernel.bk)
    e, blocks = kernel.element_bytes, rows * columns
    if kernel.staged:
        loads = e * K * (M * columns + N * rows)
        padded = blocks * kernel.bm * kernel.bn * slices * kernel.bk
        per_k = kernel.bm + kernel.bn + kernel.patches * (kernel.tm + kernel.tn)
        shared = e * blocks * slices * kernel.bk * per_k
    else:
        loads, padded, shared = 2 * e * M * N * K, M * N * K, 0
    stores = kernel.accumulator_bytes * M * N
    return Traffic(
        flops=2 * M * N * K,
        executed_flops=2 * padded,
        global_load_bytes=loads,
        global_store_bytes=stores,
        shared_bytes=shared,
        compulsory_bytes=e * K * (M + N) + stores,
        blocks=blocks,
    )


def check_sizes(M: int, N: int, K: int) -> None:
    """Refuse sizes that are no matrix's. Raises KernelError."""
    for name, size in (("M", M), ("N", N), ("K", K)):
        if not 1 <= size <= 2**31 - 1:
            raise KernelError(f"{name} is {size}; it must be a whole number from 1 to 2147483647")
