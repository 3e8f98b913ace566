"""Rung 4, register-blocked: each thread sums 8x8 elements of C, whose operands wait in registers.

For every 16 values read from shared memory a thread now does 64 multiply-adds, where a tiled kernel's
does one for two; global traffic falls to 1/128 of the naive. A's tile is stored transposed, so that the
values a thread needs of either tile lie side by side, 4 and 4, and are fetched by 128-bit loads.
"""

from numba import cuda, float32, int64, uint32

DTYPE = "float32"
BLOCK_M, BLOCK_N, BLOCK_K = 128, 128, 8
THREAD_M, THREAD_N = 8, 8
HALF_M, HALF_N = BLOCK_M // 2, BLOCK_N // 2
THREADS_N = BLOCK_N // THREAD_N
THREADS = THREADS_N * (BLOCK_M // THREAD_M)
SHARED_BYTES = 0

# 4 elements of padding keep 128-bit alignment and spread the transposed stores over the banks.
A_PITCH, B_PITCH = BLOCK_M + 4, BLOCK_N + 4

# All threads together load A_ROWS rows of A's tile at once, and B_ROWS rows of B's.
A_ROWS, B_ROWS = THREADS // BLOCK_K, THREADS // BLOCK_N
PASSES = BLOCK_M // A_ROWS  # the same for both tiles


@cuda.jit(device=True, forceinline=True)
def add_products(sums, As, Bs, k, tx, ty):
    """Add column k of A's tile times row k of B's: this thread's rows and columns of them."""
    a = cuda.local.array(THREAD_M, float32)
    b = cuda.local.array(THREAD_N, float32)
    for m in range(4):
        a[m] = As[k, ty * 4 + m]
    for m in range(4):
        a[4 + m] = As[k, HALF_M + ty * 4 + m]
    for n in range(4):
        b[n] = Bs[k, tx * 4 + n]
    for n in range(4):
        b[4 + n] = Bs[k, HALF_N + tx * 4 + n]
    for m in range(THREAD_M):
        for n in range(THREAD_N):
            sums[m, n] += a[m] * b[n]


@cuda.jit(device=True, forceinline=True)
def load_elements(next_a, next_b, A, B, rows, col, a_k, b_k, k0, K):
    """This thread's elements of the tiles at k0; beyond K they count as zero."""
    if k0 + BLOCK_K <= K:
        for p in range(PASSES):
            next_a[p] = A[rows[p], k0 + a_k]
            next_b[p] = B[k0 + b_k + p * B_ROWS, col]
    else:
        for p in range(PASSES):
            k = k0 + b_k + p * B_ROWS
            next_a[p] = A[rows[p], k0 + a_k] if k0 + a_k < K else float32(0.0)
            next_b[p] = B[k, col] if k < K else float32(0.0)


@cuda.jit(fastmath=True)
def register_blocked(A, B, C, M, N, K):
    As = cuda.shared.array((BLOCK_K, A_PITCH), float32, alignment=16)
    Bs = cuda.shared.array((BLOCK_K, B_PITCH), float32, alignment=16)
    sums = cuda.local.array((THREAD_M, THREAD_N), float32)
    next_a = cuda.local.array(PASSES, float32)
    next_b = cuda.local.array(PASSES, float32)
    rows = cuda.local.array(PASSES, int64)

    tid = uint32(cuda.threadIdx.x)
    tx, ty = tid % THREADS_N, tid // THREADS_N
    row0 = cuda.blockIdx.y * BLOCK_M
    col0 = cuda.blockIdx.x * BLOCK_N
    for m in range(THREAD_M):
        for n in range(THREAD_N):
            sums[m, n] = float32(0.0)

    # The elements that this thread loads. Past the edge of C it loads the last row or column again:
    # nobody stores what comes of them, and so only k has to be guarded.
    a_row, a_k = tid // BLOCK_K, tid % BLOCK_K
    b_k, b_col = tid // BLOCK_N, tid % BLOCK_N
    for p in range(PASSES):
        rows[p] = min(row0 + a_row + p * A_ROWS, M - 1)
    col = min(col0 + b_col, N - 1)

    load_elements(next_a, next_b, A, B, rows, col, a_k, b_k, 0, K)
    k0 = 0
    while k0 < K:
        for p in range(PASSES):
            As[a_k, a_row + p * A_ROWS] = next_a[p]
            Bs[b_k + p * B_ROWS, b_col] = next_b[p]
        cuda.syncthreads()
        k0 += BLOCK_K
        load_elements(next_a, next_b, A, B, rows, col, a_k, b_k, k0, K)
        # Written out: the compiler would leave a loop, and its arithmetic, standing.
        add_products(sums, As, Bs, 0, tx, ty)
        add_products(sums, As, Bs, 1, tx, ty)
        add_products(sums, As, Bs, 2, tx, ty)
        add_products(sums, As, Bs, 3, tx, ty)
        add_products(sums, As, Bs, 4, tx, ty)
        add_products(sums, As, Bs, 5, tx, ty)
        add_products(sums, As, Bs, 6, tx, ty)
        add_products(sums, As, Bs, 7, tx, ty)
        cuda.syncthreads()

    for m in range(THREAD_M):
        r = row0 + (ty * 4 + m if m < 4 else HALF_M + ty * 4 + m - 4)
        if r < M:
            for n in range(THREAD_N):
                c = col0 + (tx * 4 + n if n < 4 else HALF_N + tx * 4 + n - 4)
                if c < N:
                    C[r, c] = sums[m, n]


KERNEL = register_blocked


def launch_config(M, N, K):
    """(grid, block): a block of threads for each BLOCK_M x BLOCK_N of C, x counting columns."""
    return (-(-N // BLOCK_N), -(-M // BLOCK_M)), (THREADS,)
