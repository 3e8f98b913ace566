"""Rung 6, tensor cores: bfloat16 operands, float32 sums, and a warp that multiplies as one.

One ``mma`` multiplies a 16x16 piece of A by a 16x8 piece of B, spread over the registers of a warp.
``ldmatrix`` deals the pieces out from shared memory; for B it transposes them on the way, so that both
matrices stay row-major. A warp sums 64x64 elements of C, a block 256x128. While one slice of a tile is
multiplied, the fragments of the next are read and later tiles are copied in, STAGES of them in a ring.

A (M, K) and B (K, N) are row-major uint16 arrays that hold bfloat16 bits; C is float32. Where K or N is
no multiple of 8, rows are not aligned for 16-byte copies, and elements are copied one by one.
"""

from numba import cuda, float32, int32, uint16, uint32

from grader.gpu.ptx import (
    cp_async_16_bytes,
    cp_async_commit,
    cp_async_wait,
    ldmatrix_x4,
    ldmatrix_x4_trans,
    mma_bf16,
)

DTYPE = "bfloat16"
BLOCK_M, BLOCK_N, BLOCK_K = 256, 128, 64
WARP_M, WARP_N = 64, 64
STAGES = 3
IN_FLIGHT = STAGES - 2  # tiles that may still be on their way when one is needed
AHEAD = STAGES - 1

