"""A kernel's profile: the machine's counts scaled, the model's times, the writers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import grader.profile as profiling
from grader.cli import main
from grader.counted_launch import LaunchError
from grader.exercises import Exercise, find
from grader.gpu.compile import Compiled
from grader.gpu.counters import Measured
from grader.perf.devices import device
from grader.perf.kernel import GemmKernel, traffic
from grader.perf.kernel_profile import Profile
from grader.profile import ProfileError, profile
from grader.records import Compilation
from grader.reporters import profile_json, profile_table
from grader.reporters.style import Style

ROOT = Path(__file__).parents[2]
SOLUTION = ROOT / "solutions" / "02_ragged_dims.py"
STYLE = Style(colour=False, width=100, unicode=True)
COMPILED = Compilation(
    "sm_90", 32, shared_bytes=2048, warps=64, most_warps=64, occupancy=1.0, limited_by="threads"
)


@pytest.fixture(autouse=True)
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a compiler nor a GPU, unless a test says otherwise."""
    monkeypatch.setattr(profiling, "compile_kernel", lambda *_: Compiled(reason="not here"))
    monkeypatch.setattr(profiling, "counters_reason", lambda: "no GPU")


def without_solution() -> Exercise:
    return replace(find("02_ragged_dims"), solution=None)


def of(size: tuple[int, int, int], path: Path = SOLUTION) -> Profile:
    return profile(without_solution(), path, device("h200"), size)


@pytest.mark.parametrize("size", [(64, 64, 64), (512, 768, 1024)])
def test_counts_are_those_of_the_model(size: tuple[int, int, int]) -> None:
    found = of(size)
    assert found.counted == tuple(min(side, 256) for side in size)
    for one, kernel in zip(
        found.kernels, (GemmKernel("naive", 16, 16), GemmKernel("tiled", 16, 16, 16)), strict=True
    ):
        expected = traffic(kernel, *size)
        assert one.right
        assert one.flops == expected.flops
        assert one.load_bytes == expected.global_load_bytes
        assert one.store_bytes == expected.global_store_bytes
        assert one.shared_bytes == expected.shared_bytes
    assert found.compulsory_bytes == traffic(GemmKernel("naive", 16, 16), *size).compulsory_bytes


def test_what_binds_is_what_takes_longest() -> None:
    naive, tiled = of((1024, 1024, 1024)).kernels
    assert naive.bound_by == "hbm"
    assert naive.intensity == 0.25
    assert tiled.bound_by == "shared"
    assert tiled.intensity == 4
    assert tiled.shared_bytes_per_flop == 4.25
    times = {one.name: one.seconds for one in tiled.times}
    assert times["alu"] == pytest.approx(2 * 1024**3 / device("h200").fp32_flops)
    # One word a lane: 128 bytes a wavefront, so the bytes asked for are the bytes passed.
    assert times["shared"] == pytest.approx(tiled.shared_bytes / device("h200").shared_bytes_per_second)


def test_float64_sums_take_the_float64_units(tmp_path: Path) -> None:
    path = tmp_path / "double.py"
    text = SOLUTION.read_text(encoding="utf-8")
    path.write_text(text.replace("acc = float32(0.0)", "acc = 0.0"), encoding="utf-8")
    _, double = of((256, 256, 256), path).kernels
    assert double.double_operations == 256**3
    assert double.times[0].seconds >= 2 * 256**3 / 33.5e12


def test_bank_conflicts_cost_wavefronts(tmp_path: Path) -> None:
    path = tmp_path / "transposed.py"
    text = SOLUTION.read_text(encoding="utf-8").replace("TILE = 16", "TILE = 32")
    path.write_text(
        text.replace("Bs[k, tx]", "Bs[tx, k]").replace("Bs[ty, tx] =", "Bs[tx, ty] ="), encoding="utf-8"
    )
    _, one = of((64, 64, 64), path).kernels
    assert one.right
    assert one.conflicts_per_request > 10
    times = {limit.name: limit.seconds for limit in one.times}
    assert times["shared"] > 10 * one.shared_bytes / device("h200").shared_bytes_per_second


def test_the_solution_stands_beside_another_file_only() -> None:
    exercise = find("02_ragged_dims")
    other = ROOT / "solutions" / "01_tiled_matmul.py"
    labels = [one.label for one in profile(exercise, other, device("a100"), (64, 64, 64)).kernels]
    assert labels == ["naive", "yours", "solution"]
    labels = [one.label for one in profile(exercise, SOLUTION, device("a100"), (64, 64, 64)).kernels]
    assert labels == ["naive", "yours"]


def test_compiler_and_ncu_add_their_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "compile_kernel", lambda *_: Compiled((COMPILED,)))
    monkeypatch.setattr(profiling, "counters_reason", lambda: "")
    figures = {"nanoseconds": 12340.0, "dram_read_bytes": 5e8, "sm_percent": 41.2, "registers": 32.0}
    monkeypatch.setattr(profiling, "measure", lambda *_: (Measured(figures),))
    found = of((1024, 1024, 1024))
    assert found.not_compiled == found.not_measured == ""
    text = profile_table.render(found, STYLE)
    rows = {line[2:28].strip(): line.split()[-1] for line in text.splitlines() if line.startswith("  ")}
    assert rows["registers a thread"] == "32"
    assert rows["limited by"] == "threads"
    assert "12.3 us" in text
    assert "500.0 MB" in text
    assert "not scaled" in text


