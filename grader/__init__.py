"""Tilegrade: grade numba.cuda matrix-multiply kernels without a GPU."""

__version__ = "0.1.0"