WARPS_N = BLOCK_N // WARP_N
THREADS = 32 * WARPS_N * (BLOCK_M // WARP_M)

# Rows are 8 elements longer than the tile: eight rows of 16 bytes then lie in different banks.
A_PITCH, B_PITCH = BLOCK_K + 8, BLOCK_N + 8
B_TILE = BLOCK_M * A_PITCH  # where B's part of a stage begins
STAGE = B_TILE + BLOCK_K * B_PITCH
RING = STAGES * STAGE
SHARED_BYTES = 2 * RING

# A thread copies 8 elements at a time: so many to a row, so many rows in a pass of the block.
A_CHUNKS, B_CHUNKS = BLOCK_K // 8, BLOCK_N // 8
A_ROWS, B_ROWS = THREADS // A_CHUNKS, THREADS // B_CHUNKS
A_PASSES, B_PASSES = BLOCK_M // A_ROWS, BLOCK_K // B_ROWS

# Pieces of 16 rows and of 8 columns that a warp multiplies in a slice of 16 along k.
PIECES_M, PIECES_N, PAIRS_N = WARP_M // 16, WARP_N // 8, WARP_N // 16
A_REGISTERS, B_REGISTERS, SUMS = 4 * PIECES_M, 2 * PIECES_N, 4 * PIECES_M * PIECES_N


@cuda.jit(device=True, forceinline=True)
def copy_a(tiles, to, A, source, rows_left, k_left, K):
    """Start this thread's copies of a tile of A. What lies outside the matrix becomes zero."""
    for p in range(A_PASSES):
        count = 8 if k_left > 0 and rows_left > p * A_ROWS else 0
        cp_async_16_bytes(tiles, to + p * A_ROWS * A_PITCH, A, source + p * A_ROWS * K, count)


@cuda.jit(device=True, forceinline=True)
def copy_b(tiles, to, B, source, k_left, cols_left, N):
    """The same for B."""
    for p in range(B_PASSES):
        count = 8 if k_left > p * B_ROWS and cols_left > 0 else 0
        cp_async_16_bytes(tiles, to + p * B_ROWS * B_PITCH, B, source + p * B_ROWS * N, count)


@cuda.jit(device=True, forceinline=True)
def load_fragments(a, b, tiles, at_a, at_b, s):
    """A warp's rows of A and columns of B, of slice s: 16 along k."""
    for i in range(PIECES_M):
        ldmatrix_x4(a, 4 * i, tiles, at_a + i * 16 * A_PITCH + s * 16)
    for j in range(PAIRS_N):
        ldmatrix_x4_trans(b, 4 * j, tiles, at_b + j * 16 + s * 16 * B_PITCH)


@cuda.jit(device=True, forceinline=True)
def multiply(sums, a, b):
    """Add the product of a slice's fragments."""
    for i in range(PIECES_M):
        for j in range(PIECES_N):
            mma_bf16(sums, 4 * (i * PIECES_N + j), a, 4 * i, b, 2 * j)


@cuda.jit(device=True, forceinline=True)
def sum_products(sums, tiles, A, B, row0, col0, lane_a, lane_b, M, N, K):
    """Add the block's rows of A times its columns of B, in a pipeline; for 16-byte aligned rows."""
    a = cuda.local.array(A_REGISTERS, uint32)
    b = cuda.local.array(B_REGISTERS, uint32)
    next_a = cuda.local.array(A_REGISTERS, uint32)
    next_b = cuda.local.array(B_REGISTERS, uint32)

    # Where this thread's first chunk of a tile comes from and goes to, and what is left from there on.
    tid = uint32(cuda.threadIdx.x)
    a_row, a_k = tid // A_CHUNKS, tid % A_CHUNKS * 8
    b_k, b_col = tid // B_CHUNKS, tid % B_CHUNKS * 8
    to_a, to_b = a_row * A_PITCH + a_k, B_TILE + b_k * B_PITCH + b_col
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
    cp_async_wait(IN_FLIGHT)
    cuda.syncthreads()
    load_fragments(a, b, tiles, lane_a, lane_b, 0)
    k0 = 0
    while k0 < K:
        at_a, at_b = stage + lane_a, stage + lane_b
        load_fragments(next_a, next_b, tiles, at_a, at_b, 1)
        # The stage that is filled now was read to its end before the last barrier.
        copy_a(tiles, fill + to_a, A, from_a, rows_left, ka_left, K)
        multiply(sums, a, b)
        load_fragments(a, b, tiles, at_a, at_b, 2)
        copy_b(tiles, fill + to_b, B, from_b, kb_left, cols_left, N)
        cp_async_commit()
        multiply(sums, next_a, next_b)
        load_fragments(next_a, next_b, tiles, at_a, at_b, 3)
        multiply(sums, a, b)

        from_a, from_b = from_a + BLOCK_K, from_b + BLOCK_K * N
        ka_left, kb_left = int32(ka_left - BLOCK_K), int32(kb_left - BLOCK_K)
        k0 += BLOCK_K
        stage = stage + STAGE if stage + STAGE < RING else 0
        fill = fill + STAGE if fill + STAGE < RING else 0
        cp_async_wait(IN_FLIGHT)
        cuda.syncthreads()
        load_fragments(a, b, tiles, stage + lane_a, stage + lane_b, 0)
        multiply(sums, next_a, next_b)


@cuda.jit(device=True, forceinline=True)
def sum_products_unaligned(sums, tiles, A, B, row0, col0, lane_a, lane_b, M, N, K):
    """As sum_products for rows of any length: a tile after the other, copied element by element."""
    a = cuda.local.array(A_REGISTERS, uint32)
    b = cuda.local.array(B_REGISTERS, uint32)
    tid = uint32(cuda.threadIdx.x)
    k0 = 0
    while k0 < K:
        for i in range(tid, BLOCK_M * BLOCK_K, THREADS):
            r, k = i // BLOCK_K, i % BLOCK_K
            inside = row0 + r < M and k0 + k < K
            tiles[r * A_PITCH + k] = A[row0 + r, k0 + k] if inside else uint16(0)
        for i in range(tid, BLOCK_K * BLOCK_N, THREADS):
            k, c = i // BLOCK_N, i % BLOCK_N
            inside = k0 + k < K and col0 + c < N
            tiles[B_TILE + k * B_PITCH + c] = B[k0 + k, col0 + c] if inside else uint16(0)
        cuda.syncthreads()
        for s in range(BLOCK_K // 16):
            load_fragments(a, b, tiles, lane_a, lane_b, s)
            multiply(sums, a, b)
        cuda.syncthreads()
        k0 += BLOCK_K


@cuda.jit(fastmath=True, launch_bounds=(THREADS, 1))
def tensor_cores(A, B, C, M, N, K):
    tiles = cuda.shared.array(0, uint16, alignment=16)
    sums = cuda.local.array(SUMS, float32)
    for i in range(SUMS):
        sums[i] = float32(0.0)
    row0 = cuda.blockIdx.y * BLOCK_M
    col0 = cuda.blockIdx.x * BLOCK_N
    tid = uint32(cuda.threadIdx.x)
    warp, lane = tid // 32, tid % 32
    warp_row, warp_col = warp // WARPS_N * WARP_M, warp % WARPS_N * WARP_N
    # Which row of a 16x16 piece this lane shows to ldmatrix: the upper 16 lanes point 8 elements on.
    lane_a = (warp_row + lane % 16) * A_PITCH + lane // 16 * 8
    lane_b = B_TILE + lane % 16 * B_PITCH + warp_col + lane // 16 * 8

    if K % 8 == 0 and N % 8 == 0:
        sum_products(sums, tiles, A, B, row0, col0, lane_a, lane_b, M, N, K)
    else:
        sum_products_unaligned(sums, tiles, A, B, row0, col0, lane_a, lane_b, M, N, K)
    cp_async_wait(0)

    for i in range(PIECES_M):
        for j in range(PIECES_N):
            at = 4 * (i * PIECES_N + j)
            r = row0 + warp_row + i * 16 + lane // 4
            c = col0 + warp_col + j * 8 + lane % 4 * 2
            if r < M and c < N:
                C[r, c] = sums[at]
            if r < M and c + 1 < N:
                C[r, c + 1] = sums[at + 1]
            if r + 8 < M and c < N:
                C[r + 8, c] = sums[at + 2]
            if r + 8 < M and c + 1 < N:
                C[r + 8, c + 1] = sums[at + 3]


KERNEL = tensor_cores


def launch_config(M, N, K):
    """(grid, block): a block of threads for each BLOCK_M x BLOCK_N of C, x counting columns."""
    return (-(-N // BLOCK_N), -(-M // BLOCK_M)), (THREADS,)
