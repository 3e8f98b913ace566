"""One hand-made finding for each name of the catalogue, on a kernel that really has that fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grader.diagnosis import Context
from grader.records import Fact, Finding, ShapeResult, Slot, Span, Thread

TILED = """\
from numba import cuda, float32

TILE = 16


@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + tx
    row = cuda.blockIdx.y * TILE + ty
    acc = float32(0.0)
    for t in range((K + TILE - 1) // TILE):
        a_col = t * TILE + tx
        b_row = t * TILE + ty
        if row < M and a_col < K:
            As[ty, tx] = A[row, a_col]
        else:
            As[ty, tx] = 0.0
        if b_row < K and col < N:
            Bs[ty, tx] = B[b_row, col]
        else:
            Bs[ty, tx] = 0.0
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""

_ZERO_A = "        else:\n            As[ty, tx] = 0.0\n"
_FIRST_BARRIER = "        cuda.syncthreads()\n        for k"
_SECOND_BARRIER = "Bs[k, tx]\n        cuda.syncthreads()\n"


def edited(old: str, new: str, source: str = TILED) -> str:
    assert source.count(old) == 1, old
    return source.replace(old, new)


def place(source: str, text: str, occurrence: int = 0) -> Span:
    """The span of the given occurrence of a text that lies on one line."""
    at = -1
    for _ in range(occurrence + 1):
        at = source.index(text, at + 1)
    line = source.count("\n", 0, at) + 1
    column = at - (source.rfind("\n", 0, at) + 1) + 1
    return Span(line, column, line, column + len(text))


def thread(tx: int, ty: int, bx: int = 0, by: int = 0) -> Thread:
    return Thread((bx, by, 0), (tx, ty, 0))


def shape(family: str, sizes: tuple[int, int, int], wrong: int = 0) -> ShapeResult:
    m, n, k = sizes
    return ShapeResult(family, {"M": m, "N": n, "K": k}, True, wrong == 0, wrong, m * n)


ALIGNED = shape("aligned", (64, 32, 48))
ALIGNED_TOO = shape("aligned", (32, 80, 64))
RAGGED_MN = shape("ragged M, N", (50, 37, 64))
RAGGED_K = shape("ragged K", (48, 64, 40), 48 * 64)
ALL_RAGGED = shape("all ragged", (50, 37, 40), 50 * 37)
K_BELOW = shape("K < TILE", (32, 48, 9), 32 * 48)


@dataclass(frozen=True)
class Example:
    source: str
    finding: Finding
    context: Context


def context(
    source: str,
    failing: tuple[ShapeResult, ...] = (ALL_RAGGED, RAGGED_K, K_BELOW),
    passing: tuple[ShapeResult, ...] = (ALIGNED, ALIGNED_TOO, RAGGED_MN),
    **rest: object,
) -> Context:
    return Context(
        path="02_ragged_dims.py",
        source_lines=tuple(source.splitlines()),
        settings={"TILE": 16},
        failing=failing,
        passing=passing,
        names={"kernel": "tiled_matmul", "out": "C", "left": "A", "right": "B"},
        block=(16, 16, 1),
        grid=(3, 4, 1),
        **rest,  # type: ignore[arg-type]
    )


def _example(source: str, finding: Finding, **rest: object) -> Example:
    return Example(source, finding, context(source, **rest))  # type: ignore[arg-type]


def syntax_error() -> Example:
    source = edited("acc += As[ty, k] * Bs[k, tx]", "acc += As[ty, k * Bs[k, tx]")
    spot = place(source, "[ty, k * Bs")
    finding = Finding(
        "syntax-error",
        "error",
        Span(spot.line, spot.column, spot.line, spot.column + 1),
        facts={"message": "'[' was never closed"},
    )
    return _example(source, finding, failing=(), passing=())


def missing_kernel() -> Example:
    source = edited("def tiled_matmul", "def tiled_matmult")
    facts = {"kernel": "tiled_matmul", "candidates": ("naive_matmul", "tiled_matmult", "launch_config")}
    return _example(source, Finding("missing-kernel", "error", facts=facts), failing=(), passing=())


def changed_signature() -> Example:
    source = edited("(A, B, C, M, N, K)", "(A, B, C, N, M, K)")
    facts = {"wanted": ("A", "B", "C", "M", "N", "K"), "got": ("A", "B", "C", "N", "M", "K")}
    span = place(source, "A, B, C, N, M, K")
    return _example(source, Finding("changed-signature", "error", span, facts=facts), failing=(), passing=())


def not_started() -> Example:
    source = edited("acc += As[ty, k] * Bs[k, tx]", "...")
    finding = Finding("not-started", "note", place(source, "..."), counts={"placeholders": 3})
    return _example(source, finding, failing=(), passing=())


def forbidden_call() -> Example:
    source = edited("C[row, col] = acc", "cuda.atomic.add(C, (row, col), acc)")
    finding = Finding(
        "forbidden-call",
        "error",
        place(source, "cuda.atomic.add(C, (row, col), acc)"),
        facts={"name": "cuda.atomic.add"},
    )
    return _example(source, finding, failing=(), passing=())


def unsupported_construct() -> Example:
    source = edited("acc += As[ty, k] * Bs[k, tx]", "acc += (lambda x, y: x * y)(As[ty, k], Bs[k, tx])")
    span = place(source, "lambda x, y: x * y")
    facts = {"construct": "lambda x, y: x * y"}
    return _example(
        source, Finding("unsupported-construct", "error", span, facts=facts), failing=(), passing=()
    )


def type_error() -> Example:
    source = edited("= A[row, a_col]", "= A[row]")
    facts = {"rule": "index-rank", "name": "A", "got": 1, "wanted": 2}
    finding = Finding("type-error", "error", place(source, "A[row]"), facts=facts)
    return _example(source, finding, failing=(), passing=())


def non_constant_shared_shape() -> Example:
    source = TILED.replace("As = cuda.shared.array((TILE, TILE)", "As = cuda.shared.array((TILE, TILE + 1)")
    facts = {"expression": "TILE + 1", "reason": "arithmetic"}
    finding = Finding("non-constant-shared-shape", "error", place(source, "TILE + 1"), facts=facts)
    return _example(source, finding, failing=(), passing=())


def bad_launch_config() -> Example:
    source = TILED + "\n\ndef launch_config(M, N):\n    return (N / TILE, M / TILE), (TILE, TILE)\n"
    facts = {
        "function": "launch_config",
        "rule": "not-integers",
        "got": "((2.3125, 3.125), (16, 16))",
    }
    span = place(source, "return (N / TILE, M / TILE), (TILE, TILE)")
    finding = Finding("bad-launch-config", "error", span, facts=facts)
    return _example(source, finding, failing=(shape("ragged M, N", (50, 37, 64)),), passing=())


def block_too_large() -> Example:
    source = edited("TILE = 16", "TILE = 64")
    finding = Finding(
        "block-too-large",
        "error",
        place(source, "def tiled_matmul(A, B, C, M, N, K):"),
        counts={"threads": 4096, "limit": 1024},
        facts={"device": "H100"},
    )
    found = context(source, (), ())
    return Example(source, finding, Context(found.path, found.source_lines, {"TILE": 64}, block=(64, 64, 1)))


def grid_too_large() -> Example:
    facts = {"grid": (1, 70000, 1), "limit": (2147483647, 65535, 65535), "device": "H100"}
    return Example(TILED, Finding("grid-too-large", "error", facts=facts), context(TILED, (), ()))


def shuffle_from_inactive_lane() -> Example:
    return _shuffle("if i < 16:\n        ", "shuffle-from-inactive-lane", 15, 1)


def lane_not_in_mask() -> Example:
    return _shuffle("", "lane-not-in-mask", 16, 16)


def inactive_lane_in_mask() -> Example:
    example = _shuffle("if i < 16:\n        ", "inactive-lane-in-mask", 16, 16)
    finding = replace(example.finding, facts={"lane": 16})
    return replace(example, finding=finding)


def _shuffle(guard: str, name: str, at: int, threads: int) -> Example:
    mask = "0xFFFFFFFF" if guard else "0xFFFF"
    call = f"cuda.shfl_down_sync({mask}, a[i], 1)"
    head = "from numba import cuda\n\n\n@cuda.jit\ndef shift(a):\n    i = cuda.threadIdx.x\n"
    source = f"{head}    {guard}a[i] = {call}\n"
    finding = Finding(
        name,
        "error",
        place(source, call),
        place(source, "i < 16") if guard else None,
        threads=(Thread((0, 0, 0), (at, 0, 0)),),
        counts={"threads": threads},
        facts={"lane": at + 1},
    )
    lines = tuple(source.splitlines())
    return Example(source, finding, Context("shift.py", lines, block=(32, 1, 1), grid=(1, 1, 1)))


def shared_memory_too_large() -> Example:
    source = TILED.replace("array((TILE, TILE), float32)", "array((128, 128), float32)")
    finding = Finding(
        "shared-memory-too-large",
        "error",
        place(source, "cuda.shared.array((128, 128), float32)", 1),
        counts={"bytes": 131072, "limit": 49152},
        facts={"device": "H100"},
    )
    return _example(source, finding, failing=(), passing=())


def grid_too_small() -> Example:
    finding = Finding(
        "grid-too-small",
        "warning",
        place(TILED, "C[row, col]"),
        slot=Slot("C", "global", (48, 0)),
        counts={"reached": 48, "size": 50},
        facts={"axis": 0, "array": "C"},
    )
    failing = (shape("ragged M, N", (50, 37, 64), 74), shape("all ragged", (50, 37, 40), 74))
    return _example(TILED, finding, failing=failing, passing=(ALIGNED, ALIGNED_TOO))


def did_not_finish() -> Example:
    source = edited(
        "        for k in range(TILE):\n            acc += As[ty, k] * Bs[k, tx]\n",
        "        k = 0\n        while k < TILE:\n            acc += As[ty, k] * Bs[k, tx]\n",
    )
    finding = Finding(
        "did-not-finish",
        "error",
        place(source, "while k < TILE"),
        loops=(("t", 0),),
        counts={"operations": 50_000_000},
    )
    return _example(source, finding, failing=(shape("aligned", (64, 32, 48)),), passing=())


def zero_step() -> Example:
    source = edited("        for k in range(TILE):\n", "        for k in range(0, TILE, t):\n")
    finding = Finding(
        "zero-step",
        "error",
        place(source, "range(0, TILE, t)"),
        threads=(thread(0, 0, 0, 0),),
        loops=(("t", 0),),
        counts={"threads": 2048},
    )
    return _example(source, finding, failing=(shape("aligned", (64, 32, 48)),), passing=())


def divergent_barrier() -> Example:
    source = edited(
        "            Bs[ty, tx] = B[b_row, col]\n        else:\n"
        "            Bs[ty, tx] = 0.0\n        cuda.syncthreads()\n",
        "            Bs[ty, tx] = B[b_row, col]\n            cuda.syncthreads()\n"
        "        else:\n            Bs[ty, tx] = 0.0\n",
    )
    finding = Finding(
        "divergent-barrier",
        "error",
        place(source, "cuda.syncthreads()"),
        place(source, "b_row < K and col < N"),
        threads=(thread(0, 0, 2, 0),),
        loops=(("t", 0),),
        counts={"arrived": 80, "live": 256, "blocks": 4},
    )
    return _example(source, finding, failing=(ALL_RAGGED, RAGGED_K), passing=(ALIGNED, ALIGNED_TOO))


def exit_before_barrier() -> Example:
    source = edited(
        "    acc = float32(0.0)\n",
        "    if row >= M or col >= N:\n        return\n    acc = float32(0.0)\n",
    )
    finding = Finding(
        "exit-before-barrier",
        "error",
        place(source, "return"),
        place(source, "cuda.syncthreads()"),
        threads=(thread(5, 0, 2, 0),),
        counts={"exited": 176, "live": 80, "blocks": 6},
    )
    failing = (shape("ragged M, N", (50, 37, 64), 530), shape("all ragged", (50, 37, 40), 530))
    return _example(source, finding, failing=failing, passing=(ALIGNED, shape("ragged K", (48, 64, 40))))


def shared_read_before_barrier() -> Example:
    source = edited(_FIRST_BARRIER, "        for k")
    finding = Finding(
        "shared-read-before-barrier",
        "error",
        place(source, "As[ty, k]"),
        _head(place(source, "As[ty, tx] = A"), 10),
        threads=(thread(15, 0), thread(0, 0)),
        slot=Slot("As", "shared", (0, 0)),
        loops=(("t", 0), ("k", 0)),
        counts={"words": 768, "threads": 256},
        facts={"scope": "warp", "read_modify": False, "other_loops": (("t", 0),)},
    )
    return _example(
        source,
        finding,
        failing=(ALIGNED, RAGGED_K),
        passing=(),
        confirmed="schedule",
        repair="a barrier after line 25",
        orders=8,
    )


def _head(span: Span, length: int) -> Span:
    return Span(span.line, span.column, span.line, span.column + length)


def shared_overwrite_before_barrier() -> Example:
    source = edited(_SECOND_BARRIER, "Bs[k, tx]\n")
    finding = Finding(
        "shared-overwrite-before-barrier",
        "error",
        _head(place(source, "As[ty, tx] = A"), 10),
        place(source, "As[ty, k]"),
        threads=(thread(0, 2), thread(15, 2)),
        slot=Slot("As", "shared", (2, 0)),
        loops=(("t", 1),),
        counts={"words": 512, "threads": 512},
        facts={"scope": "block", "read_modify": False, "other_loops": (("t", 0), ("k", 0))},
    )
    return _example(source, finding, failing=(), passing=(ALIGNED, RAGGED_MN, K_BELOW), orders=6)


def shared_write_conflict() -> Example:
    source = edited("As[ty, tx] = A[row, a_col]", "As[ty, ty] = A[row, a_col]")
    span = place(source, "As[ty, ty]")
    finding = Finding(
        "shared-write-conflict",
        "error",
        span,
        span,
        threads=(thread(1, 0), thread(0, 0)),
        slot=Slot("As", "shared", (0, 0)),
        loops=(("t", 0),),
        counts={"words": 16, "threads": 256},
        facts={"same_value": False, "read_modify": False, "scope": "warp"},
    )
    return _example(source, finding, failing=(ALIGNED, RAGGED_K), passing=())


def global_write_conflict() -> Example:
    source = edited("C[row, col] = acc", "C[row, 0] += acc")
    span = place(source, "C[row, 0]")
    finding = Finding(
        "global-write-conflict",
        "error",
        span,
        span,
        threads=(thread(1, 0), thread(0, 0)),
        slot=Slot("C", "global", (0, 0)),
        counts={"words": 50, "threads": 1850},
        facts={"same_value": False, "read_modify": True, "scope": "block"},
    )
    return _example(source, finding, failing=(ALIGNED, RAGGED_K), passing=())


SMOOTH = """\
from numba import cuda


@cuda.jit
def smooth(a, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if 0 < i < n - 1:
        left = a[i - 1]
        right = a[i + 1]
        cuda.syncthreads()
        a[i] = (left + right) / 2
"""


def global_read_write_race() -> Example:
    finding = Finding(
        "global-read-write-race",
        "error",
        place(SMOOTH, "a[i]"),
        place(SMOOTH, "a[i - 1]"),
        threads=(Thread((0, 0, 0), (31, 0, 0)), Thread((1, 0, 0), (0, 0, 0))),
        slot=Slot("a", "global", (31,)),
        counts={"words": 6, "threads": 6},
        facts={"scope": "grid"},
    )
    lines = tuple(SMOOTH.splitlines())
    return Example(SMOOTH, finding, Context("smooth.py", lines, block=(32, 1, 1), grid=(4, 1, 1), orders=5))


def undefined_variable() -> Example:
    source = edited("    acc = float32(0.0)\n", "    if row < M:\n        acc = float32(0.0)\n")
    finding = Finding(
        "undefined-variable",
        "error",
        place(source, "acc", 1),
        place(source, "row < M"),
        threads=(thread(0, 2, 0, 3),),
        loops=(("t", 0), ("k", 0)),
        counts={"threads": 672},
        facts={"variable": "acc", "reaches": "nothing"},
    )
    return _example(source, finding, failing=(ALL_RAGGED,), passing=(ALIGNED,))


def uninitialised_shared_read() -> Example:
    source = edited(_ZERO_A, "")
    finding = Finding(
        "uninitialised-shared-read",
        "error",
        place(source, "As[ty, k]"),
        place(source, "row < M and a_col < K"),
        threads=(thread(0, 0),),
        slot=Slot("As", "shared", (0, 9)),
        loops=(("t", 0), ("k", 9)),
        counts={"threads": 1536, "words": 672, "skipped": 112, "block_threads": 256},
        facts={"reaches": "output", "store_line": 19},
    )
    return _example(
        source,
        finding,
        failing=(K_BELOW, shape("K is 1", (48, 32, 1), 1536)),
        passing=(ALIGNED, RAGGED_MN),
        confirmed="experiment",
        repair="a zero stored where line 18 is false",
    )


def uninitialised_local_read() -> Example:
    source = TILED.replace("    acc = float32(0.0)\n", "    acc = cuda.local.array(2, float32)\n").replace(
        "acc += As[ty, k] * Bs[k, tx]", "acc[0] += As[ty, k] * Bs[k, tx]"
    )
    finding = Finding(
        "uninitialised-local-read",
        "error",
        place(source, "acc[0]"),
        place(source, "cuda.local.array(2, float32)"),
        threads=(thread(0, 0),),
        slot=Slot("acc", "local", (0,)),
        loops=(("t", 0), ("k", 0)),
        counts={"threads": 3072},
        facts={"reaches": "output"},
    )
    return _example(source, finding, failing=(ALIGNED, RAGGED_K), passing=())


def stale_shared_read() -> Example:
    source = edited(_ZERO_A, "")
    finding = Finding(
        "stale-shared-read",
        "error",
        place(source, "As[ty, k]"),
        place(source, "row < M and a_col < K"),
        threads=(thread(0, 0),),
        slot=Slot("As", "shared", (0, 8)),
        loops=(("t", 2), ("k", 8)),
        counts={"threads": 3072, "skipped": 128, "block_threads": 256},
        facts={"reaches": "output", "store_line": 19, "old_loops": (("t", 1),)},
    )
    return _example(
        source,
        finding,
        failing=(ALL_RAGGED, RAGGED_K),
        confirmed="experiment",
        repair="a zero stored where line 18 is false",
    )


def unwritten_output() -> Example:
    source = edited("if row < M and col < N:", "if row < M - 1 and col < N:")
    finding = Finding(
        "unwritten-output",
        "error",
        place(source, "C[row, col]"),
        slot=Slot("C", "global", (49, 0)),
        counts={"unwritten": 37, "elements": 1850},
        facts={"array": "C"},
    )
    return _example(source, finding, failing=(shape("all ragged", (50, 37, 40), 37),), passing=())


def out_of_bounds_read() -> Example:
    source = edited("if b_row < K and col < N:", "if col < N:")
    finding = Finding(
        "out-of-bounds-read",
        "error",
        place(source, "B[b_row, col]"),
        threads=(thread(0, 8),),
        slot=Slot("B", "global", (40, 0)),
        loops=(("t", 2),),
        counts={"threads": 1184, "accesses": 1184},
        facts={"axis": 0, "size": 40, "shape": (40, 37), "inside_allocation": False, "aliases": None},
    )
    return _example(source, finding)


def out_of_bounds_write() -> Example:
    source = edited("    if row < M and col < N:\n        C", "    if row < M:\n        C")
    finding = Finding(
        "out-of-bounds-write",
        "error",
        place(source, "C[row, col]"),
        threads=(thread(5, 0, 2, 0),),
        slot=Slot("C", "global", (0, 37)),
        counts={"threads": 550, "accesses": 550},
        facts={"axis": 1, "size": 37, "shape": (50, 37), "inside_allocation": True, "aliases": (1, 0)},
    )
    failing = (shape("ragged M, N", (50, 37, 64), 528), shape("all ragged", (50, 37, 40), 528))
    return _example(source, finding, failing=failing, passing=(ALIGNED, shape("ragged K", (48, 64, 40))))


def misaligned_access() -> Example:
    head = (
        "from numba import cuda, float32\nfrom grader.gpu import ptx\n\n\n@cuda.jit\ndef copy(a, out, n):\n"
    )
    body = "    row = cuda.threadIdx.x\n    four = cuda.local.array(4, float32)\n"
    call = "ptx.load4(four, 0, a, row * n)"
    source = f"{head}{body}    {call}\n    ptx.store4(out, 4 * row, four, 0)\n"
    finding = Finding(
        "misaligned-access",
        "error",
        place(source, call),
        threads=(Thread((0, 0, 0), (1, 0, 0)),),
        slot=Slot("a", "global", (1, 0)),
        counts={"threads": 24},
        facts={"bytes": 16, "elements": 4, "offset": 37},
    )
    lines = tuple(source.splitlines())
    return Example(source, finding, Context("copy.py", lines, block=(32, 1, 1), grid=(1, 1, 1)))


def negative_index() -> Example:
    source = SMOOTH.replace("    if 0 < i < n - 1:\n", "    if i < n - 1:\n")
    finding = Finding(
        "negative-index",
        "note",
        place(source, "a[i - 1]"),
        threads=(Thread((0, 0, 0), (0, 0, 0)),),
        slot=Slot("a", "global", (-1,)),
        counts={"threads": 1},
        facts={"axis": 0, "size": 100, "shape": (100,), "aliases": (99,)},
    )
    lines = tuple(source.splitlines())
    return Example(source, finding, Context("smooth.py", lines, block=(32, 1, 1), grid=(4, 1, 1)))


def dropped_k_tail() -> Example:
    source = edited("range((K + TILE - 1) // TILE)", "range(K // TILE)")
    finding = Finding(
        "dropped-k-tail",
        "error",
        place(source, "K // TILE"),
        slot=Slot("C", "global", (0, 0)),
        counts={"first": 32, "last": 39, "size": 40, "wrong": 1850, "elements": 1850},
        facts={"cut": "full-tiles", "got": 561.0, "expected": 702.0},
    )
    return _example(
        source, finding, confirmed="experiment", repair="the number of k-tiles on line 15 rounded up"
    )


def repeated_k_tail() -> Example:
    source = edited("range((K + TILE - 1) // TILE)", "range(K // TILE + 1)")
    finding = Finding(
        "repeated-k-tail",
        "error",
        place(source, "K // TILE + 1"),
        slot=Slot("C", "global", (3, 5)),
        counts={"first": 24, "last": 31, "size": 40, "wrong": 1850, "elements": 1850, "times": 2},
        facts={"got": 843.0, "expected": 702.0},
    )
    return _example(source, finding)


def transposed_result() -> Example:
    source = edited("C[row, col] = acc", "C[col, row] = acc")
    finding = Finding(
        "transposed-result",
        "error",
        place(source, "C[col, row]"),
        slot=Slot("C", "global", (0, 1)),
        counts={"wrong": 992, "elements": 1024},
        facts={"array": "C", "got": 318.0, "expected": 240.0},
    )
    return _example(source, finding, failing=(shape("aligned", (32, 32, 48), 992),), passing=())


def swapped_operands() -> Example:
    finding = Finding(
        "swapped-operands",
        "error",
        slot=Slot("C", "global", (0, 0)),
        counts={"wrong": 1024, "elements": 1024},
        facts={"got": 318.0, "expected": 240.0},
    )
    return _example(TILED, finding, failing=(shape("aligned", (32, 32, 32), 1024),), passing=())


def accumulated_into_output() -> Example:
    source = edited("C[row, col] = acc", "C[row, col] += acc")
    finding = Finding(
        "accumulated-into-output",
        "error",
        place(source, "C[row, col]"),
        slot=Slot("C", "global", (0, 0)),
        counts={"wrong": 1850, "elements": 1850},
        facts={"array": "C", "got": -69298.5, "expected": 702.0},
    )
    return _example(source, finding, passing=())


def precision_loss() -> Example:
    source = TILED.replace(
        "As = cuda.shared.array((TILE, TILE), float32)", "As = cuda.shared.array((TILE, TILE), int32)"
    )
    finding = Finding(
        "precision-loss",
        "warning",
        _head(place(source, "As[ty, tx] = A"), 10),
        place(source, "cuda.shared.array((TILE, TILE), int32)"),
        slot=Slot("As", "shared", (0, 0)),
        counts={"threads": 3072},
        facts={"from_type": "float32", "to_type": "int32"},
    )
    return _example(source, finding, failing=(ALL_RAGGED,), passing=())


def wrong_result() -> Example:
    source = edited("acc += As[ty, k] * Bs[k, tx]", "acc += As[ty, k] * Bs[tx, k]")
    finding = Finding(
        "wrong-result",
        "error",
        place(source, "C[row, col]"),
        slot=Slot("C", "global", (0, 0)),
        counts={"wrong": 1850, "elements": 1850},
        facts={"array": "C", "got": 655.0, "expected": 702.0},
    )
    return _example(source, finding, passing=())


def float64_arithmetic() -> Example:
    source = edited("acc = float32(0.0)", "acc = 0.0")
    finding = Finding(
        "float64-arithmetic",
        "note",
        place(source, "acc += As[ty, k] * Bs[k, tx]"),
        place(source, "acc = 0.0"),
        facts={"variable": "acc", "dtype": "float64"},
    )
    return _example(source, finding, failing=(), passing=(ALIGNED,))


def uncoalesced_access() -> Example:
    source = TILED.replace("a_col = t * TILE + tx", "a_col = t * TILE + ty").replace(
        "row = cuda.blockIdx.y * TILE + ty", "row = cuda.blockIdx.y * TILE + tx"
    )
    finding = Finding(
        "uncoalesced-access",
        "note",
        place(source, "A[row, a_col]"),
        counts={"requests": 192, "sectors": 3072},
        facts={"array": "A", "ideal_sectors": 768},
    )
    return _example(source, finding, failing=(), passing=(ALIGNED,))


def bank_conflict() -> Example:
    source = edited("As[ty, tx] = A[row, a_col]", "As[tx, ty] = A[row, a_col]")
    finding = Finding(
        "bank-conflict",
        "note",
        place(source, "As[tx, ty]"),
        slot=Slot("As", "shared", (0, 0)),
        counts={"conflicts": 1344, "requests": 192},
        facts={"array": "As", "degree": 8},
    )
    return _example(source, finding, failing=(), passing=(ALIGNED,))


def idle_blocks() -> Example:
    source = TILED + "\n\ndef launch_config(M, N):\n    grid = (N, M)\n    return grid, (TILE, TILE)\n"
    finding = Finding(
        "idle-blocks",
        "error",
        place(source, "(N, M)"),
        counts={"blocks": 2048, "needed": 8},
        facts={"grid": (32, 64, 1), "cover": (2, 4, 1), "intensity": 0.25, "wanted": 1.8},
    )
    return _example(source, finding, failing=(), passing=(ALIGNED,))


def low_arithmetic_intensity() -> Example:
    source = edited("As[ty, k] * Bs[k, tx]", "A[row, t * TILE + k] * B[t * TILE + k, col]")
    finding = Finding(
        "low-arithmetic-intensity",
        "error",
        place(source, "A[row, t * TILE + k]"),
        facts={"intensity": 0.235, "wanted": 3.8},
    )
    return _example(source, finding, failing=(), passing=(ALIGNED,))


def no_shared_reuse() -> Example:
    source = edited("As[ty, k] * Bs[k, tx]", "A[row, t * TILE + k] * B[t * TILE + k, col]")
    finding = Finding(
        "no-shared-reuse",
        "error",
        place(source, "A[row, t * TILE + k]"),
        facts={"array": "A", "reads_per_store": 0.0, "intensity": 0.24, "wanted": 3.8},
    )
    return _example(source, finding, failing=(), passing=(ALIGNED,))


def register_spill() -> Example:
    finding = Finding(
        "register-spill",
        "note",
        place(TILED, "def tiled_matmul(A, B, C, M, N, K):"),
        counts={"bytes": 96, "registers": 255},
    )
    return _example(TILED, finding, failing=(), passing=())


def low_occupancy() -> Example:
    finding = Finding(
        "low-occupancy",
        "note",
        place(TILED, "def tiled_matmul(A, B, C, M, N, K):"),
        counts={"warps": 8, "limit": 64},
        facts={"resource": "shared-memory"},
    )
    return _example(TILED, finding, failing=(), passing=())


_ON_GPU: dict[str, Fact] = {
    "device": "NVIDIA H200",
    "shape": (("M", 50), ("N", 37), ("K", 40)),
    "family": "all_ragged",
}


def backends_disagree() -> Example:
    facts: dict[str, Fact] = {
        **_ON_GPU,
        "array": "C",
        "index": (3, 36),
        "inputs": "exact",
        "machine_value": 412.0,
        "gpu_value": 408.0,
        "expected": 412.0,
        "machine_wrong": 0,
        "gpu_wrong": 50,
        "ended_by": "",
    }
    counts = {"elements": 1850, "concerned": 4}
    return _example(
        TILED, Finding("backends-disagree", "error", counts=counts, facts=facts), failing=(), passing=()
    )


def _on_gpu(name: str, detail: str, *, at: str = "", shapes: int = 27, explained_by: str = "") -> Example:
    finding = Finding(
        name,
        "note" if explained_by else "error",
        place(TILED, at) if at else None,
        counts={"concerned": shapes},
        facts={**_ON_GPU, "detail": detail, "explained_by": explained_by},
    )
    return _example(TILED, finding, failing=(), passing=(), shape=ALL_RAGGED)


def gpu_compile_error() -> Example:
    detail = "TypingError: Cannot unify array(float32, 2d, C) and float64 for 'value'"
    return _on_gpu("gpu-compile-error", detail, at="acc = float32(0.0)", shapes=29)


def gpu_launch_refused() -> Example:
    return _on_gpu("gpu-launch-refused", "CudaAPIError: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", shapes=29)


def gpu_illegal_address() -> Example:
    detail = "CudaAPIError: [700] Call to cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS"
    return _on_gpu("gpu-illegal-address", detail, explained_by="out-of-bounds-write")


def gpu_kernel_aborted() -> Example:
    return _on_gpu("gpu-kernel-aborted", "CudaAPIError: CUDA_ERROR_ILLEGAL_INSTRUCTION")


def gpu_did_not_finish() -> Example:
    return _on_gpu("gpu-did-not-finish", "10 s", explained_by="divergent-barrier")


def gpu_out_of_memory() -> Example:
    return _on_gpu("gpu-out-of-memory", "CudaAPIError: CUDA_ERROR_OUT_OF_MEMORY", shapes=1)


def gpu_child_lost() -> Example:
    return _on_gpu("gpu-child-lost", "it was ended by signal 9")


def gpu_margin_overwritten() -> Example:
    facts: dict[str, Fact] = {**_ON_GPU, "array": "C", "distance": 1, "explained_by": ""}
    return _example(
        TILED,
        Finding("gpu-margin-overwritten", "error", counts={"concerned": 2}, facts=facts),
        failing=(),
        passing=(),
    )


def gpu_result_by_luck() -> Example:
    facts: dict[str, Fact] = {**_ON_GPU, "hazard": "shared-overwrite-before-barrier"}
    return _example(
        TILED,
        Finding("gpu-result-by-luck", "note", counts={"concerned": 29}, facts=facts),
        failing=(),
        passing=(),
    )


_MAKERS: tuple[Callable[[], Example], ...] = (
    syntax_error, missing_kernel, changed_signature, not_started, forbidden_call, unsupported_construct,
    type_error, non_constant_shared_shape, bad_launch_config, block_too_large, shared_memory_too_large,
    grid_too_large, shuffle_from_inactive_lane, lane_not_in_mask, inactive_lane_in_mask,
    grid_too_small, did_not_finish, zero_step,
    divergent_barrier, exit_before_barrier, shared_read_before_barrier,
    shared_overwrite_before_barrier, shared_write_conflict, global_write_conflict, global_read_write_race,
    undefined_variable, uninitialised_shared_read, uninitialised_local_read, stale_shared_read,
    unwritten_output, out_of_bounds_read, out_of_bounds_write, misaligned_access, negative_index,
    dropped_k_tail,
    repeated_k_tail, transposed_result, swapped_operands, accumulated_into_output, precision_loss,
    wrong_result, float64_arithmetic, uncoalesced_access, bank_conflict, idle_blocks,
    low_arithmetic_intensity, no_shared_reuse, register_spill, low_occupancy, backends_disagree,
    gpu_compile_error, gpu_launch_refused, gpu_illegal_address, gpu_kernel_aborted, gpu_did_not_finish,
    gpu_out_of_memory, gpu_child_lost, gpu_margin_overwritten, gpu_result_by_luck,
)  # fmt: skip

EXAMPLES: dict[str, Example] = {maker.__name__.replace("_", "-"): maker() for maker in _MAKERS}
