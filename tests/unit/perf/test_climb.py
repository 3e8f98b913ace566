from __future__ import annotations

from dataclasses import replace

import pytest

from grader.perf.climb import Resources, Row, measured_rows, predicted_rows
from grader.perf.devices import device
from grader.perf.gemm import predict
from grader.perf.rungs import LAB_RUNGS, RUNGS, TOLERANCE
from tests.unit.reporters.ladder_sample import climb, climbed

H200 = device("h200")


def rows(run=None, profile=H200) -> dict[str, Row]:  # type: ignore[no-untyped-def]
    [found] = measured_rows(run or climb(), profile).values()
    return {row.rung.name: row for row in found}


def test_the_rungs_are_climbed_in_order_and_end_in_the_library() -> None:
    assert [rung.name for rung in RUNGS if rung.is_library] == ["cublas_fp32", "cublas_tf32", "cublas_bf16"]
    assert RUNGS[0].name == "naive"
    assert all(rung.is_library for rung in RUNGS[-3:])
    assert set(LAB_RUNGS) <= {rung.name for rung in RUNGS}


def test_figures_follow_from_the_time() -> None:
    row = rows()["register_blocked"]
    assert row.gflops == pytest.approx(2 * 4096**3 / 3.52e-3 / 1e9)
    assert row.speed_up == pytest.approx(107 / 3.52)
    assert row.share == pytest.approx(2.71 / 3.52)
    assert row.predicted_milliseconds == pytest.approx(2.182, rel=1e-3)
    assert row.achieved == pytest.approx(2.182 / 3.52, rel=1e-3)
    assert row.is_right is True


@pytest.mark.parametrize(
    ("name", "library"),
    [("tensor_cores", "cublas_bf16"), ("tiled_32", "cublas_fp32"), ("cublas_tf32", "cublas_tf32")],
)
def test_the_share_is_of_the_library_with_the_same_arithmetic(name: str, library: str) -> None:
    found = rows()
    assert found[name].share == pytest.approx(found[library].milliseconds / found[name].milliseconds)


def test_the_models_registers_and_occupancy_are_the_drivers() -> None:
    row = rows()["register_blocked"]
    assert row.prediction is not None
    assert row.prediction.registers == 122
    assert row.occupancy == pytest.approx(2 * 8 / 64)  # two blocks of eight warps, of 64


def test_without_the_drivers_blocks_occupancy_is_worked_out() -> None:
    resources = Resources(source="driver", registers=122, shared_bytes=8448, threads=256)
    run = replace(climb(), rungs=(climbed("register_blocked", resources=resources),))
    assert rows(run)["register_blocked"].occupancy == 0.25


@pytest.mark.parametrize(
    "changed",
    [
        {"max_relative_error": 2e-4},
        {"max_relative_error": float("nan")},
        {"max_relative_error": float("inf")},
        {"max_relative_error": None},
        {"problem": "killed by signal 11"},
        {"milliseconds": None},
    ],
)
def test_a_time_that_is_not_of_a_right_result_does_not_count(changed: dict[str, object]) -> None:
    bad = climbed("naive", **changed)
    others = tuple(rung for rung in climb().rungs if rung.rung != "naive")
    found = rows(replace(climb(), rungs=(bad, *others)))
    assert found["naive"].milliseconds is None
    assert found["naive"].gflops is None
    assert found["tiled_16"].speed_up is None
    assert found["tiled_16"].share is not None


def test_each_arithmetic_has_its_own_tolerance() -> None:
    run = replace(climb(), rungs=(climbed("cublas_tf32"), climbed("cublas_fp32", max_relative_error=6e-4)))
    found = rows(run)
    assert (found["cublas_tf32"].is_right, found["cublas_fp32"].is_right) == (True, False)
    assert TOLERANCE["FP32"] == 1e-4  # Lab 1's


def test_sizes_are_kept_apart() -> None:
    found = measured_rows(climb(1000, 1024), H200)
    assert list(found) == [(1000, 1000, 1000), (1024, 1024, 1024)]
    assert all(len(each) == len(RUNGS) for each in found.values())
    assert found[1000, 1000, 1000][0].speed_up == 1


def test_without_a_profile_there_is_no_prediction() -> None:
    row = rows(profile=None)["tiled_32"]
    assert (row.prediction, row.occupancy, row.achieved) == (None, None, None)
    assert row.share is not None


def test_a_prediction_has_kernels_alone() -> None:
    [found] = predicted_rows(H200, [(1000, 1000, 1000)], {}).values()
    assert [row.rung for row in found] == [rung for rung in RUNGS if not rung.is_library]
    assert all(row.milliseconds is None and row.resources is not None for row in found)
    assert {row.resources.source for row in found if row.resources} == {"estimate"}


def test_rungs_of_another_architecture_are_not_predicted() -> None:
    [found] = predicted_rows(device("a100"), [(1000, 1000, 1000)], {}).values()
    assert [row.rung.name for row in found if row.rung.only_on] == []
    assert len(found) == sum(not rung.is_library for rung in RUNGS) - 1


def test_a_compilers_registers_replace_the_estimate() -> None:
    compiled = Resources(source="compiler", registers=168, shared_bytes=9000, threads=256)
    [found] = predicted_rows(H200, [(4096, 4096, 4096)], {"register_blocked": compiled}).values()
    row = next(row for row in found if row.rung.name == "register_blocked")
    assert row.resources == compiled
    assert row.prediction is not None
    assert row.prediction.registers == 168
    assert row.occupancy == 0.125


def test_the_model_is_the_models() -> None:
    [found] = predicted_rows(H200, [(4096, 4096, 4096)], {}).values()
    for row in found:
        assert row.rung.kernel is not None
        assert row.prediction == predict(row.rung.kernel, H200, 4096, 4096, 4096)
