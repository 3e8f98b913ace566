from __future__ import annotations

import pytest

from grader.perf.devices import device
from grader.perf.gemm import GemmKernel, KernelError
from grader.perf.ladder import LADDER, ladder_for, parse_kernel


@pytest.mark.parametrize("name", ["naive", "tiled", "register", "tensor"])
def test_a_name_alone_is_the_ladders_kernel(name: str) -> None:
    assert parse_kernel(name) == LADDER[name]


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("tiled:16", GemmKernel("tiled", 16, 16, 16)),
        ("Tiled:32x8x16", GemmKernel("tiled", 32, 8, 16)),
        ("register:64x64x16/4x4", GemmKernel("register-blocked", 64, 64, 16, 4, 4)),
        ("register-blocked:64/4", GemmKernel("register-blocked", 64, 64, 8, 4, 4)),
        ("register:64x128", GemmKernel("register-blocked", 64, 128, 8, 8, 8)),
        ("tensor:128x256x64/64x64", GemmKernel("tensor-core", 128, 256, 64, 64, 64, "bfloat16")),
        ("naive:16", GemmKernel("naive", 16, 16)),
    ],
)
def test_sizes_are_read(text: str, kernel: GemmKernel) -> None:
    assert parse_kernel(text) == kernel


def test_a_dtype_replaces_the_ladders() -> None:
    assert parse_kernel("tiled", "float64").dtype == "float64"
    assert parse_kernel("tensor", "float16").dtype == "float16"


@pytest.mark.parametrize(
    "text", ["", "fast", "tiled:", "tiled:16x", "tiled:-1", "tiled:1x2x3x4", "tiled:9999999"]
)
def test_what_is_no_kernel_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(KernelError) as caught:
        parse_kernel(text)
    assert "write naive, tiled, register, tensor" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sizes_that_make_no_kernel_are_refused() -> None:
    with pytest.raises(KernelError, match="does not divide"):
        parse_kernel("register:64/7")


def test_a_device_without_bf16_climbs_with_fp16() -> None:
    assert ladder_for(device("t4"))["tensor"].dtype == "float16"
    assert ladder_for(device("h100")) == LADDER
