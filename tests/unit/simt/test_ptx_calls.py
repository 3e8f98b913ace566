"""The functions of grader.gpu.ptx on the machine, each against a direct model of its documentation."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import grader
from grader.simt import Run, launch
from grader.simt.cuda_names import MEMBERS
from grader.simt.ptx_calls import CALLS, MODULE
from grader.simt.tally import MMA_FLOPS

HEAD = """\
from numba import cuda, float32, int32, uint16, uint32, float64
from grader.gpu import ptx
"""
RNG = np.random.default_rng(5)


def run(body: str, block: int, *args: Any, grid: int = 1, **options: Any) -> Run:
    """Launch a kernel whose parameters are a, b, c, ... and whose body is given."""
    names = ", ".join("abcdefgh"[: len(args)])
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    source = f"{HEAD}\n\n@cuda.jit\ndef kernel({names}):\n    l = cuda.threadIdx.x\n{lines}\n"
    return launch(source, "kernel", grid=grid, block=block, args=args, **options)


def clean(done: Run) -> Run:
    assert done.completed, done.findings
    assert [f for f in done.findings if f.severity != "note"] == []
    return done


def names(done: Run) -> list[str]:
    return [f.name for f in done.findings if f.severity == "error"]


def bfloats(shape: Sequence[int]) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float64]]:
    """Random bfloat16 numbers, as bits and as values."""
    bits = (RNG.random(shape, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def test_every_function_of_the_module_has_a_meaning() -> None:
    modules = (Path(grader.__file__).parent / "gpu").glob("ptx*.py")
    found = {
        node.name: len(node.args.args) - 1  # the typing context is numba's own
        for module in modules
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(d) == "intrinsic" for d in node.decorator_list)
    }
    assert {f"{MODULE}.{name}" for name in found} == set(CALLS)
    assert MEMBERS[MODULE] == set(found)
    for name, count in found.items():
        refused = run(f"ptx.{name}({', '.join(['0'] * (count + 1))})", 32)
        [finding] = refused.findings
        assert finding.facts["rule"] == "argument-count"
        assert (finding.facts["got"], finding.facts["wanted"]) == (count + 1, count)


# -- load4, store4 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32"])
def test_load4_and_store4_move_four_elements(dtype: str) -> None:
    a = RNG.integers(1, 100, 4 * 32).astype(dtype)
    out = np.zeros(4 * 32, dtype)
    body = f"r = cuda.local.array(8, {dtype})\nptx.load4(r, 4, a, 4 * (31 - l))\nptx.store4(b, 4 * l, r, 4)"
    done = clean(run(body, 32, a, out))
    np.testing.assert_array_equal(out.reshape(32, 4), a.reshape(32, 4)[::-1])
    counters = done.counters
    assert (counters.global_load_requests, counters.global_load_sectors) == (1, 16)
    assert (counters.global_store_requests, counters.global_store_sectors) == (1, 16)
    assert (counters.global_load_bytes, counters.global_store_bytes) == (512, 512)


def test_an_offset_counts_elements_in_c_order() -> None:
    a = np.arange(64, dtype=np.float32).reshape(4, 16)
    out = np.zeros((8, 8), np.float32)
    body = "r = cuda.local.array((2, 2), float32)\nptx.load4(r, 0, a, 4 * l)\nptx.store4(b, 4 * l, r, 0)"
    clean(run(body, 16, a, out))
    np.testing.assert_array_equal(out.ravel(), a.ravel())


def test_shared_memory_is_read_in_quarter_warps_without_conflicts() -> None:
    out = np.zeros(128, np.float32)
    body = """
s = cuda.shared.array(128, float32, alignment=16)
r = cuda.local.array(4, float32)
for e in range(4):
    r[e] = 4 * l + e
