"""The ladder's kernels on the machine: right at small ragged shapes, no alarm, and a fault is found.

The same files run on a GPU; what is measured there is in docs/results.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import ladder_files
from grader.ladder_files import RungFile
from grader.perf.devices import device
from grader.perf.kernel import traffic
from grader.perf.rungs import RUNGS, TOLERANCE, Rung
from grader.simt import Run, launch, parse
from grader.simt.tally import MMA_FLOPS

KERNELS = [rung for rung in RUNGS if not rung.is_library]
#: M, N, K: one element, one row, K of one, ragged on every side, beyond one block on every side.
SHAPES = [(1, 1, 1), (1, 70, 9), (37, 50, 1), (33, 65, 50), (130, 140, 40), (129, 20, 72), (16, 260, 33)]
by_name = pytest.mark.parametrize("rung", KERNELS, ids=lambda rung: rung.name)


def inputs(file: RungFile, rows: int, columns: int, seed: int) -> tuple[Any, Any]:
    """A matrix as the kernel reads it and its values in float64."""
    values = np.random.default_rng(seed).random((rows, columns), np.float32)
    if file.dtype == "float32":
        return values, values.astype(np.float64)
    bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def climb(file: RungFile, sizes: tuple[int, int, int], text: str | None = None) -> tuple[Run, float]:
    """Launch on the machine: what it showed, and the largest relative error (infinite for a NaN)."""
    M, N, K = sizes
    (A, left), (B, right) = inputs(file, M, K, 1), inputs(file, K, N, 2)
    C = np.full((M, N), np.nan, np.float32)
    grid, block = file.launch(sizes)
    source = file.program if text is None else parse(text)
    done = launch(
        source,
        file.kernel,
        grid=grid,
        block=block,
        args=(A, B, C, M, N, K),
        shared_bytes=file.shared_bytes,
    )
    wanted = left @ right
    error = float(np.max(np.abs(C - wanted) / wanted))
    return done, float("inf") if np.isnan(error) else error


@by_name
def test_a_file_holds_what_the_command_reads(rung: Rung) -> None:
    file = ladder_files.read(rung)
    assert file.kernel == rung.name
    assert file.dtype == {"FP32": "float32", "BF16": "bfloat16"}[rung.arithmetic]
    assert file.dtype == rung.kernel.dtype if rung.kernel else False
    text = (ladder_files.folder() / f"{rung.name}.py").read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))


def test_every_file_is_a_rung() -> None:
    found = {path.stem for path in ladder_files.folder().glob("*.py")}
    assert found == {rung.name for rung in KERNELS}


@by_name
def test_the_model_has_the_kernels_own_sizes(rung: Rung) -> None:
    """The block tile follows from the grid, the threads from the block, the shared bytes from the arrays."""
    file, kernel, h100 = ladder_files.read(rung), rung.kernel, device("h100")
    assert kernel is not None
    for sizes in ((4096, 4096, 4096), (1000, 700, 600)):
        grid, block = file.launch(sizes)
        # A grid may be walked in another order, but has a block for each tile.
        assert int(np.prod(grid)) == -(-sizes[0] // kernel.bm) * -(-sizes[1] // kernel.bn)
        assert int(np.prod(block)) == kernel.threads_per_block(h100)
    done, _ = climb(file, (1, 1, 1))
    shared = done.counters.shared_bytes_per_block
    # Rows may be padded against bank conflicts.
    assert kernel.shared_bytes_per_block <= shared <= 1.3 * kernel.shared_bytes_per_block


@by_name
@pytest.mark.parametrize("sizes", SHAPES, ids=lambda sizes: "x".join(map(str, sizes)))
def test_a_kernel_is_right_and_raises_no_alarm(rung: Rung, sizes: tuple[int, int, int]) -> None:
    done, error = climb(ladder_files.read(rung), sizes)
    assert done.completed, done.findings
    assert [finding for finding in done.findings if finding.severity != "note"] == []
    assert error <= TOLERANCE[rung.arithmetic]
    assert done.written[2].all()


def lines_with(file: RungFile, words: str) -> list[int]:
    return [at for at, line in enumerate(file.program.text.splitlines()) if line.strip().startswith(words)]


def without_line(file: RungFile, at: int) -> str:
    """The text with a statement replaced by one that does nothing."""
    lines = file.program.text.splitlines(keepends=True)
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return "".join([*lines[:at], f"{indent}pass\n", *lines[at + 1 :]])


BARRIERS = [
    pytest.param(rung, at, id=f"{rung.name}-line-{at + 1}")
    for rung in KERNELS
    if (ladder_files.folder() / f"{rung.name}.py").is_file()
    for at in lines_with(ladder_files.read(rung), "cuda.syncthreads()")
]


@pytest.mark.parametrize(("rung", "at"), BARRIERS)
def test_without_any_one_of_its_barriers_a_race_is_found(rung: Rung, at: int) -> None:
    file = ladder_files.read(rung)
    # One shape whose rows are aligned for wide copies, one whose rows are not: each takes a way of its own.
    runs = [climb(file, sizes, without_line(file, at))[0] for sizes in ((136, 144, 104), (130, 141, 101))]
    names = {finding.name for done in runs for finding in done.errors}
    assert names & {"shared-read-before-barrier", "shared-overwrite-before-barrier"}, names


def test_the_barriers_are_really_left_out() -> None:
    assert {param.values[0].name for param in BARRIERS} == {rung.name for rung in KERNELS} - {"naive"}
    assert len(BARRIERS) >= 6


UNDEFINED, OUTSIDE = "uninitialised-shared-read", "out-of-bounds-read"
TILES_LEFT = ("IN_FLIGHT = STAGES - 2", "IN_FLIGHT = STAGES - 1")
BROKEN = [
    # rung, what is written, what instead, sizes, what must be found ("" for a wrong result alone)
    ("naive", "row < M and col < N", "row < M", (33, 50, 9), "out-of-bounds-write"),
    ("tiled_16", "row < M and k0 + tx < K", "row < M", (33, 50, 9), OUTSIDE),
    ("register_blocked", "BLOCK_M + 4, BLOCK_N + 4", "BLOCK_M, BLOCK_N + 4", (130, 140, 9), "bank-conflict"),
    ("vectorised", *TILES_LEFT, (130, 140, 200), UNDEFINED),
    ("vectorised", "wide = N % 4 == 0", "wide = N % 2 == 0", (130, 138, 40), "misaligned-access"),
    ("vectorised", "k_left > 0 and rows_left", "rows_left", (130, 140, 41), OUTSIDE),
    ("tensor_cores", *TILES_LEFT, (136, 144, 200), UNDEFINED),
    ("tensor_cores", "if K % 8 == 0 and", "if K % 4 == 0 and", (136, 144, 100), "misaligned-access"),
    ("tensor_cores", "k_left > 0 and rows_left > p * A_ROWS", "k_left > 0", (136, 144, 40), OUTSIDE),
    ("tensor_cores", "ldmatrix_x4_trans(b", "ldmatrix_x4(b", (136, 144, 40), ""),
    ("tensor_cores", "a, 4 * i, b, 2 * j)", "a, 4 * i, b, 2 * j ^ 2)", (136, 144, 40), ""),
    ("warpgroups", "k_left > 0 and rows_left", "rows_left", (136, 264, 40), OUTSIDE),
    ("warpgroups", "if K % 8 == 0 and", "if K % 4 == 0 and", (136, 264, 100), "misaligned-access"),
    ("warpgroups", "if N % 2 == 0", "if N >= 0", (130, 141, 40), "misaligned-access"),
    ("warpgroups", "^ (k % 8)", "^ (k % 4)", (136, 264, 104), ""),
    ("warpgroups", "wgmma_wait(0)", "wgmma_wait(1)", (136, 264, 104), ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "sizes", "found"), BROKEN)
def test_a_broken_kernel_is_found(
    name: str, old: str, new: str, sizes: tuple[int, int, int], found: str
) -> None:
    file = ladder_files.read(next(rung for rung in KERNELS if rung.name == name))
    assert old in file.program.text
    done, error = climb(file, sizes, file.program.text.replace(old, new))
    assert done.completed
    if found:
        assert found in {finding.name for finding in done.findings}
    else:
        assert error > 0.01


STOPPED = [
    ("AHEAD = STAGES - 2", "AHEAD = STAGES - 1", (136, 264, 304), "wgmma-operands-overwritten"),
    ("IN_FLIGHT = AHEAD - 1", "IN_FLIGHT = AHEAD", (136, 264, 200), "wgmma-operands-overwritten"),
    ("wgmma_wait(1)", "wgmma_wait(2)", (136, 264, 304), "wgmma-operands-overwritten"),
    ("        fence_proxy_async()\n", "", (136, 264, 104), "wgmma-operands-not-fenced"),
    ("        fence_proxy_async()\n", "", (130, 141, 101), "wgmma-operands-not-fenced"),
]


@pytest.mark.parametrize(("old", "new", "sizes", "construct"), STOPPED)
def test_what_a_warpgroup_may_not_do_is_never_passed(
    old: str, new: str, sizes: tuple[int, int, int], construct: str
) -> None:
    file = ladder_files.read(next(rung for rung in KERNELS if rung.name == "warpgroups"))
    assert old in file.program.text
    done, _ = climb(file, sizes, file.program.text.replace(old, new))
    assert not done.completed
    assert construct in {finding.facts.get("construct") for finding in done.findings}


def test_the_tensor_cores_flops_are_counted() -> None:
    """Whole tiles of 256 x 128 x 64 are multiplied, whatever the matrices' sizes."""
    file = ladder_files.read(next(rung for rung in KERNELS if rung.name == "tensor_cores"))
    for sizes, tiles in (((256, 128, 64), 1), ((100, 70, 50), 1), ((300, 130, 72), 8)):
        done, _ = climb(file, sizes)
        assert done.counters.mma_threads * MMA_FLOPS == 2 * tiles * 256 * 128 * 64
        assert done.counters.ffma_threads == 0


@pytest.mark.parametrize(("name", "sectors"), [("vectorised", 32), ("tensor_cores", 32), ("warpgroups", 32)])
def test_copies_of_whole_tiles_ask_for_each_value_once(name: str, sectors: int) -> None:
    """Loads of A and B are those of the model: every block its rows of A and its columns of B, no more."""
    rung = next(rung for rung in KERNELS if rung.name == name)
    file, sizes = ladder_files.read(rung), (512, 256, 64)
    assert rung.kernel is not None
    done, _ = climb(file, sizes)
    counted = traffic(rung.kernel, *sizes)
    assert done.counters.global_load_bytes == counted.global_load_bytes
    assert done.counters.global_load_sectors == counted.global_load_bytes // sectors
    assert done.counters.global_store_bytes == counted.global_store_bytes


def test_the_folder_is_where_the_command_looks(root: Path) -> None:
    assert ladder_files.folder() == root / "solutions" / "ladder"
    assert ladder_files.missing_files() == ""
