"""Rung 7, warpgroups: four warps multiply as one, straight from shared memory, while they go on.

``wgmma`` reads both operands where the copies have put them, so no fragment passes through a register,
and it runs on while the threads start the next copies. A warpgroup sums 64x256 elements of C, a block
128x256. Rows of 128 bytes are no longer padded: their 16-byte pieces are swizzled, as wgmma wants them,
and eight rows of one column still lie in different banks. Compute capability 9.0.

A (M, K) and B (K, N) are row-major uint16 arrays that hold bfloat16 bits; C is float32. Where K or N is
no multiple of 8, rows are not aligned for 16-byte copies, and elements are copied one by one.
"""

from numba import cuda, float32, int32, uint16, uint32

from grader.gpu.ptx import (
    cp_async_16_bytes,
    cp_async_commit,
    cp_async_wait,
    fence_proxy_async,
    store2,
    wgmma_bf16,
    wgmma_wait,
)

DTYPE = "bfloat16"
GROUPS = 2  # warpgroups of a block
GROUP_M = 64
BLOCK_M, BLOCK_N, BLOCK_K = GROUP_M * GROUPS, 256, 64
THREADS = 128 * GROUPS
STAGES = 4
# A stage is filled again when two tiles were multiplied since: one may still be under way.
AHEAD = STAGES - 2
IN_FLIGHT = AHEAD - 1  # tiles that may still be copied when one is needed

PANEL = 64 * BLOCK_K  # 64 columns of a tile of B
B_TILE = BLOCK_M * BLOCK_K  # where B's part of a stage begins
STAGE = B_TILE + BLOCK_N * BLOCK_K
RING = STAGES * STAGE
SHARED_BYTES = 2 * RING

# A thread copies 8 elements at a time: so many to a row, so many rows in a pass of the block.
A_PIECES, B_PIECES = BLOCK_K // 8, BLOCK_N // 8
A_ROWS, B_ROWS = THREADS // A_PIECES, THREADS // B_PIECES
A_PASSES, B_PASSES = BLOCK_M // A_ROWS, BLOCK_K // B_ROWS
SUMS = GROUP_M * BLOCK_N // 128