ptx.store4(s, 4 * l, r, 0)
cuda.syncthreads()
ptx.load4(r, 0, s, 4 * (31 - l))
ptx.store4(a, 4 * l, r, 0)
"""
    done = clean(run(body, 32, out))
    np.testing.assert_array_equal(out.reshape(32, 4)[::-1].ravel(), np.arange(128))
    assert done.counters.shared_load_requests == done.counters.shared_store_requests == 1
    assert done.counters.shared_load_bank_conflicts == done.counters.shared_store_bank_conflicts == 0


def test_a_wide_load_does_not_hide_a_narrow_one_from_the_count() -> None:
    a, out = np.ones(128, np.float32), np.zeros(32, np.float32)
    body = "r = cuda.local.array(4, float32)\nptx.load4(r, 0, a, 4 * l)\nb[l] = a[l] + r[0]"
    done = clean(run(body, 32, a, out))
    assert done.counters.per_array["a"].load_requests == 2


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("ptx.load4(r, 0, a, 4 * l + 1)", "misaligned-access"),
        ("ptx.load4(r, 0, a, 3 * l)", "misaligned-access"),
        ("ptx.store4(b, 2 * l, r, 0)", "misaligned-access"),
        ("ptx.load4(r, 0, a, 4 * l + 4)", "out-of-bounds-read"),
        ("ptx.store4(b, 4 * l + 4, r, 0)", "out-of-bounds-write"),
        ("ptx.load4(r, 2, a, 4 * l)", "out-of-bounds-write"),
        ("ptx.store4(b, 4 * l, r, -5)", "out-of-bounds-read"),
        ("ptx.store4(b, 0, r, 0)", "global-write-conflict"),
    ],
)
def test_a_bad_address_is_found(body: str, name: str) -> None:
    a, out = np.ones(128, np.float32), np.zeros(128, np.float32)
    start = "r = cuda.local.array(4, float32)\nfor e in range(4):\n    r[e] = l\n"
    assert name in names(run(start + body, 32, a, out))


def test_a_misaligned_access_says_where() -> None:
    a, out = np.ones((8, 37), np.float32), np.zeros(32, np.float32)
    body = "r = cuda.local.array(4, float32)\nptx.load4(r, 0, a, l * 37)\nptx.store4(b, 4 * l, r, 0)"
    done = run(body, 8, a, out)
    [finding] = [f for f in done.findings if f.name == "misaligned-access"]
    assert finding.threads[0].thread == (1, 0, 0)
    assert finding.slot is not None
    assert finding.slot.index == (1, 0)
    assert finding.counts == {"threads": 6}
    assert finding.facts == {"bytes": 16, "elements": 4, "offset": 37}


def test_an_element_nobody_set_is_undefined_through_a_wide_store() -> None:
    out = np.zeros(128, np.float32)
    body = "r = cuda.local.array(4, float32)\nfor e in range(3):\n    r[e] = 1\nptx.store4(a, 4 * l, r, 0)"
    assert names(run(body, 32, out)) == ["uninitialised-local-read"]


# -- cp.async --------------------------------------------------------------------------------------

COPY = """
s = cuda.shared.array(256, {dtype}, alignment=16)
ptx.cp_async_{bytes}_bytes(s, {n} * l, a, {n} * l, c[l])
ptx.cp_async_commit()
ptx.cp_async_wait(0)
cuda.syncthreads()
for e in range({n}):
    b[{n} * l + e] = s[{n} * l + e]
