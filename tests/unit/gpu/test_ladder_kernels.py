"""The ladder's kernels as compiled: registers, spills, wide loads; right on a GPU; their page's figures."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader import ladder_files
from grader.gpu.compile import compile_reason
from grader.perf.devices import device

ROOT = Path(__file__).parents[3]
RECORD = json.loads((ROOT / "docs" / "results" / "ladder_attempts_h200.json").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
NAMES = ("naive", "tiled_16", "tiled_32", "register_blocked", "vectorised", "tensor_cores", "warpgroups")
needs_compiler = pytest.mark.skipif(
    bool(compile_reason()) or importlib.util.find_spec("nvidia") is None,
    reason="the extra `compile` is not installed",
)

#: Registers, static and dynamic shared bytes for sm_90. Another compiler may take a few registers more.
RESOURCES = {
    "naive": (30, 0),
    "tiled_16": (32, 2 * 16 * 16 * 4),
    "tiled_32": (32, 2 * 32 * 32 * 4),
    "register_blocked": (127, 8 * (132 + 132) * 4),
    "vectorised": (196, 3 * 16 * (260 + 128) * 4),
    "tensor_cores": (236, 3 * (256 * 72 + 64 * 136) * 2),
    "warpgroups": (166, 4 * (128 + 256) * 64 * 2),
}


@pytest.fixture(scope="module")
def compiled() -> Any:
    found, why = ladder_files.compiled_resources(device("h200"))
    assert why == ""
    return found


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_registers_and_shared_bytes_are_as_recorded_and_nothing_spills(name: str, compiled: Any) -> None:
    registers, shared_bytes = RESOURCES[name]
    assert compiled[name].local_bytes == 0
    assert compiled[name].shared_bytes == shared_bytes
    assert abs(compiled[name].registers - registers) <= 8
    # Two blocks to an SM, or one: more registers, and as many threads would no longer fit.
    assert compiled[name].registers <= (128 if name == "register_blocked" else 255)


@pytest.fixture
def ptx(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compile a kernel to PTX for sm_90 where there may be no GPU."""
    cuda: Any = importlib.import_module("numba.cuda")
    types: Any = importlib.import_module("numba").types
    dispatcher = importlib.import_module("numba.cuda.dispatcher")
    # Device functions ask for the device that they are compiled for.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))

    def compile_(kernel: Any, *element_types: str) -> str:
        arrays = [types.Array(getattr(types, name), 2, "C") for name in element_types]
        options = {key: kernel.targetoptions.get(key) for key in ("fastmath", "launch_bounds")}
        signature = types.void(*arrays, types.int64, types.int64, types.int64)
        return str(cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0), **options)[0])

    return compile_


def kernel_module(name: str) -> Any:
    return importlib.import_module(f"solutions.ladder.{name}")


@needs_compiler
def test_the_instructions_that_make_it_fast_are_there(ptx: Any) -> None:
    floats, bits = ("float32",) * 3, ("uint16", "uint16", "float32")
    tiled = ptx(kernel_module("tiled_32").KERNEL, *floats)
    blocked = ptx(kernel_module("register_blocked").KERNEL, *floats)
    vectorised = ptx(kernel_module("vectorised").KERNEL, *floats)
    tensor = ptx(kernel_module("tensor_cores").KERNEL, *bits)
    groups = ptx(kernel_module("warpgroups").KERNEL, *bits)
    assert tiled.count("ld.shared.v4.f32") == 32 / 4
    # Eight steps, each with two groups of four of A and of B, and 64 multiply-adds.
    assert (blocked.count("ld.shared.v4.f32"), blocked.count("fma.rn")) == (8 * 4, 8 * 64)
    assert "st.global.v4.f32" in vectorised
    assert vectorised.count("cp.async.ca.shared.global") > vectorised.count("cp.async.cg.shared.global") > 0
    # Four slices in the pipeline and one in the loop for rows that are not aligned.
    assert tensor.count("mma.sync.aligned.m16n8k16") % 32 == 0
    assert tensor.count("mma.sync.aligned.m16n8k16") >= 5 * 32
    assert tensor.count("ldmatrix.sync.aligned.m8n8.x4.trans") == tensor.count("ldmatrix.sync.aligned") / 2
    # Four steps for aligned rows and four for others, each group of them begun and ended once.
    assert groups.count("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16") == 2 * 4
    assert groups.count("wgmma.commit_group") == groups.count("wgmma.fence") == 2
    assert (groups.count("fence.proxy.async"), groups.count("st.global.v2.f32")) == (2, 64)
    for text in (blocked, vectorised, tensor, groups):
        assert not re.search(r"\b(ld|st)\.local", text)


