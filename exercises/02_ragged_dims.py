"""Exercise 02: matrix dimensions that are no multiple of the tile.

C = A @ B again, in TILE x TILE tiles, for any M, N and K. The kernel below compiles and runs; both
barriers are in place and its loads never leave the matrices. The grader shows you three shapes:

    M, N, K = 4*TILE, 4*TILE, 4*TILE     every dimension a multiple of TILE
    M, N, K = 50, 37, 4*TILE             M and N ragged, K a multiple of TILE
    M, N, K = 50, 37, 2.5*TILE           all three ragged

Two of them pass. Find out what goes wrong on the third and mend the kernel, so that it is right for
every M, N and K, then answer the questions at the end of this file. Start by grading it as it is:

    make check 02_ragged_dims        or        grader check 02_ragged_dims
"""

HOW_TO_GRADE = (
    "02_ragged_dims.py needs numba-cuda and a GPU to run; to grade it without them: "
    "make check 02_ragged_dims (or: grader check 02_ragged_dims)"
)

try:
    import numpy as np
    from numba import config, cuda, float32
except ImportError:
    raise SystemExit(HOW_TO_GRADE) from None

# Width and height of a tile, and of a block of threads. The grader accepts 4, 8, 16 and 32: try them.
TILE = 16


@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    """One thread for each element of C; the operands pass through two tiles in shared memory."""
    As = cuda.shared.array((TILE, TILE), dtype=float32)
    Bs = cuda.shared.array((TILE, TILE), dtype=float32)

    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx

    acc = float32(0.0)
    # Rounded up: where K is no multiple of TILE, the last k-tile lies partly outside A and B.
    for t in range((K + TILE - 1) // TILE):
        a_col = t * TILE + tx
        b_row = t * TILE + ty
        # Elements outside A or B must not be read, so each load has a guard.
        if row < M and a_col < K:
            As[ty, tx] = A[row, a_col]
        if b_row < K and col < N:
            Bs[ty, tx] = B[b_row, col]
        cuda.syncthreads()

        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()

    # Blocks at the edge have threads beyond the last row or column of C.
    if row < M and col < N:
        C[row, col] = acc


# Questions, about this kernel as you found it, with TILE = 16.
#
# ragged_m_n. Why does 50, 37, 64 pass, although the guards are false for many threads there?
#   "a"  numba fills shared memory with zeros before the kernel starts
#   "b"  a slot that is skipped belongs to a row or column beyond the edge of C, and only threads
#        beyond that edge read it; the guard of the store throws their sums away
#   "c"  the guards are false only in blocks that lie entirely outside C
#   "d"  the skipped slots are read, but the tolerance is wide enough for the error
#
# Now take the guard off the store, so that every thread runs C[row, col] = acc, and let M, N, K be
# 50, 37, 64. You may try it: the grader shows where such a store lands.
#
# lands_in_row, lands_in_column. Which element of C does the thread with row = 0 and col = 40 write?
#
# leaves_c. Which is the lowest row that has a thread whose store lies beyond the end of C, outside
#   its memory altogether?
# Put your answers between the quotes: a letter, then three numbers.
ANSWERS = {
    "ragged_m_n": "",
    "lands_in_row": "",
    "lands_in_column": "",
    "leaves_c": "",
}


# What follows runs only when this file is started as a script on a machine with a GPU.


@cuda.jit
def naive_matmul(A, B, C, M, N, K):
    """The same product without tiles: what the speed-up is measured against."""
    col, row = cuda.grid(2)
    if row < M and col < N:
        acc = float32(0.0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


SHAPES = (
    (4 * TILE, 4 * TILE, 4 * TILE),
    (50, 37, 4 * TILE),
    (50, 37, 5 * TILE // 2),
    (1000, 700, 1024),
    (1000, 700, 1000),
)


def milliseconds(kernel, grid, block, args, repeats=10):
    """Mean time of one launch in ms, by GPU events; the first launch, which compiles, is not counted."""
    kernel[grid, block](*args)
    start, end = cuda.event(), cuda.event()
    start.record()
    for _ in range(repeats):
        kernel[grid, block](*args)
    end.record()
    end.synchronize()
    return cuda.event_elapsed_time(start, end) / repeats


def main():
    """Launch the kernel on every shape, compare with a float64 product and print a line for each."""
    if config.ENABLE_CUDASIM or not cuda.is_available():
        raise SystemExit(HOW_TO_GRADE)
    rng = np.random.default_rng(2)
    print(f"{'M, N, K':<18}{'ms':>10}{'GFLOP/s':>12}{'speed-up':>10}{'max rel err':>13}")
    for M, N, K in SHAPES:
        a = rng.random((M, K), dtype=np.float32)
        b = rng.random((K, N), dtype=np.float32)
        exact = a.astype(np.float64) @ b.astype(np.float64)
        A, B = cuda.to_device(a), cuda.to_device(b)
        # NaN marks every element that the kernel leaves unwritten.
        C = cuda.to_device(np.full((M, N), np.nan, dtype=np.float32))
        grid, block = ((N + TILE - 1) // TILE, (M + TILE - 1) // TILE), (TILE, TILE)
        baseline = milliseconds(naive_matmul, grid, block, (A, B, cuda.device_array_like(C), M, N, K))
        ms = milliseconds(tiled_matmul, grid, block, (A, B, C, M, N, K))
        error = np.max(np.abs(C.copy_to_host() - exact) / exact)
        verdict = "" if error < 1e-4 else "   WRONG"
        gflops = 2 * M * N * K / ms / 1e6
        shape = f"{M}, {N}, {K}"
        print(f"{shape:<18}{ms:>10.3f}{gflops:>12.1f}{baseline / ms:>10.2f}{error:>13.1e}{verdict}")


if __name__ == "__main__":
    main()