"""


@pytest.mark.parametrize(("size", "dtype"), [(4, "float32"), (4, "uint16"), (16, "float32"), (16, "uint16")])
def test_a_copy_fills_up_with_zeros(size: int, dtype: str) -> None:
    n = size // np.dtype(dtype).itemsize
    a = RNG.integers(1, 100, 32 * n).astype(dtype)
    counts = RNG.integers(0, n + 1, 32)
    out = np.full(32 * n, 7, dtype)
    done = clean(run(COPY.format(dtype=dtype, bytes=size, n=n), 32, a, out, counts))
    wanted = np.where(np.arange(n) < counts[:, None], a.reshape(32, n), 0)
    np.testing.assert_array_equal(out.reshape(32, n), wanted)
    assert done.counters.per_array["s"].store_requests == 1
    assert done.counters.per_array["s"].store_bytes == 32 * size
    assert done.counters.per_array["a"].load_requests == 1


def test_with_a_count_of_none_any_offset_will_do() -> None:
    a, out = np.ones(4, np.float32), np.full(128, np.nan, np.float32)
    body = COPY.format(dtype="float32", bytes=16, n=4).replace("a, 4 * l, c[l]", "a, -12345 + l, 0 * c[l]")
    clean(run(body, 32, a, out, np.zeros(32, np.int64)))
    assert not out.any()


def test_a_copy_reads_no_further_than_its_count() -> None:
    a, out = np.ones(126, np.float32), np.zeros(128, np.float32)
    full = np.full(32, 4)
    body = COPY.format(dtype="float32", bytes=16, n=4)
    assert names(run(body, 32, a, out, full)) == ["out-of-bounds-read"]
    full[-1] = 2
    clean(run(body, 32, a, out, full))
    assert list(out[-4:]) == [1, 1, 0, 0]


@pytest.mark.parametrize("count", [-1, 5])
def test_a_count_beyond_the_piece_is_not_judged(count: int) -> None:
    a, out = np.ones(128, np.float32), np.zeros(128, np.float32)
    done = run(COPY.format(dtype="float32", bytes=16, n=4), 32, a, out, np.full(32, count))
    assert not done.completed
    assert [f.facts["construct"] for f in done.findings if f.name == "unsupported-construct"] == [
        "copy-count"
    ]


@pytest.mark.parametrize(
    ("left_out", "name"),
    [
        ("ptx.cp_async_wait(0)\n", "uninitialised-shared-read"),
        ("ptx.cp_async_commit()\n", "uninitialised-shared-read"),
        ("cuda.syncthreads()\n", "shared-read-before-barrier"),
    ],
)
def test_a_copy_needs_commit_wait_and_barrier(left_out: str, name: str) -> None:
    a, out = np.ones(128, np.float32), np.zeros(128, np.float32)
    body = COPY.format(dtype="float32", bytes=16, n=4).replace("s[4 * l + e]", "s[4 * (31 - l) + e]")
    clean(run(body, 32, a, out, np.full(32, 4)))
    assert left_out in body
    assert names(run(body.replace(left_out, ""), 32, a, out, np.full(32, 4))) == [name]


def test_a_thread_sees_its_own_copy_after_the_wait_alone() -> None:
    a, out = np.ones(128, np.float32), np.zeros(128, np.float32)
    body = COPY.format(dtype="float32", bytes=16, n=4).replace("cuda.syncthreads()\n", "")
    clean(run(body, 32, a, out, np.full(32, 4)))
    assert out.all()


def test_a_read_before_the_wait_names_the_copy() -> None:
    a, out = np.ones(128, np.float32), np.zeros(128, np.float32)
    body = COPY.format(dtype="float32", bytes=16, n=4).replace("ptx.cp_async_wait(0)\n", "")
    done = run(body, 32, a, out, np.full(32, 4))
    [finding] = [f for f in done.findings if f.severity == "error"]
    assert finding.facts["under_way"] is True
    assert finding.secondary is not None
    assert finding.primary is not None
    assert finding.secondary.line == finding.primary.line - 4


PIPELINE = """
s = cuda.shared.array((2, 32), float32, alignment=16)
ptx.cp_async_4_bytes(s, l, a, l, 1)
ptx.cp_async_commit()
total = float32(0)
for t in range(8):
    if t < 7:
        ptx.cp_async_4_bytes(s, (t + 1) % 2 * 32 + l, a, (t + 1) * 32 + l, 1)
    ptx.cp_async_commit()
    ptx.cp_async_wait({left})
    cuda.syncthreads()
    total += s[t % 2, 31 - l]
    cuda.syncthreads()
b[l] = total
"""


def test_the_latest_groups_may_be_under_way() -> None:
    a, out = RNG.integers(0, 9, 256).astype(np.float32), np.zeros(32, np.float32)
    clean(run(PIPELINE.format(left=1), 32, a, out))
    np.testing.assert_array_equal(out[::-1], a.reshape(8, 32).sum(axis=0))
    assert "uninitialised-shared-read" in names(run(PIPELINE.format(left=2), 32, a, out))


def test_without_its_second_barrier_a_pipeline_overwrites_what_is_read() -> None:
    a, out = np.ones(256, np.float32), np.zeros(32, np.float32)
    body = PIPELINE.format(left=1).replace("    cuda.syncthreads()\nb[l]", "b[l]")
    assert "shared-overwrite-before-barrier" in names(run(body, 32, a, out))


def test_groups_are_counted_for_each_thread() -> None:
    body = """
