from __future__ import annotations

import pytest

from grader.rubric.load import load_text
from grader.rubric.model import HiddenSuite, KernelSpec, Rubric
from grader.rubric.suites import GEMM_FAMILIES, MOST_TILES, Shape, draw_family, families_of, shapes_of

GEMM = """
title: Product
kind: kernel
kernel:
  name: product
  args: {A: "float32[M, K]", B: "float32[K, N]", C: "out float32[M, N]", M: int, N: int, K: int}
  constants: {TILE: [4, 8, 16, 32]}
  launch: {block: [TILE, TILE], grid: ["ceil(N / TILE)", "ceil(M / TILE)"]}
  reference: "A @ B"
suites:
  shown: {shapes: [["4*TILE", "4*TILE", "4*TILE"], [50, 37, "4*TILE"], [50, 37, "2.5*TILE"]]}
  hidden: {families: [%s]}
checks: {result: {points: 10}}
"""
TILES = (4, 8, 16, 32)


@pytest.fixture(scope="module")
def rubric() -> Rubric:
    return load_text(GEMM % ", ".join(GEMM_FAMILIES), exercise="02_ragged_dims")


def kernel_of(rubric: Rubric) -> KernelSpec:
    assert rubric.kernel is not None
    return rubric.kernel


def drawn(rubric: Rubric, family: str, tile: int, key: bytes | None = None) -> list[Shape]:
    return draw_family(
        rubric.exercise, kernel_of(rubric), HiddenSuite(families=()), family, {"TILE": tile}, key
    )


def tiles(size: int, tile: int) -> int:
    return -(-size // tile)


def test_dimensions_follow_the_integer_arguments(rubric: Rubric) -> None:
    assert kernel_of(rubric).dims == ("M", "N", "K")


def test_shown_shapes_are_scaled_by_the_tile(rubric: Rubric) -> None:
    shown = [shape for shape in shapes_of(rubric, {"TILE": 8}) if shape.shown]
    assert [tuple(shape.dims.values()) for shape in shown] == [(32, 32, 32), (50, 37, 32), (50, 37, 20)]


def test_a_suite_holds_two_shapes_of_each_family_and_is_always_the_same(rubric: Rubric) -> None:
    first, again = shapes_of(rubric, {"TILE": 16}), shapes_of(rubric, {"TILE": 16})
    assert first == again
    assert len(first) == 3 + 2 * len(GEMM_FAMILIES)


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("family", GEMM_FAMILIES)
def test_every_dimension_is_of_its_kind(rubric: Rubric, family: str, tile: int) -> None:
    for shape in drawn(rubric, family, tile):
        for dim, size in shape.dims.items():
            match GEMM_FAMILIES[family].get(dim, "aligned"):
                case "one":
                    assert size == 1
                case "below":
                    assert 1 < size < tile
                case "ragged":
                    assert size % tile != 0
                    assert size > tile
                case "long":
                    assert size > MOST_TILES * tile
                case "short":
                    assert size < 2 * tile
                case _:
                    assert size % tile == 0


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("family", sorted(set(GEMM_FAMILIES) - {"one_element"}))
def test_dimensions_differ_and_the_grid_does_not_count_the_k_tiles(
    rubric: Rubric, family: str, tile: int
) -> None:
    for shape in drawn(rubric, family, tile):
        assert len(set(shape.dims.values())) == 3
        assert tiles(shape.dims["N"], tile) != tiles(shape.dims["K"], tile)


@pytest.mark.parametrize("tile", TILES)
def test_a_suite_stays_small(rubric: Rubric, tile: int) -> None:
    shapes = shapes_of(rubric, {"TILE": tile})
    assert max(max(shape.dims.values()) for shape in shapes) <= 256 + 2 * tile
    # Only the tall, the wide and the deep have a long side, and one only.
    long = [shape for shape in shapes if max(shape.dims.values()) > 256]
    assert {shape.family for shape in long} == {"tall", "wide", "deep"}
    assert all(sorted(shape.dims.values())[1] <= 6 * tile + 50 for shape in shapes)


@pytest.mark.parametrize("family", GEMM_FAMILIES)
def test_the_shapes_of_a_family_differ(rubric: Rubric, family: str) -> None:
    first, second = drawn(rubric, family, 16)
    assert first.dims != second.dims


def test_a_private_key_gives_other_shapes_of_the_same_kind(rubric: Rubric) -> None:
    public = [shape.dims for family in GEMM_FAMILIES for shape in drawn(rubric, family, 16)]
    private = [shape.dims for family in GEMM_FAMILIES for shape in drawn(rubric, family, 16, b"secret")]
    other = [shape.dims for family in GEMM_FAMILIES for shape in drawn(rubric, family, 16, b"Secret")]
    assert sum(a != b for a, b in zip(public, private, strict=True)) > 15
    assert private != other
    assert all(shape.dims["K"] == 1 for shape in drawn(rubric, "k_is_one", 16, b"secret"))


def test_the_exercise_is_part_of_the_seed(rubric: Rubric) -> None:
    other = load_text(GEMM % "tall", exercise="01_tiled_matmul")
    assert drawn(rubric, "tall", 16) != drawn(other, "tall", 16)


def test_one_dimension_has_its_own_families() -> None:
    assert set(families_of(("N",))) == {
        "aligned",
        "all_ragged",
        "one_element",
        "ragged_n",
        "n_below_tile",
        "n_is_one",
    }


def test_a_size_that_is_no_whole_number_is_refused(rubric: Rubric) -> None:
    with pytest.raises(ValueError, match=r"K = 2.5\*TILE is 2.5, not a positive whole number"):
        shapes_of(rubric, {"TILE": 1})