def test_the_table_says_what_is_missing() -> None:
    text = profile_table.render(of((1024, 1024, 1024)), STYLE)
    assert text.startswith("02_ragged_dims on NVIDIA H200 SXM 141 GB, M x N x K = 1024 x 1024 x 1024\n")
    assert "Counted by the machine at 256 x 256 x 256 and scaled" in text
    assert "not compiled: not here." in text
    assert "Not measured with ncu: no GPU." in text
    assert "registers" not in text.split("Registers")[0]
    rows = [line.split() for line in text.splitlines() if line.strip().startswith("FLOP per loaded byte")]
    assert rows == [["FLOP", "per", "loaded", "byte", "0.25", "4"]]


def test_json_holds_the_same() -> None:
    document = json.loads(profile_json.render(of((512, 512, 512))))
    assert (document["schema"], document["version"]) == ("tilegrade/profile", 1)
    assert document["counted_at"] == {"M": 256, "N": 256, "K": 256}
    tiled: dict[str, Any] = document["kernels"][1]
    assert tiled["bytes"]["global_loads"] == 8 * 512**3 / 16
    assert tiled["bound_by"] == "shared"
    assert tiled["compiled"] is None


def test_what_cannot_be_profiled_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ProfileError, match="03_intensity_math has no matrix product to profile"):
        profile(find("03_intensity_math"), SOLUTION, device("h200"), (64, 64, 64))
    with pytest.raises(ProfileError, match="no size is below 1: 4x0x4"):
        of((4, 0, 4))
    for size in ("0", "0x4x4", "4x0x4", "4x4x0", "big"):
        assert main(["profile", "02", "--size", size, "--file", str(SOLUTION)]) == 2
        assert f"--size {size}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "(TILE, TILE), dtype",
            "(M, TILE), dtype",
            "does not run to its end: non-constant-shared-shape, line ",
        ),
        ("M, N, K):", "M, N):", "cannot be launched: changed-signature, line "),
        ("import", "import (", "cannot be launched: syntax-error, line "),
        ("acc += As[ty, k]", "acc += As[ty, k] + 1", "gives a wrong result, so its traffic says nothing"),
    ],
)
def test_a_kernel_without_figures_ends_in_1_by_the_name_that_check_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    broken, text = tmp_path / "broken.py", SOLUTION.read_text(encoding="utf-8")
    assert old in text
    broken.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(LaunchError, match=said):
        of((64, 64, 64), broken)
    assert main(["profile", "02", "--file", str(broken), "--size", "64"]) == 1
    assert f"grader check 02_ragged_dims --file {broken} says why" in capsys.readouterr().err


def test_faults_are_named_and_end_in_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skeleton = ROOT / "exercises" / "02_ragged_dims.py"
    found = of((64, 64, 64), skeleton)
    assert found.kernels[1].right
    assert found.faults[0] == "stale-shared-read"
    assert main(["profile", "02", "--file", str(skeleton), "--size", "64"]) == 1
    out = capsys.readouterr().out
    assert out.index("FAULTY: `yours` has stale-shared-read") < out.index("global loads asked for")
    assert main(["profile", "02", "--file", str(skeleton), "--size", "64", "--json"]) == 1
    kernels = json.loads(capsys.readouterr().out)["kernels"]
    assert [one["faults"][:1] for one in kernels] == [[], ["stale-shared-read"], []]


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((1024, 512, 320), "For whole tiles that is exact."),
        ((1000, 1024, 1000), "1000 is no multiple of 32"),
        ((100, 1024, 1024), "For whole tiles that is exact."),
    ],
)
def test_the_scaled_figures_say_whether_they_are_exact(size: tuple[int, int, int], said: str) -> None:
    found = replace(of((64, 64, 64)), size=size, counted=tuple(min(256, side) for side in size))  # type: ignore[arg-type]
    assert said in profile_table.render(found, replace(STYLE, width=200))


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(profiling, "compile_kernel", lambda *_: Compiled((COMPILED,)))
    found = profile(
        find("02_ragged_dims"), ROOT / "solutions" / "01_tiled_matmul.py", device("h200"), (64, 64, 64)
    )
    lines = profile_table.render(found, Style(colour=False, width=width, unicode=True)).splitlines()
    assert max(map(len, lines)) <= width


def test_a_device_without_a_compiler_says_so() -> None:
    assert profile(without_solution(), SOLUTION, device("mi300x"), (64, 64, 64)).not_compiled == (
        f"NVIDIA's compiler does not know {device('mi300x').title}"
    )


def test_the_command_writes_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "02", "--file", str(SOLUTION), "--size", "64", "--device", "a100"]) == 0
    assert "likely to bind" in capsys.readouterr().out
    assert main(["profile", "02", "--file", str(SOLUTION), "--size", "64", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "h200"