@needs_compiler
@pytest.mark.parametrize(
    ("elements", "said"),
    [
        (("float64", "float32"), "load4: .*no C-contiguous array of 32-bit elements"),
        (("int32", "float32"), "load4: elements are int32 and float32"),
    ],
)
def test_a_misused_instruction_is_a_type_error(ptx: Any, elements: tuple[str, str], said: str) -> None:
    cuda: Any = importlib.import_module("numba.cuda")
    load4 = importlib.import_module("grader.gpu.ptx").load4
    errors: Any = importlib.import_module("numba.core.errors")

    @cuda.jit
    def kernel(a: Any, b: Any, c: Any, M: int, N: int, K: int) -> None:
        load4(a, 0, b, 0)

    with pytest.raises(errors.TypingError, match=said):
        ptx(kernel, *elements, "float32")


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:.*Grid size")  # small products are small grids
@pytest.mark.parametrize("name", NAMES)
def test_every_ragged_product_is_right_on_a_gpu(name: str) -> None:
    cuda: Any = importlib.import_module("numba.cuda")
    allow = importlib.import_module("grader.gpu.dynamic_shared").allow
    module, rng = kernel_module(name), np.random.default_rng(1)
    for M, N, K in ((1, 1, 1), (33, 129, 257), (17, 64, 8), (100, 70, 130), (300, 1, 40), (1000, 1000, 1000)):
        a, b = rng.random((M, K), np.float32), rng.random((K, N), np.float32)
        if module.DTYPE == "bfloat16":
            left, right = ((x.view(np.uint32) >> 16).astype(np.uint16) for x in (a, b))
            a, b = ((x.astype(np.uint32) << 16).view(np.float32) for x in (left, right))
        else:
            left, right = a, b
        C = cuda.to_device(np.full((M, N), np.nan, np.float32))
        args = (cuda.to_device(left), cuda.to_device(right), C, M, N, K)
        if module.SHARED_BYTES:
            allow(module.KERNEL, args, module.SHARED_BYTES)
        grid, block = module.launch_config(M, N, K)
        module.KERNEL[grid, block, 0, module.SHARED_BYTES](*args)
        exact = a.astype(np.float64) @ b
        assert np.max(np.abs(C.copy_to_host() - exact) / exact) < 1e-4, (M, N, K)


def attempt_line(attempt: dict[str, Any]) -> str:
    predicted = "–" if attempt["predicted_tflops"] is None else f"{attempt['predicted_tflops']:g}"
    registers = "–" if attempt["registers"] is None else attempt["registers"]
    local = f", {attempt['local_bytes']} bytes local" if attempt["local_bytes"] else ""
    return (
        f"| {attempt['variant']} | {predicted} | {attempt['tflops']:g} | {attempt['share']:.0%} "
        f"| {registers}{local} | {attempt['run']} |"
    )


def test_the_page_quotes_the_attempts() -> None:
    assert RECORD["attempts"]
    for attempt in RECORD["attempts"]:
        assert attempt_line(attempt) in PAGE
        library = RECORD["library_by_run"][str(attempt["run"])]
        kind = "bf16" if attempt["rung"] in ("tensor_cores", "warpgroups") else "fp32"
        assert abs(attempt["share"] - attempt["tflops"] / library[kind]) < 0.002
        assert attempt["wrong_shapes"] == 0
    for left_out in RECORD["ablations"]:
        assert f"| {left_out['variant']} | {left_out['tflops']:g} | {left_out['run']} |" in PAGE
    for run, library in RECORD["library_by_run"].items():
        fp32 = f"{library['fp32_least']:g} to {library['fp32']:g}" if "fp32" in library else "–"
        assert f"| {run} | {fp32} | {library['bf16_least']:g} to {library['bf16']:g} |" in PAGE
    for said in (RECORD["driver"], *(RECORD["versions"][key] for key in ("numba", "cupy"))):
        assert said in PAGE
    for day in RECORD["runs_of_later_days"].values():
        assert day in PAGE
