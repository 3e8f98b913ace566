"""Kernels of other styles than the tiled one; the machine reads this file."""

from numba import cuda, float32

TILE = 16
CELLS = TILE * TILE
BM = 64
BK = 8
TM = 4


@cuda.jit
def flat_ids(A, B, C, M, N, K):
    tile_a = cuda.shared.array(CELLS, float32)
    tile_b = cuda.shared.array(CELLS, float32)
    r = cuda.threadIdx.x // TILE
    c = cuda.threadIdx.x % TILE
    row = cuda.blockIdx.y * TILE + r
    col = cuda.blockIdx.x * TILE + c
    acc = float32(0.0)
    for k0 in range(0, K, TILE):
        tile_a[r * TILE + c] = A[row, k0 + c] if row < M and k0 + c < K else float32(0.0)
        tile_b[r * TILE + c] = B[k0 + r, col] if k0 + r < K and col < N else float32(0.0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += tile_a[r * TILE + k] * tile_b[k * TILE + c]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc


@cuda.jit
def register_blocked(A, B, C, M, N, K):
    tile_a = cuda.shared.array((BK, BM), float32)
    tile_b = cuda.shared.array((BK, BM), float32)
    acc = cuda.local.array((TM, TM), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TM, float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    tid = ty * cuda.blockDim.x + tx
    row0 = cuda.blockIdx.y * BM
    col0 = cuda.blockIdx.x * BM
    for m in range(TM):
        for n in range(TM):
            acc[m, n] = float32(0.0)
    for k0 in range(0, K, BK):
        for i in range(tid, BM * BK, 256):
            r = i // BK
            c = i % BK
            tile_a[c, r] = A[row0 + r, k0 + c] if row0 + r < M and k0 + c < K else float32(0.0)
            r = i // BM
            c = i % BM
            tile_b[r, c] = B[k0 + r, col0 + c] if k0 + r < K and col0 + c < N else float32(0.0)
        cuda.syncthreads()
        for kk in range(BK):
            for m in range(TM):
                a[m] = tile_a[kk, ty * TM + m]
                b[m] = tile_b[kk, tx * TM + m]
            for m in range(TM):
                for n in range(TM):
                    acc[m, n] += a[m] * b[n]
        cuda.syncthreads()
    for m in range(TM):
        for n in range(TM):
            r = row0 + ty * TM + m
            c = col0 + tx * TM + n
            if r < M and c < N:
                C[r, c] = acc[m, n]