@cuda.jit(device=True, forceinline=True)
def place_a(r, k):
    """Where element (r, k) of a tile of A lies in its stage."""
    return r * 64 + ((k // 8) ^ (r % 8)) * 8 + k % 8


@cuda.jit(device=True, forceinline=True)
def place_b(k, c):
    """Where element (k, c) of a tile of B lies in its stage."""
    return B_TILE + c // 64 * PANEL + k * 64 + ((c % 64 // 8) ^ (k % 8)) * 8 + c % 8


@cuda.jit(device=True, forceinline=True)
def copy_a(tiles, to, A, source, rows_left, k_left, K):
    """Start this thread's copies of a tile of A. What lies outside the matrix becomes zero."""
    for p in range(A_PASSES):
        count = 8 if k_left > 0 and rows_left > p * A_ROWS else 0
        cp_async_16_bytes(tiles, to + p * A_ROWS * 64, A, source + p * A_ROWS * K, count)


@cuda.jit(device=True, forceinline=True)
def copy_b(tiles, to, B, source, k_left, cols_left, N):
    """The same for B."""
    for p in range(B_PASSES):
        count = 8 if k_left > p * B_ROWS and cols_left > 0 else 0
        cp_async_16_bytes(tiles, to + p * B_ROWS * 64, B, source + p * B_ROWS * N, count)


@cuda.jit(device=True, forceinline=True)
def sum_products(sums, tiles, A, B, row0, col0, group, M, N, K):
    """Add the block's rows of A times its columns of B, in a pipeline; for 16-byte aligned rows."""
    # Where this thread's first piece of a tile comes from and goes to, and what is left from there on.
    # The rows of its further pieces are a multiple of 8 on: they are swizzled alike.
    tid = uint32(cuda.threadIdx.x)
    a_row, a_k = tid // A_PIECES, tid % A_PIECES * 8
    b_k, b_col = tid // B_PIECES, tid % B_PIECES * 8
    to_a, to_b = place_a(a_row, a_k), place_b(b_k, b_col)
    from_a, from_b = (row0 + a_row) * K + a_k, b_k * N + col0 + b_col
    rows_left, cols_left = int32(M - row0 - a_row), int32(N - col0 - b_col)
    ka_left, kb_left = int32(K - a_k), int32(K - b_k)

    for stage in range(0, AHEAD * STAGE, STAGE):
        copy_a(tiles, stage + to_a, A, from_a, rows_left, ka_left, K)
        copy_b(tiles, stage + to_b, B, from_b, kb_left, cols_left, N)
        cp_async_commit()
        from_a, from_b = from_a + BLOCK_K, from_b + BLOCK_K * N
        ka_left, kb_left = int32(ka_left - BLOCK_K), int32(kb_left - BLOCK_K)

    stage, fill = 0, AHEAD * STAGE
    k0 = 0
    while k0 < K:
        cp_async_wait(IN_FLIGHT)
        fence_proxy_async()
        cuda.syncthreads()
        wgmma_bf16(sums, 0, BLOCK_N, tiles, stage + group * GROUP_M * BLOCK_K, stage + B_TILE)
        # The stage that is filled now was multiplied before the last barrier.
        copy_a(tiles, fill + to_a, A, from_a, rows_left, ka_left, K)
        copy_b(tiles, fill + to_b, B, from_b, kb_left, cols_left, N)
        cp_async_commit()
        from_a, from_b = from_a + BLOCK_K, from_b + BLOCK_K * N
        ka_left, kb_left = int32(ka_left - BLOCK_K), int32(kb_left - BLOCK_K)
        k0 += BLOCK_K
        stage = stage + STAGE if stage + STAGE < RING else 0
        fill = fill + STAGE if fill + STAGE < RING else 0
        wgmma_wait(1)
    wgmma_wait(0)


@cuda.jit(device=True, forceinline=True)
def sum_products_unaligned(sums, tiles, A, B, row0, col0, group, M, N, K):
    """As sum_products for rows of any length: a tile after the other, copied element by element."""
    tid = uint32(cuda.threadIdx.x)
    k0 = 0
    while k0 < K:
        for i in range(tid, BLOCK_M * BLOCK_K, THREADS):
            r, k = i // BLOCK_K, i % BLOCK_K
            inside = row0 + r < M and k0 + k < K
            tiles[place_a(r, k)] = A[row0 + r, k0 + k] if inside else uint16(0)
        for i in range(tid, BLOCK_K * BLOCK_N, THREADS):
            k, c = i // BLOCK_N, i % BLOCK_N
            inside = k0 + k < K and col0 + c < N
            tiles[place_b(k, c)] = B[k0 + k, col0 + c] if inside else uint16(0)
        fence_proxy_async()
        cuda.syncthreads()
        wgmma_bf16(sums, 0, BLOCK_N, tiles, group * GROUP_M * BLOCK_K, B_TILE)
        wgmma_wait(0)
        cuda.syncthreads()
        k0 += BLOCK_K


@cuda.jit(fastmath=True, launch_bounds=(THREADS, 1))
def warpgroups(A, B, C, M, N, K):
    tiles = cuda.shared.array(0, uint16, alignment=1024)
    sums = cuda.local.array(SUMS, float32)
    for i in range(SUMS):
        sums[i] = float32(0.0)
    row0 = cuda.blockIdx.y * BLOCK_M
    col0 = cuda.blockIdx.x * BLOCK_N
    tid = uint32(cuda.threadIdx.x)
    group, warp, lane = tid // 128, tid % 128 // 32, tid % 32

    if K % 8 == 0 and N % 8 == 0:
        sum_products(sums, tiles, A, B, row0, col0, group, M, N, K)
    else:
        sum_products_unaligned(sums, tiles, A, B, row0, col0, group, M, N, K)
    cp_async_wait(0)

    upper = row0 + group * GROUP_M + warp * 16 + lane // 4
    lower = upper + 8
    left = col0 + lane % 4 * 2
    if N % 2 == 0:
        for j in range(SUMS // 4):
            c = left + j * 8
            if upper < M and c < N:
                store2(C, upper * N + c, sums, 4 * j)
            if lower < M and c < N:
                store2(C, lower * N + c, sums, 4 * j + 2)
    else:
        for j in range(SUMS // 4):
            c = left + j * 8
            if upper < M and c < N:
                C[upper, c] = sums[4 * j]
            if upper < M and c + 1 < N:
                C[upper, c + 1] = sums[4 * j + 1]
            if lower < M and c < N:
                C[lower, c] = sums[4 * j + 2]
            if lower < M and c + 1 < N:
                C[lower, c + 1] = sums[4 * j + 3]


KERNEL = warpgroups


def launch_config(M, N, K):
    """(grid, block): a block of threads for each BLOCK_M x BLOCK_N of C, x counting columns."""
    return (-(-N // BLOCK_N), -(-M // BLOCK_M)), (THREADS,)
