"""The rungs of the ladder: the kernels that the course climbs, and the vendor's library beside them.

A rung's ``kernel`` holds the sizes that its file under ``solutions/ladder`` has; a test compares the
two. The tolerances are those of the largest relative error of an element, with inputs in [0, 1), so
that nothing cancels: float32 sums of K terms err by about sqrt(K) 6e-8, TF32 keeps 10 bits of each
input, and the reference for BF16 is computed from the rounded inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from grader.perf.kernel import GemmKernel

Arithmetic = Literal["FP32", "TF32", "BF16"]

TOLERANCE: Final[dict[Arithmetic, float]] = {"FP32": 1e-4, "TF32": 4e-3, "BF16": 1e-4}
"""Largest relative error of an element of C that counts as right."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: a kernel of ours, or (without ``kernel``) a call of the vendor's library."""

    name: str
    title: str
    arithmetic: Arithmetic
    kernel: GemmKernel | None = None
    only_on: str = ""
    """The one architecture that has its instructions, say ``sm_90``; empty where any will do."""

    @property
    def is_library(self) -> bool:
        """Whether it is the vendor's library that computes."""
        return self.kernel is None


RUNGS: Final[tuple[Rung, ...]] = (
    Rung("naive", "naive", "FP32", GemmKernel("naive", 16, 16)),
    Rung("tiled_16", "tiled 16x16", "FP32", GemmKernel("tiled", 16, 16, 16)),
    Rung("tiled_32", "tiled 32x32", "FP32", GemmKernel("tiled", 32, 32, 32)),
    Rung(
        "register_blocked",
        "register-blocked",
        "FP32",
        GemmKernel("register-blocked", 128, 128, 8, 8, 8),
    ),
    Rung(
        "vectorised",
        "vectorised",
        "FP32",
        GemmKernel("register-blocked", 256, 128, 16, 16, 8, stages=3),
    ),
    Rung(
        "tensor_cores",
        "tensor cores",
        "BF16",
        GemmKernel("tensor-core", 256, 128, 64, 64, 64, "bfloat16", stages=3),
    ),
    Rung(
        "warpgroups",
        "warpgroups",
        "BF16",
        GemmKernel("tensor-core", 128, 256, 64, 64, 256, "bfloat16", stages=4, warps=4),
        only_on="sm_90",
    ),
    Rung("cublas_fp32", "cuBLAS FP32", "FP32"),
    Rung("cublas_tf32", "cuBLAS TF32", "TF32"),
    Rung("cublas_bf16", "cuBLAS BF16", "BF16"),
)


def fits(rung: Rung, architecture: str) -> bool:
    """Whether a GPU of that architecture, say ``sm_80``, has the rung's instructions."""
    return not rung.only_on or rung.only_on == architecture


LAB_RUNGS: Final = ("naive", "tiled_32", "register_blocked", "cublas_fp32")
"""The rows of Lab 1: three kernels in the order of the climb, and the library."""