s = cuda.shared.array(32, float32, alignment=16)
ptx.cp_async_4_bytes(s, l, a, l, 1)
ptx.cp_async_commit()
if l < 16:
    ptx.cp_async_commit()
ptx.cp_async_wait(1)
b[l] = s[l]
"""
    a, out = np.ones(32, np.float32), np.zeros(32, np.float32)
    done = run(body, 32, a, out)
    [finding] = [f for f in done.findings if f.severity == "error"]
    assert (finding.name, finding.counts["threads"]) == ("uninitialised-shared-read", 16)
    assert finding.threads[0].thread == (16, 0, 0)
    assert out[:16].all()


def test_two_copies_to_one_word_conflict() -> None:
    a, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    body = COPY.format(dtype="float32", bytes=16, n=4).replace("(s, 4 * l,", "(s, 4 * (l // 2),")
    assert "shared-write-conflict" in names(run(body, 32, a, out, np.full(32, 4)))


# -- ldmatrix and mma ------------------------------------------------------------------------------

FRAGMENTS = """
s = cuda.shared.array((32, 8), uint16, alignment=16)
r = cuda.local.array(4, uint32)
for e in range(8):
    s[l, e] = a[l, e]
cuda.syncthreads()
ptx.ldmatrix_x4{trans}(r, 0, s, 8 * l)
for j in range(4):
    b[l, j] = r[j]
"""


@pytest.mark.parametrize("trans", ["", "_trans"])
def test_ldmatrix_deals_out_four_matrices(trans: str) -> None:
    a = RNG.integers(0, 2**16, (32, 8)).astype(np.uint16)
    out = np.zeros((32, 4), np.uint32)
    done = clean(run(FRAGMENTS.format(trans=trans), 32, a, out))
    for lane in range(32):
        for j in range(4):
            matrix = a[8 * j : 8 * j + 8].T if trans else a[8 * j : 8 * j + 8]
            low, high = matrix[lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2]
            assert out[lane, j] == int(low) | int(high) << 16
    assert done.counters.shared_load_requests == 1
    assert done.counters.shared_load_bytes == 512
    assert done.counters.shared_load_bank_conflicts == 0


def test_ldmatrix_rows_a_power_of_two_apart_conflict() -> None:
    a, out = np.ones((32, 64), np.uint16), np.zeros((32, 4), np.uint32)
    body = FRAGMENTS.format(trans="").replace("(32, 8)", "(32, 64)").replace("8 * l", "64 * l")
    done = clean(run(body.replace("range(8)", "range(64)"), 32, a, out))
    # Eight rows of 16 bytes lie 128 bytes apart, so each phase takes eight passes.
    assert done.counters.shared_load_bank_conflicts == 4 * 7


MULTIPLY = """
ra = cuda.local.array(4, uint32)
rb = cuda.local.array(2, uint32)
rc = cuda.local.array(4, float32)
for e in range(4):
    ra[e] = a[l, e]
    rc[e] = c[l, e]
for e in range(2):
    rb[e] = b[l, e]
ptx.mma_bf16(rc, 0, ra, 0, rb, 0)
for e in range(4):
    d[l, e] = rc[e]
