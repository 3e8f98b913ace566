from __future__ import annotations

from pathlib import Path

import pytest

from grader.counted_launch import LaunchError
from grader.perf.closed_forms import tile_intensity_with_c
from grader.placement import Placement, PlacementError, place
from grader.rubric.load import load

ROOT = Path(__file__).parents[2]
RUBRIC = load(ROOT / "rubrics" / "02_ragged_dims.yaml")
SOLUTION = (ROOT / "solutions" / "02_ragged_dims.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("tile", [4, 16, 32])
def test_the_solution_has_the_intensity_of_its_tile(tile: int) -> None:
    placed = place(SOLUTION.replace("TILE = 16", f"TILE = {tile}"), RUBRIC, "h200")
    assert placed.flops == 2 * (2 * tile) * (2 * tile) * 4096
    assert placed.intensity == pytest.approx(tile_intensity_with_c(tile, tile, 4096))


def test_a_naive_kernel_has_a_quarter() -> None:
    text = (
        "from numba import cuda, float32\n"
        "TILE = 16\n"
        "@cuda.jit\n"
        "def tiled_matmul(A, B, C, M, N, K):\n"
        "    row = cuda.blockIdx.y * TILE + cuda.threadIdx.y\n"
        "    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x\n"
        "    if row < M and col < N:\n"
        "        acc = float32(0.0)\n"
        "        for k in range(K):\n"
        "            acc += A[row, k] * B[k, col]\n"
        "        C[row, col] = acc\n"
    )
    placed = place(text, RUBRIC, "h200")
    assert placed.load_bytes == 8 * 32 * 32 * 4096
    assert placed.store_bytes == 4 * 32 * 32
    assert placed.intensity == pytest.approx(0.25, rel=1e-3)


def test_a_wrong_kernel_has_no_place() -> None:
    wrong = SOLUTION.replace("acc += As[ty, k] * Bs[k, tx]", "acc += As[ty, k] * Bs[k, ty]")
    assert wrong != SOLUTION
    with pytest.raises(LaunchError, match="wrong result, so its traffic says nothing"):
        place(wrong, RUBRIC, "h200")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("TILE = 16\n", "tiled_matmul cannot be launched: missing-kernel"),
        ("", "tiled_matmul cannot be launched: missing-kernel"),
        ("def f(:\n", "tiled_matmul cannot be launched: syntax-error, line 1"),
        (
            SOLUTION.replace("M, N, K):", "M, N):"),
            "tiled_matmul cannot be launched: changed-signature, line ",
        ),
        (SOLUTION.replace("TILE = 16", "TILE = 'wide'"), "TILE must be one of 4, 8, 16, 32"),
        (SOLUTION.replace("TILE = 16", "TILE = 10**7"), "TILE must be one of 4, 8, 16, 32"),
        (SOLUTION.replace("TILE = 16", "TILE = int(input())"), "the file gives TILE no value"),
        (SOLUTION.replace("(TILE, TILE), dtype", "(M, TILE), dtype"), "non-constant-shared-shape, line "),
    ],
)
def test_what_cannot_be_launched_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(LaunchError) as caught:
        place(text, RUBRIC, "h200")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_exercise_without_a_product_has_no_place() -> None:
    rubric = load(ROOT / "rubrics" / "03_intensity_math.yaml")
    with pytest.raises(PlacementError, match="03_intensity_math has no matrix product"):
        place(SOLUTION, rubric, "h200")


def test_faults_that_the_counted_launch_does_not_show_are_named() -> None:
    assert place(SOLUTION, RUBRIC, "h200").faults == ()
    skeleton = (ROOT / "exercises" / "02_ragged_dims.py").read_text(encoding="utf-8")
    found = place(skeleton, RUBRIC, "h200")
    assert found.intensity == pytest.approx(place(SOLUTION, RUBRIC, "h200").intensity)
    assert found.faults[0] == "stale-shared-read"


def test_intensity_counts_loads_and_stores() -> None:
    assert Placement(2, 2, 100, load_bytes=700, store_bytes=100).intensity == 1.0
