"""Rung 2, tiled 16x16: the threads of a block share what they load, in tiles of shared memory.

Each value that a block fetches from global memory is used 16 times: a sixteenth of the naive traffic.
"""

from numba import cuda, float32

DTYPE = "float32"
TILE = 16
SHARED_BYTES = 0


@cuda.jit(fastmath=True)
def tiled_16(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0.0)

    for k0 in range(0, K, TILE):
        # Outside its matrix an element counts as zero: others will read the slot.
        As[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0.0)
        Bs[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0.0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()

    if row < M and col < N:
        C[row, col] = acc


KERNEL = tiled_16


def launch_config(M, N, K):
    """(grid, block), each as (x, y): x counts columns of C, y its rows."""
    return (-(-N // TILE), -(-M // TILE)), (TILE, TILE)
