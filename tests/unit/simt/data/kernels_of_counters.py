"""The kernels whose counters were read from hardware (counters.csv), written for the machine."""

from numba import cuda, float32


@cuda.jit
def naive(A, B, C, M, N, K):
    col, row = cuda.grid(2)
    if row < M and col < N:
        total = float32(0)
        for k in range(K):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@cuda.jit
def naive_row_on_x(A, B, C, M, N, K):
    row, col = cuda.grid(2)
    if row < M and col < N:
        total = float32(0)
        for k in range(K):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@cuda.jit
def tiled16(A, B, C, M, N, K):
    a_tile = cuda.shared.array((16, 16), float32)
    b_tile = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * 16 + y
    col = cuda.blockIdx.x * 16 + x
    total = float32(0)
    for start in range(0, (K + 16 - 1) // 16 * 16, 16):
        a_tile[y, x] = A[row, start + x] if row < M and start + x < K else float32(0)
        b_tile[y, x] = B[start + y, col] if start + y < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = total


@cuda.jit
def tiled32(A, B, C, M, N, K):
    a_tile = cuda.shared.array((32, 32), float32)
    b_tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * 32 + y
    col = cuda.blockIdx.x * 32 + x
    total = float32(0)
    for start in range(0, (K + 32 - 1) // 32 * 32, 32):
        a_tile[y, x] = A[row, start + x] if row < M and start + x < K else float32(0)
        b_tile[y, x] = B[start + y, col] if start + y < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(32):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = total


@cuda.jit
def tiled32_at_transposed(A, B, C, M, N, K):
    a_tile = cuda.shared.array((32, 32), float32)
    b_tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * 32 + y
    col = cuda.blockIdx.x * 32 + x
    total = float32(0)
    for start in range(0, (K + 32 - 1) // 32 * 32, 32):
        a_tile[x, y] = A[row, start + x] if row < M and start + x < K else float32(0)
        b_tile[y, x] = B[start + y, col] if start + y < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(32):
            total += a_tile[k, y] * b_tile[k, x]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = total


@cuda.jit
def tiled32_at_padded(A, B, C, M, N, K):
    a_tile = cuda.shared.array((32, 33), float32)
    b_tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * 32 + y
    col = cuda.blockIdx.x * 32 + x
    total = float32(0)
    for start in range(0, (K + 32 - 1) // 32 * 32, 32):
        a_tile[x, y] = A[row, start + x] if row < M and start + x < K else float32(0)
        b_tile[y, x] = B[start + y, col] if start + y < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(32):
            total += a_tile[k, y] * b_tile[k, x]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = total


@cuda.jit
def tiled16_row_on_x(A, B, C, M, N, K):
    a_tile = cuda.shared.array((16, 16), float32)
    b_tile = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + x
    col = cuda.blockIdx.y * 16 + y
    total = float32(0)
    for start in range(0, (K + 16 - 1) // 16 * 16, 16):
        a_tile[x, y] = A[row, start + y] if row < M and start + y < K else float32(0)
        b_tile[x, y] = B[start + x, col] if start + x < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            total += a_tile[x, k] * b_tile[k, y]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = total


BM, BK, TM = 64, 8, 4


@cuda.jit
def register_blocked(A, B, C, M, N, K):
    a_tile = cuda.shared.array((BK, BM), float32)
    b_tile = cuda.shared.array((BK, BM), float32)
    sums = cuda.local.array((TM, TM), float32)
    left = cuda.local.array(TM, float32)
    right = cuda.local.array(TM, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    flat = y * cuda.blockDim.x + x
    top = cuda.blockIdx.y * BM
    side = cuda.blockIdx.x * BM
    for m in range(TM):
        for n in range(TM):
            sums[m, n] = float32(0)
    for start in range(0, K, BK):
        for i in range(flat, BM * BK, 256):
            r, c = i // BK, i % BK
            if top + r < M and start + c < K:
                a_tile[c, r] = A[top + r, start + c]
            else:
                a_tile[c, r] = float32(0)
            r, c = i // BM, i % BM
            if start + r < K and side + c < N:
                b_tile[r, c] = B[start + r, side + c]
            else:
                b_tile[r, c] = float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for m in range(TM):
                left[m] = a_tile[k, y * TM + m]
                right[m] = b_tile[k, x * TM + m]
            for m in range(TM):
                for n in range(TM):
                    sums[m, n] += left[m] * right[n]
        cuda.syncthreads()
    for m in range(TM):
        for n in range(TM):
            row, col = top + y * TM + m, side + x * TM + n
            if row < M and col < N:
                C[row, col] = sums[m, n]


@cuda.jit
def transpose_unpadded(A, B, C, M, N, K):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x
    if row < M and col < K:
        tile[x, y] = A[row, col]
    cuda.syncthreads()
    row, col = cuda.blockIdx.x * 32 + y, cuda.blockIdx.y * 32 + x
    if row < K and col < M:
        C[row, col] = tile[y, x]


@cuda.jit
def strided_bank(A, B, C, M, N, K):
    words = cuda.shared.array(1024, float32)
    x = cuda.threadIdx.x
    words[(x * 2) % 1024] = A[0, x]
    words[(x * 2 + 1) % 1024] = A[0, x]
    cuda.syncthreads()
    C[0, x] = words[(x * 4) % 1024]
