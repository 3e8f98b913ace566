"""The vendor's library beside a kernel: cuBLAS through CuPy on the same arrays. Runs inside the GPU child."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["NoLibrary", "product_by_cublas"]


class NoLibrary(Exception):
    """cuBLAS cannot be had here; ``str()`` is one of "no-cupy", "cupy-failed"."""


def product_by_cublas(left: Any, right: Any, out: Any, *, tf32: bool = False) -> Callable[[], Any]:
    """Give a launch of ``out = left @ right`` on the default stream, of float32 or float64.

    The three are device arrays of numba's. cuBLAS stores by columns, so it is given the transposes, which
    are the same bytes: C' = B' A'. Its compute type is that of the inputs; ``tf32`` lets it round float32
    ones, which a product that passes the bench's check cannot have done. Raises ``NoLibrary``.
    """
    try:
        cupy: Any = importlib.import_module("cupy")
        cublas: Any = cupy.cuda.cublas
    except Exception:  # noqa: BLE001 - not installed, or not for this CUDA
        raise NoLibrary("no-cupy") from None
    (M, K), N = left.shape, right.shape[1]
    double = left.dtype == np.float64
    kind = cupy.cuda.runtime.CUDA_R_64F if double else cupy.cuda.runtime.CUDA_R_32F
    compute = cublas.CUBLAS_COMPUTE_64F if double else cublas.CUBLAS_COMPUTE_32F
    if tf32 and not double:
        compute = cublas.CUBLAS_COMPUTE_32F_FAST_TF32
    one, zero = np.ones(1, left.dtype), np.zeros(1, left.dtype)
    a, b, c = (array.__cuda_array_interface__["data"][0] for array in (left, right, out))

    def launch() -> None:
        cublas.gemmEx(
            *(handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, N, M, K),
            *(one.ctypes.data, b, kind, N, a, kind, K),
            *(zero.ctypes.data, c, kind, N, compute, cublas.CUBLAS_GEMM_DEFAULT),
        )

    try:
        handle = cupy.cuda.device.get_cublas_handle()
        cublas.setMathMode(handle, cublas.CUBLAS_DEFAULT_MATH)
        launch()
        cupy.cuda.Device().synchronize()
    except Exception:  # noqa: BLE001 - whatever cuBLAS lacks here, the kernel's own times stand
        raise NoLibrary("cupy-failed") from None
    return launch
