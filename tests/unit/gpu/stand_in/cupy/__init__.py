"""What the ladder's child uses of CuPy, on NumPy, for tests without a GPU; cuBLAS gets addresses here too."""

from __future__ import annotations

import numpy as np
from numpy import float32, float64, isnan, uint16, uint32  # noqa: F401 - names of the module

from . import cuda, random  # noqa: F401 - names of the module
from .arrays import Array

__version__ = "stand-in"


def empty(shape, dtype):
    return np.empty(shape, dtype).view(Array)


def empty_like(array):
    return np.empty_like(array).view(Array)


def matmul(left, right):
    return np.asarray(left) @ np.asarray(right)


def asnumpy(array):
    return np.array(array)


def copyto(target, source):
    np.copyto(target, source)


def ElementwiseKernel(inputs, outputs, code, name):  # noqa: N802 - as there
    def round_to_bfloat16(x, bits):
        u = np.asarray(x).view(np.uint32)
        bits[...] = ((u + np.uint32(0x7FFF) + ((u >> 16) & 1)) >> 16).astype(np.uint16)

    def widen_bfloat16(bits):
        return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32).astype(np.float64)

    return {"round_to_bfloat16": round_to_bfloat16, "widen_bfloat16": widen_bfloat16}[name]


def ReductionKernel(inputs, outputs, each, both, after, identity, name):  # noqa: N802 - as there
    def largest_error(found, wanted):
        error = np.abs(np.asarray(found, np.float64) - wanted) / wanted
        return np.where(np.isnan(error), np.inf, error).max()

    return {"largest_error": largest_error}[name]
