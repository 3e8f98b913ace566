"""gemmEx as cuBLAS documents it: matrices by columns, at addresses, C = alpha A B + beta C."""

from __future__ import annotations

import ctypes

import numpy as np

CUBLAS_OP_N, CUBLAS_DEFAULT_MATH, CUBLAS_GEMM_DEFAULT = 0, 0, -1
CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32 = 68, 77


def getVersion(handle):  # noqa: N802 - as there
    return 130000


def setMathMode(handle, mode):  # noqa: N802 - as there
    assert (handle, mode) == (7, CUBLAS_DEFAULT_MATH)


def _matrix(address, kind, rows, columns, leading):
    ctype = {0: ctypes.c_float, 14: ctypes.c_uint16}[kind]
    flat = np.ctypeslib.as_array((ctype * (leading * columns)).from_address(address))
    return flat.reshape(columns, leading).T[:rows]


def _values(matrix, kind, compute):
    if kind == 14:
        return (np.ascontiguousarray(matrix).astype(np.uint32) << 16).view(np.float32)
    if compute == CUBLAS_COMPUTE_32F_FAST_TF32:
        bits = np.ascontiguousarray(matrix).view(np.uint32) + np.uint32(1 << 12)
        return (bits & np.uint32(0xFFFFE000)).view(np.float32)
    return matrix


def gemmEx(  # noqa: N802 - as there
    handle,
    op_a,
    op_b,
    m,
    n,
    k,
    alpha,
    a,
    a_kind,
    lda,
    b,
    b_kind,
    ldb,
    beta,
    c,
    c_kind,
    ldc,
    compute,
    algorithm,
):
    assert (op_a, op_b, c_kind, algorithm) == (0, 0, 0, CUBLAS_GEMM_DEFAULT)
    one, zero = (ctypes.c_float.from_address(address).value for address in (alpha, beta))
    left = _values(_matrix(a, a_kind, m, k, lda), a_kind, compute).astype(np.float64)
    right = _values(_matrix(b, b_kind, k, n, ldb), b_kind, compute).astype(np.float64)
    assert (one, zero) == (1, 0)
    _matrix(c, 0, m, n, ldc)[...] = left @ right
