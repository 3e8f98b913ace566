from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.perf.closed_forms import tile_intensity, tile_intensity_with_c
from grader.perf.devices import device
from grader.perf.gemm import GemmKernel, KernelError, predict, traffic
from grader.perf.ladder import LADDER

H100 = device("h100")


def test_traffic_equals_what_an_h200_counted() -> None:
    # Sectors of 32 bytes and FFMA threads from hardware counters; aligned, so every byte is asked for.
    counted = traffic(GemmKernel("tiled", 16, 16, 16), 256, 256, 256)
    assert counted.global_load_bytes == 262144 * 32
    assert counted.global_store_bytes == 8192 * 32
    assert counted.executed_flops == 2 * 16777216
    counted = traffic(GemmKernel("tiled", 32, 32, 32), 256, 256, 256)
    assert counted.global_load_bytes == 131072 * 32


@pytest.mark.parametrize(
    ("kernel", "ffma"),
    [
        (GemmKernel("naive", 16, 16), 910000),
        (GemmKernel("tiled", 16, 16, 16), 1290240),
        (GemmKernel("tiled", 32, 32, 32), 1966080),
        (GemmKernel("register-blocked", 64, 64, 8, 4, 4), 2228224),
    ],
)
def test_multiply_adds_on_a_ragged_shape_equal_what_an_h200_counted(kernel: GemmKernel, ffma: int) -> None:
    assert traffic(kernel, 100, 70, 130).executed_flops == 2 * ffma
    assert traffic(kernel, 100, 70, 130).flops == 2 * 100 * 70 * 130


def test_registers_and_shared_bytes_near_those_an_h200_reported() -> None:
    tiled = GemmKernel("tiled", 16, 16, 16)
    assert (tiled.registers_per_thread(H100), tiled.shared_bytes_per_block) == (32, 2048)
    blocked = GemmKernel("register-blocked", 64, 64, 8, 4, 4)
    assert blocked.registers_per_thread(H100) == pytest.approx(55, abs=4)
    assert blocked.shared_bytes_per_block == 4096


def test_ragged_loads_by_brute_force() -> None:
    M, N, K, T = 50, 37, 40, 16
    loads = 0
    for row0 in range(0, M, T):
        for col0 in range(0, N, T):
            for k0 in range(0, K, T):
                depth = min(T, K - k0)
                loads += min(T, M - row0) * depth + depth * min(T, N - col0)
    counted = traffic(GemmKernel("tiled", T, T, T), M, N, K)
    assert counted.global_load_bytes == 4 * loads
    assert counted.global_store_bytes == 4 * M * N
    assert counted.blocks == 4 * 3


def test_a_naive_kernel_uses_no_shared_memory() -> None:
    prediction = predict(LADDER["naive"], H100, 64, 64, 64)
    assert prediction.shared_bytes == 0
    assert prediction.shared_intensity is None
    assert [limit.name for limit in prediction.limits] == ["alu", "hbm"]


def test_depth_of_a_slice_does_not_change_global_traffic() -> None:
    shallow = traffic(GemmKernel("register-blocked", 64, 64, 8, 4, 4), 512, 512, 512)
    deep = traffic(GemmKernel("register-blocked", 64, 64, 32, 4, 4), 512, 512, 512)
    assert shallow.global_bytes == deep.global_bytes
    assert shallow.shared_bytes == deep.shared_bytes


def test_double_buffering_doubles_shared_memory_and_nothing_else() -> None:
    one = GemmKernel("register-blocked", 128, 128, 8, 8, 8)
    two = dataclasses.replace(one, stages=2)
    assert two.shared_bytes_per_block == 2 * one.shared_bytes_per_block == 16384
    assert traffic(two, 256, 256, 256) == traffic(one, 256, 256, 256)


def test_a_tile_with_too_many_threads_cannot_run() -> None:
    prediction = predict(GemmKernel("tiled", 64, 64, 64), H100, 4096, 4096, 4096)
    assert prediction.threads_per_block == 4096
    assert prediction.obstacles[0].name == "block-too-large"
    assert (prediction.obstacles[0].wanted, prediction.obstacles[0].limit) == (4096, 1024)
    assert prediction.seconds is None
    assert prediction.bound_by is None
    assert prediction.flops_per_second is None
    assert prediction.occupancy.blocks_per_sm == 0
    assert prediction.hbm_intensity == pytest.approx(15.88, abs=0.01)