"""


def _pair(matrix: npt.NDArray[np.uint16], *places: tuple[int, int]) -> int:
    low, high = (int(matrix[place]) for place in places)
    return low | high << 16


def _dealt(
    A: npt.NDArray[np.uint16], B: npt.NDArray[np.uint16], C: npt.NDArray[np.float32]
) -> tuple[Any, Any, Any]:
    """The registers of 32 lanes, straight from the table of the PTX ISA."""
    a, b, c = np.zeros((32, 4), np.uint32), np.zeros((32, 2), np.uint32), np.zeros((32, 4), np.float32)
    for lane in range(32):
        g, q = divmod(lane, 4)
        for e, (row, column) in enumerate(((g, 2 * q), (g + 8, 2 * q), (g, 2 * q + 8), (g + 8, 2 * q + 8))):
            a[lane, e] = _pair(A, (row, column), (row, column + 1))
        for e, row in enumerate((2 * q, 2 * q + 8)):
            b[lane, e] = _pair(B, (row, g), (row + 1, g))
        for e, place in enumerate(((g, 2 * q), (g, 2 * q + 1), (g + 8, 2 * q), (g + 8, 2 * q + 1))):
            c[lane, e] = C[place]
    return a, b, c


def test_mma_multiplies_and_adds() -> None:
    (A, left), (B, right) = bfloats((16, 16)), bfloats((16, 8))
    C = RNG.random((16, 8), np.float32)
    a, b, c = _dealt(A, B, C)
    out = np.zeros((32, 4), np.float32)
    done = clean(run(MULTIPLY, 32, a, b, c, out))
    wanted = (left @ right + C).astype(np.float32)
    np.testing.assert_array_equal(out, _dealt(A, B, wanted)[2])
    assert done.counters.mma_threads == 32
    assert done.counters.mma_threads * MMA_FLOPS == 2 * 16 * 8 * 16


def test_every_warp_of_every_block_multiplies_its_own() -> None:
    (A, left), (B, right) = bfloats((16, 16)), bfloats((16, 8))
    a, b, c = _dealt(A, B, np.zeros((16, 8), np.float32))
    out = np.zeros((6 * 32, 4), np.float32)
    body = MULTIPLY.replace("a[l, e]", "a[l % 32, e] if l < 32 else 0").replace("b[l, e]", "b[l % 32, e]")
    body = body.replace("c[l, e]", "c[l % 32, e] + cuda.blockIdx.x").replace("d[l, e]", "d[cuda.grid(1), e]")
    clean(run(body, 96, a, b, c, out, grid=2))
    product = _dealt(A, B, (left @ right).astype(np.float32))[2]
    for block in range(2):
        ours = out.reshape(2, 3, 32, 4)[block]
        np.testing.assert_allclose(ours[0], product + block, rtol=1e-6)
        assert (ours[1:] == block).all()


@pytest.mark.parametrize("schedule", ["ascending", "descending", "middle-first"])
def test_a_warps_instructions_in_a_block_of_several_run_warp_by_warp(schedule: str) -> None:
    (A, left), (B, right) = bfloats((16, 16)), bfloats((16, 8))
    a, b, c = _dealt(A, B, np.zeros((16, 8), np.float32))
    out, moved = np.zeros((80, 4), np.float32), np.zeros(80, np.int32)
    body = MULTIPLY.replace("ptx.mma", "if l < 64:\n    ptx.mma")
    for name in "abc":
        body = body.replace(f"= {name}[l, e]", f"= {name}[l % 32, e]")
    body += "f[l] = cuda.shfl_xor_sync(0xFFFF, l, 1)"
    clean(run(body, 80, a, b, c, out, out, moved, schedule=schedule))
    product = _dealt(A, B, (left @ right).astype(np.float32))[2]
    np.testing.assert_array_equal(out, np.concatenate([product, product, np.zeros((16, 4))]))
    np.testing.assert_array_equal(moved, np.arange(80) ^ 1)


@pytest.mark.parametrize("schedule", ["ascending", "descending"])
def test_warps_one_by_one_give_the_same(schedule: str) -> None:
    a = RNG.integers(0, 2**16, (32, 8)).astype(np.uint16)
    one, other = np.zeros((32, 4), np.uint32), np.zeros((32, 4), np.uint32)
    run(FRAGMENTS.format(trans=""), 32, a, one)
    run(FRAGMENTS.format(trans=""), 32, a, other, schedule=schedule)
    np.testing.assert_array_equal(one, other)


def test_a_part_of_a_warp_is_no_warp() -> None:
    a, out = np.ones((32, 8), np.uint16), np.zeros((32, 4), np.uint32)
    body = FRAGMENTS.format(trans="").replace("ptx.ldm", "if l != 5:\n    ptx.ldm")
    body = body.replace("r = cuda.local.array(4, uint32)", "r = cuda.local.array(4, uint32)\nr[0] = r[1] = 0")
    done = run(body, 32, a, out)
    found = [f for f in done.findings if f.name == "shuffle-from-inactive-lane"]
    assert [(f.facts["lane"], f.counts["threads"]) for f in found] == [(5, 31)]


def test_undefined_values_pass_through_fragments_into_the_sums_that_use_them() -> None:
    body = """
