"""Every figure that the course quotes, by value."""

from __future__ import annotations

import pytest

from grader.perf.closed_forms import (
    matrix_bytes,
    naive_bytes,
    naive_intensity,
    naive_passes,
    ridge_tile,
    ridge_tile_with_c,
    shared_intensity,
    shared_reads_per_fma,
    tile_intensity,
    tile_intensity_with_c,
    tiled_bytes,
)
from grader.perf.devices import device
from grader.perf.gemm import Prediction, predict
from grader.perf.ladder import LADDER
from grader.perf.roofline import roofs
from grader.reporters.model_words import milliseconds, three

N = 4096


def at(kernel: str, name: str) -> Prediction:
    return predict(LADDER[kernel], device(name), N, N, N)


@pytest.mark.parametrize(
    ("kernel", "intensity", "a100", "a100_bound", "h100", "h100_bound"),
    [
        ("naive", "0.25", "354", "hbm", "164", "hbm"),
        ("tiled", "7.97", "29.1", "shared", "16.9", "shared"),
        ("register", "31.5", "7.05", "alu", "2.18", "shared"),
        ("tensor", "62.1", "1.42", "hbm", "0.661", "hbm"),
    ],
)
def test_the_table_of_four_kernels(
    kernel: str, intensity: str, a100: str, a100_bound: str, h100: str, h100_bound: str
) -> None:
    on_a100, on_h100 = at(kernel, "a100"), at(kernel, "h100")
    assert on_a100.seconds is not None
    assert on_h100.seconds is not None
    assert three(on_a100.hbm_intensity) == intensity
    assert (milliseconds(on_a100.seconds), on_a100.bound_by) == (a100, a100_bound)
    assert (milliseconds(on_h100.seconds), on_h100.bound_by) == (h100, h100_bound)


def test_register_blocking_reaches_the_a100s_peak_in_the_model() -> None:
    assert at("register", "a100").flops_per_second == pytest.approx(19.5e12)


def test_tensor_cores_are_memory_bound_at_96_and_a_half_tflops_on_the_a100() -> None:
    speed = at("tensor", "a100").flops_per_second
    assert speed is not None
    assert round(speed / 1e12, 1) == 96.5


def test_ridge_points() -> None:
    assert round(roofs(device("h100"))[0].ridge) == 20
    assert round(roofs(device("mi300x"))[0].ridge) == 31
    assert round(roofs(device("a100"))[1].ridge) == 201


def test_the_tensor_roof_is_16_times_the_fp32_one_on_the_a100() -> None:
    assert device("a100").matrix_flops("bfloat16") == 16 * device("a100").fp32_flops


def test_naive_moves_549_8_gigabytes_for_201_megabytes_of_matrices() -> None:
    assert round(naive_bytes(N) / 1e9, 1) == 549.8
    assert round(matrix_bytes(N) / 1e6) == 201
    assert round(naive_passes(N)) == 2731
    assert round(naive_bytes(N) / matrix_bytes(N)) == 2731


@pytest.mark.parametrize(("tile", "gigabytes"), [(16, 34.4), (32, 17.2), (64, 8.6), (128, 4.3)])
def test_traffic_of_tiles(tile: int, gigabytes: float) -> None:
    assert round(tiled_bytes(N, tile) / 1e9, 1) == gigabytes


@pytest.mark.parametrize(("tile", "intensity"), [(16, 4), (32, 8), (64, 16), (128, 32)])
def test_intensity_of_square_tiles(tile: int, intensity: float) -> None:
    assert tile_intensity(tile, tile) == intensity
    assert tile_intensity(tile, tile, e=2) == 2 * intensity


def test_naive_intensity_is_a_quarter() -> None:
    assert naive_intensity() == 0.25


def test_tile_that_crosses_the_ridge_without_c_and_with_it() -> None:
    h100, mi300x = roofs(device("h100"))[0].ridge, roofs(device("mi300x"))[0].ridge
    assert (ridge_tile(h100), ridge_tile_with_c(h100, N)) == (80, 81)
    assert (ridge_tile(mi300x), ridge_tile_with_c(mi300x, N)) == (124, 125)


def test_tile_for_a_ridge_given_as_a_whole_number() -> None:
    assert ridge_tile(20) == 80
    assert ridge_tile(31) == 124
    assert ridge_tile_with_c(20, N) == 81


def test_the_crossing_tile_reaches_the_ridge_and_one_less_does_not() -> None:
    for name in ("t4", "a100", "h100", "h200", "rtx4090", "mi300x"):
        for roof, e in zip(roofs(device(name)), (4, 2)):
            tile = ridge_tile(roof.ridge, e)
            assert tile_intensity(tile, tile, e) >= roof.ridge > tile_intensity(tile - 1, tile - 1, e)
            with_c = ridge_tile_with_c(roof.ridge, N, e)
            assert with_c is not None
            reached = tile_intensity_with_c(with_c, with_c, N, e)
            assert reached >= roof.ridge > tile_intensity_with_c(with_c - 1, with_c - 1, N, e)


def test_no_tile_reaches_the_ridge_where_k_is_too_short() -> None:
    assert ridge_tile_with_c(20, 40) is None
    assert ridge_tile_with_c(20, 41) == 3280
    assert tile_intensity_with_c(10**9, 10**9, 40) < 20


def test_one_thread_per_output_would_need_6400_threads_and_50_kilobytes() -> None:
    assert 80 * 80 == 6400 > device("h100").max_threads_per_block
    assert 2 * 80 * 80 * 4 == 51200


def test_blocks_of_64_and_128_give_16_and_32_flop_per_byte() -> None:
    assert tile_intensity(64, 64) == 16
    assert 64 * 64 / (2 * (64 + 64)) == 16
    assert tile_intensity(128, 128) == 32


def test_64_by_64_with_4_by_4_patches_takes_256_threads() -> None:
    assert (64 // 4) * (64 // 4) == 256


def test_shared_intensity_is_a_quarter_for_one_output_and_2_for_8_by_8() -> None:
    assert shared_intensity(1, 1) == 0.25
    assert shared_intensity(8, 8) == 2


def test_shared_reads_per_multiply_add_fall_from_2_to_a_half() -> None:
    assert shared_reads_per_fma(1, 1) == 2
    assert shared_reads_per_fma(4, 4) == 0.5
    assert shared_reads_per_fma(1, 1) / shared_reads_per_fma(4, 4) == 4
    assert shared_intensity(8, 8) / shared_intensity(1, 1) == 8