def test_a_device_without_bf16_units_cannot_run_the_tensor_kernel() -> None:
    prediction = predict(LADDER["tensor"], device("t4"), 256, 256, 256)
    assert [obstacle.name for obstacle in prediction.obstacles] == ["no-matrix-units"]
    assert prediction.seconds is None


def test_tensor_cores_of_a_64_wide_warp_take_twice_the_threads() -> None:
    assert predict(LADDER["tensor"], H100, 256, 256, 256).threads_per_block == 256
    assert predict(LADDER["tensor"], device("mi300x"), 256, 256, 256).threads_per_block == 512


def test_more_values_than_registers_spill() -> None:
    prediction = predict(GemmKernel("register-blocked", 256, 256, 8, 16, 16), H100, 512, 512, 512)
    assert prediction.registers == 29 + 256 + 32
    assert prediction.spills
    assert prediction.registers_estimated
    assert not prediction.obstacles


def test_given_registers_are_taken() -> None:
    kernel = GemmKernel("tensor-core", 128, 128, 64, 64, 32, "bfloat16", registers=242)
    prediction = predict(kernel, H100, 256, 256, 256)
    assert prediction.registers == 242
    assert not prediction.registers_estimated
    assert not prediction.spills
    assert prediction.occupancy.blocks_per_sm == 1


def test_double_precision_doubles_bytes_and_uses_its_own_peak() -> None:
    single = predict(LADDER["tiled"], H100, 512, 512, 512)
    double = predict(dataclasses.replace(LADDER["tiled"], dtype="float64"), H100, 512, 512, 512)
    assert double.hbm_bytes == 2 * single.hbm_bytes
    assert double.limits[0].rate == 33.5e12


def test_l2_is_a_limit_only_where_its_rate_is_known() -> None:
    on_a100 = predict(LADDER["tiled"], device("a100"), 512, 512, 512)
    assert [limit.name for limit in on_a100.limits] == ["alu", "hbm", "l2", "shared"]
    on_h100 = predict(LADDER["tiled"], H100, 512, 512, 512)
    assert [limit.name for limit in on_h100.limits] == ["alu", "hbm", "shared"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("blocked", 32, 32), "no kernel kind 'blocked'"),
        (("tiled", 0, 32, 32), "bm is 0"),
        (("tiled", 32, 10**9, 32), "bn is 1000000000"),
        (("register-blocked", 64, 64, 8, 5, 4), "does not divide into 5 x 4 patches"),
        (("tiled", 32, 32, 32, 2, 2), "tm and tn must be 1"),
        (("naive", 32, 32, 8), "bk must be 1"),
        (("tensor-core", 128, 128, 64, 64, 32), "takes float16 or bfloat16"),
        (("tiled", 32, 32, 32, 1, 1, "int8"), "no dtype 'int8'"),
    ],
)
def test_what_is_no_kernel_is_refused(arguments: tuple[object, ...], said: str) -> None:
    with pytest.raises(KernelError, match=said):
        GemmKernel(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, -1, 1), (1, 1, 2**31)])
def test_sizes_that_are_no_matrix_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(KernelError, match="must be a whole number from 1"):
        predict(LADDER["tiled"], H100, *sizes)


tiles = st.sampled_from([4, 8, 16, 32])
sizes = st.integers(1, 300)


@given(tiles, sizes, sizes, sizes)
def test_bounds_that_hold_for_every_shape(tile: int, M: int, N: int, K: int) -> None:
    counted = traffic(GemmKernel("tiled", tile, tile, tile), M, N, K)
    naive = traffic(GemmKernel("naive", tile, tile), M, N, K)
    assert counted.compulsory_bytes <= counted.global_bytes <= naive.global_bytes
    assert counted.executed_flops >= counted.flops == naive.flops
    # A ragged tile is no better used than a whole one.
    assert counted.flops / counted.global_load_bytes <= tile_intensity(tile, tile) + 1e-9


@given(tiles, st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_whole_tiles_give_the_closed_form(tile: int, rows: int, columns: int, slices: int) -> None:
    K = slices * tile
    prediction = predict(GemmKernel("tiled", tile, tile, tile), H100, rows * tile, columns * tile, K)
    assert prediction.load_intensity == pytest.approx(tile_intensity(tile, tile))
    assert prediction.hbm_intensity == pytest.approx(tile_intensity_with_c(tile, tile, K))
    assert prediction.traffic.executed_flops == prediction.flops
