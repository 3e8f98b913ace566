"""Rung 1, naive: one thread for each element of C, every operand straight from global memory.

2 flops for every two values loaded; neighbouring threads load most of the same values over again.
"""

from numba import cuda, float32

DTYPE = "float32"
BLOCK = 16
SHARED_BYTES = 0


@cuda.jit(fastmath=True)
def naive(A, B, C, M, N, K):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row < M and col < N:
        acc = float32(0.0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


KERNEL = naive


def launch_config(M, N, K):
    """(grid, block), each as (x, y): x counts columns of C, y its rows."""
    return (-(-N // BLOCK), -(-M // BLOCK)), (BLOCK, BLOCK)