s = cuda.shared.array((32, 8), uint16, alignment=16)
r = cuda.local.array(4, uint32)
z = cuda.local.array(2, uint32)
c = cuda.local.array(4, float32)
for e in range(4):
    c[e] = 0
z[0] = z[1] = 0
if l != 3:
    for e in range(8):
        s[l, e] = 0
cuda.syncthreads()
ptx.ldmatrix_x4(r, 0, s, 8 * l)
ptx.mma_bf16(c, 0, r, 0, z, 0)
if l // 4 {which} 3:
    a[l] = c[0]
"""
    out = np.zeros(32, np.float32)
    assert names(run(body.format(which="=="), 32, out)) == ["uninitialised-shared-read"]
    assert names(run(body.format(which="!="), 32, out)) == []


# -- what numba refuses ----------------------------------------------------------------------------

ARRAYS = """
s = cuda.shared.array((32, 8), uint16, alignment=16)
f = cuda.shared.array(128, float32, alignment=16)
r = cuda.local.array(4, uint32)
w = cuda.local.array(4, float32)
h = cuda.local.array(4, uint16)
n = l
"""


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ("ptx.load4(r, 0, a, 0)", "argument-type"),  # uint32 from float32
        ("ptx.load4(h, 0, s, 0)", "argument-type"),  # 16-bit elements
        ("ptx.load4(w, 0, n, 0)", "argument-type"),  # no array
        ("ptx.load4(w, 0, a, a)", "argument-type"),  # no offset
        ("ptx.load4(w, 0, a)", "argument-count"),
        ("ptx.store4(a, 0, r, 0)", "argument-type"),
        ("ptx.cp_async_16_bytes(s, 0, a, 0, 8)", "argument-type"),  # uint16 from float32
        ("ptx.cp_async_wait(n)", "argument-type"),  # not known to the compiler
        ("ptx.cp_async_commit(0)", "argument-count"),
        ("ptx.ldmatrix_x4(h, 0, s, 0)", "argument-type"),
        ("ptx.ldmatrix_x4(r, 0, f, 0)", "argument-type"),
        ("ptx.ldmatrix_x4(w, 0, s, 0)", "argument-type"),
        ("ptx.mma_bf16(w, 0, h, 0, r, 0)", "argument-type"),
        ("ptx.nothing(1)", "unknown-attribute"),
    ],
)
def test_what_numba_refuses_is_refused(call: str, rule: str) -> None:
    done = run(ARRAYS + call, 32, np.zeros(128, np.float32))
    assert not done.completed
    [finding] = [f for f in done.findings if f.severity == "error"]
    assert (finding.name, finding.facts["rule"]) == ("type-error", rule)


def test_arguments_by_keyword_are_not_judged() -> None:
    done = run(ARRAYS + "ptx.load4(memory=a, registers=w, r=0, i=0)", 32, np.zeros(128, np.float32))
    assert [f.name for f in done.findings] == ["unsupported-construct"]


def test_an_array_that_is_not_contiguous_is_refused() -> None:
    a, out = np.ones((128, 2), np.float32)[:, 0], np.zeros(128, np.float32)
    body = "w = cuda.local.array(4, float32)\nptx.load4(w, 0, a, 4 * l)\nptx.store4(b, 4 * l, w, 0)"
    assert names(run(body, 32, a, out)) == ["type-error"]


def test_a_read_only_table_is_not_stored_to() -> None:
    source = f"""{HEAD}
import numpy as np
TABLE = np.array([1.0, 2.0, 3.0, 4.0], np.float32)

@cuda.jit
def kernel(a):
    w = cuda.local.array(4, float32)
    for e in range(4):
        w[e] = 0
    ptx.store4(TABLE, 0, w, 0)
"""
    done = launch(source, "kernel", grid=1, block=1, args=(np.zeros(4, np.float32),))
    assert [f.facts.get("rule") for f in done.findings] == ["readonly-array"]


def test_what_only_shared_or_global_memory_can_do_is_not_judged_elsewhere() -> None:
    a = np.zeros(128, np.float32)
    done = run(ARRAYS + "ptx.cp_async_16_bytes(a, 0, f, 0, 4)", 32, a)
    assert [f.name for f in done.findings] == ["unsupported-construct"]
