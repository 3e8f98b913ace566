"""Rung 3, tiled 32x32: half the traffic again, fewer shared loads, and no waiting for the next tile.

Unsigned thread numbers tell the compiler that no index is negative. Without that it makes each index
wrap around as Python's do; with it, it sees that a thread reads four neighbours of As in turn and
fetches them in one 128-bit load. The next tile's elements are loaded into registers before this tile's
products are summed, so that global memory answers while the threads compute.
"""

from numba import cuda, float32, uint32

DTYPE = "float32"
TILE = 32
SHARED_BYTES = 0


@cuda.jit(fastmath=True)
def tiled_32(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32, alignment=16)
    Bs = cuda.shared.array((TILE, TILE), float32, alignment=16)
    tx = uint32(cuda.threadIdx.x)
    ty = uint32(cuda.threadIdx.y)
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0.0)

    a = A[row, tx] if row < M and tx < K else float32(0.0)
    b = B[ty, col] if ty < K and col < N else float32(0.0)
    for k0 in range(TILE, K + TILE, TILE):
        As[ty, tx] = a
        Bs[ty, tx] = b
        cuda.syncthreads()
        a = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0.0)
        b = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0.0)
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()

    if row < M and col < N:
        C[row, col] = acc


KERNEL = tiled_32


def launch_config(M, N, K):
    """(grid, block), each as (x, y): x counts columns of C, y its rows."""
    return (-(-N // TILE), -(-M // TILE)), (TILE, TILE)
