"""cuBLAS through CuPy in the arithmetic of a rung: FP32 with TF32 off, TF32, BF16 with FP32 sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import cublas, runtime

from grader.gpu.ladder_bench import RungArrays

__all__ = ["library_launch"]

_ONE, _ZERO = np.ones(1, np.float32), np.zeros(1, np.float32)


def library_launch(arrays: RungArrays, arithmetic: str) -> Callable[[], Any]:
    """Give a launch of ``out = left @ right`` on the default stream.

    cuBLAS stores by columns, so it is given the transposes, which are the same bytes: C' = B' A'.
    CuPy has no bfloat16: its bits are uint16 arrays, and only cuBLAS is told what they mean.
    """
    inputs, sums = runtime.CUDA_R_16BF if arithmetic == "BF16" else runtime.CUDA_R_32F, runtime.CUDA_R_32F
    tf32 = arithmetic == "TF32"
    compute = cublas.CUBLAS_COMPUTE_32F_FAST_TF32 if tf32 else cublas.CUBLAS_COMPUTE_32F
    M, N, K = arrays.M, arrays.N, arrays.K
    handle = cp.cuda.device.get_cublas_handle()
    right, left, out = (array.data.ptr for array in (arrays.right, arrays.left, arrays.out))

    def launch() -> None:
        cublas.gemmEx(
            *(handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, N, M, K),
            *(_ONE.ctypes.data, right, inputs, N, left, inputs, K),
            *(_ZERO.ctypes.data, out, sums, N, compute, cublas.CUBLAS_GEMM_DEFAULT),
        )

    cublas.setMathMode(handle, cublas.CUBLAS_DEFAULT_MATH)
    return launch
