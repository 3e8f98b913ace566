"""Rung 5, vectorised and double-buffered: 128-bit accesses, and tiles that copy themselves.

Each thread sums 16x8 elements of C, a block 256x128: fewer shared loads for each product. ``cp.async``
brings the next tiles into shared memory, STAGES of them in a ring, without registers and without waiting.
Fragments are read by 128-bit loads, one step of k ahead of the products that need them.
"""

from numba import cuda, float32, int32, uint32

from grader.gpu.ptx import (
    cp_async_4_bytes,
    cp_async_16_bytes,
    cp_async_commit,
    cp_async_wait,
    load4,
    store4,
)

DTYPE = "float32"
BLOCK_M, BLOCK_N, BLOCK_K = 256, 128, 16
THREAD_M, THREAD_N = 16, 8
THREADS_N = BLOCK_N // THREAD_N
THREADS = THREADS_N * (BLOCK_M // THREAD_M)
SUMS = THREAD_M * THREAD_N

STAGES = 3
AHEAD = STAGES - 1
IN_FLIGHT = STAGES - 2  # tiles that may still be on their way when one is needed

# A's tile is stored transposed, so that a thread's rows lie side by side; 4 elements of padding keep
# 128-bit alignment and spread the transposed stores over the banks.
A_PITCH = BLOCK_M + 4
B_TILE = BLOCK_K * A_PITCH  # where B's part of a stage begins
STAGE = B_TILE + BLOCK_K * BLOCK_N
RING = STAGES * STAGE
SHARED_BYTES = 4 * RING

# So many rows of A, of BLOCK_K elements, and of B, of BLOCK_N / 4 groups, do all threads copy at once.
A_ROWS, B_ROWS = THREADS // BLOCK_K, THREADS // (BLOCK_N // 4)
A_PASSES, B_PASSES = BLOCK_M // A_ROWS, BLOCK_K // B_ROWS


@cuda.jit(device=True, forceinline=True)
def copy_a(tiles, to, A, source, rows_left, k_left, K):
    """Start this thread's copies of a tile of A. What lies outside the matrix becomes zero."""
    for p in range(A_PASSES):
        count = 1 if k_left > 0 and rows_left > p * A_ROWS else 0
        cp_async_4_bytes(tiles, to + p * A_ROWS, A, source + p * A_ROWS * K, count)


@cuda.jit(device=True, forceinline=True)
def copy_b(tiles, to, B, source, k_left, cols_left, N, wide):
    """The same for B, 16 bytes at a time where its rows are aligned for it."""
    for p in range(B_PASSES):
        slot, element = to + p * B_ROWS * BLOCK_N, source + p * B_ROWS * N
        if wide:
            count = 4 if k_left > p * B_ROWS and cols_left > 0 else 0
            cp_async_16_bytes(tiles, slot, B, element, count)
        else:
            for e in range(4):
                count = 1 if k_left > p * B_ROWS and cols_left > e else 0
                cp_async_4_bytes(tiles, slot + e, B, element + e, count)


@cuda.jit(device=True, forceinline=True)
def load_fragments(a, b, tiles, at_a, at_b):
    """This thread's 16 rows of A and 8 columns of B, for one k: groups of 4 that lie 64 apart."""
    for g in range(THREAD_M // 4):
        load4(a, 4 * g, tiles, at_a + 64 * g)
    for g in range(THREAD_N // 4):
        load4(b, 4 * g, tiles, at_b + 64 * g)


@cuda.jit(device=True, forceinline=True)
def multiply(sums, a, b):
    """Add the outer product of the two fragments."""
    for m in range(THREAD_M):
        for n in range(THREAD_N):
            sums[m * THREAD_N + n] += a[m] * b[n]


@cuda.jit(device=True, forceinline=True)
def sum_products(sums, A, B, row0, col0, tx, ty, M, N, K, wide):
    """Add the block's rows of A times its columns of B. ``wide``, a constant: rows of B are aligned."""
    tiles = cuda.shared.array(0, float32, alignment=16)
    a = cuda.local.array(THREAD_M, float32)
    b = cuda.local.array(THREAD_N, float32)
    next_a = cuda.local.array(THREAD_M, float32)
    next_b = cuda.local.array(THREAD_N, float32)

    # Where this thread's first copies of a tile come from and go to, and what is left from there on.
    tid = uint32(cuda.threadIdx.x)
    a_row, a_k = tid // BLOCK_K, tid % BLOCK_K
    b_k, b_col = tid // (BLOCK_N // 4), tid % (BLOCK_N // 4) * 4
    to_a, to_b = a_k * A_PITCH + a_row, B_TILE + b_k * BLOCK_N + b_col
    from_a, from_b = (row0 + a_row) * K + a_k, b_k * N + col0 + b_col
    rows_left, cols_left = int32(M - row0 - a_row), int32(N - col0 - b_col)
    ka_left, kb_left = int32(K - a_k), int32(K - b_k)

    for stage in range(0, AHEAD * STAGE, STAGE):
        copy_a(tiles, stage + to_a, A, from_a, rows_left, ka_left, K)
        copy_b(tiles, stage + to_b, B, from_b, kb_left, cols_left, N, wide)
        cp_async_commit()
        from_a, from_b = from_a + BLOCK_K, from_b + BLOCK_K * N
        ka_left, kb_left = int32(ka_left - BLOCK_K), int32(kb_left - BLOCK_K)

    stage, fill = 0, AHEAD * STAGE
    cp_async_wait(IN_FLIGHT)
    cuda.syncthreads()
    load_fragments(a, b, tiles, ty * 4, B_TILE + tx * 4)
    k0 = 0
    while k0 < K:
        # The stage that is filled now was read to its end before the last barrier.
        copy_a(tiles, fill + to_a, A, from_a, rows_left, ka_left, K)
        copy_b(tiles, fill + to_b, B, from_b, kb_left, cols_left, N, wide)
        cp_async_commit()
        from_a, from_b = from_a + BLOCK_K, from_b + BLOCK_K * N
        ka_left, kb_left = int32(ka_left - BLOCK_K), int32(kb_left - BLOCK_K)
        at_a, at_b = stage + ty * 4, stage + B_TILE + tx * 4
        k = 2
        while k < BLOCK_K:
            load_fragments(next_a, next_b, tiles, at_a + A_PITCH, at_b + BLOCK_N)
            multiply(sums, a, b)
            at_a, at_b = at_a + 2 * A_PITCH, at_b + 2 * BLOCK_N
            load_fragments(a, b, tiles, at_a, at_b)
            multiply(sums, next_a, next_b)
            k += 2
        load_fragments(next_a, next_b, tiles, at_a + A_PITCH, at_b + BLOCK_N)
        multiply(sums, a, b)
        stage = stage + STAGE if stage + STAGE < RING else 0
        fill = fill + STAGE if fill + STAGE < RING else 0
        cp_async_wait(IN_FLIGHT)
        cuda.syncthreads()
        load_fragments(a, b, tiles, stage + ty * 4, stage + B_TILE + tx * 4)
        multiply(sums, next_a, next_b)
        k0 += BLOCK_K
    cp_async_wait(0)


@cuda.jit(device=True, forceinline=True)
def store_rows(C, sums, m, row, col, M, N, wide):
    """Store four of this thread's rows, m ... m + 3, which begin at C[row, col]."""
    for i in range(4):
        for g in range(THREAD_N // 4):
            c = col + 64 * g
            if row + i < M:
                if wide:
                    if c < N:
                        store4(C, (row + i) * N + c, sums, (m + i) * THREAD_N + 4 * g)
                else:
                    for e in range(4):
                        if c + e < N:
                            C[row + i, c + e] = sums[(m + i) * THREAD_N + 4 * g + e]


@cuda.jit(fastmath=True, launch_bounds=(THREADS, 1))
def vectorised(A, B, C, M, N, K):
    sums = cuda.local.array(SUMS, float32)
    for i in range(SUMS):
        sums[i] = float32(0.0)
    row0 = cuda.blockIdx.y * BLOCK_M
    col0 = cuda.blockIdx.x * BLOCK_N
    tid = uint32(cuda.threadIdx.x)
    tx, ty = tid % THREADS_N, tid // THREADS_N

    # Rows of B and C are aligned for 128-bit accesses where N is a multiple of 4. Each call is compiled
    # for its own constant.
    wide = N % 4 == 0
    if wide:
        sum_products(sums, A, B, row0, col0, tx, ty, M, N, K, True)
    else:
        sum_products(sums, A, B, row0, col0, tx, ty, M, N, K, False)

    row, col = row0 + ty * 4, col0 + tx * 4
    store_rows(C, sums, 0, row, col, M, N, wide)
    store_rows(C, sums, 4, row + 64, col, M, N, wide)
    store_rows(C, sums, 8, row + 128, col, M, N, wide)
    store_rows(C, sums, 12, row + 192, col, M, N, wide)


KERNEL = vectorised


def launch_config(M, N, K):
    """(grid, block): a block of threads for each BLOCK_M x BLOCK_N of C, x counting columns."""
    return (-(-N // BLOCK_N), -(-M // BLOCK_M)), (THREADS,)
