"""Exercise 01: a matrix product in shared-memory tiles.

C = A @ B for row-major float32 matrices: A is (M, K), B is (K, N), C is (M, N).

``naive_matmul`` below is complete. Each of its threads computes one element of C and fetches 2 K
values from global memory to do so, although its neighbours fetch most of the same values. Your
``tiled_matmul`` computes the same with the same threads, but lets the threads of a block fetch
each value once, into shared memory, and use it TILE times from there.

What is left to write, in the places marked TODO:

1. the two tile loads: every thread of the block fetches one element of A and one of B;
2. the first barrier;
3. the inner product over the two tiles;
4. ``launch_config``: how many blocks, of what shape;
5. ``ANSWERS``: two questions about the second barrier, which is already there.

The grader reads this file without running it, so it needs no GPU:

    make check 01_tiled_matmul        or        grader check 01_tiled_matmul
"""

HOW_TO_GRADE = (
    "01_tiled_matmul.py needs numba-cuda and a GPU to run; to grade it without them: "
    "make check 01_tiled_matmul (or: grader check 01_tiled_matmul)"
)

try:
    import numpy as np
    from numba import config, cuda, float32
except ImportError:
    raise SystemExit(HOW_TO_GRADE) from None

# Width and height of a tile, and of a block of threads. The grader accepts 4, 8, 16 and 32.
TILE = 16


@cuda.jit
def naive_matmul(A, B, C, M, N, K):
    """One thread for each element of C, all operands from global memory. Given, for comparison."""
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row < M and col < N:
        acc = float32(0.0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    """One thread for each element of C; the operands pass through two tiles in shared memory."""
    # One pair of tiles for each block. Every thread of the block reads and writes the same two arrays.
    As = cuda.shared.array((TILE, TILE), dtype=float32)
    Bs = cuda.shared.array((TILE, TILE), dtype=float32)

    # x runs along a row of C, y down its columns. Threads with neighbouring tx lie in one warp.
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx

    # float32(0.0), because a bare 0.0 is a float64 in numba and would make every addition one.
    acc = float32(0.0)

    # k-tile t covers columns t*TILE ... t*TILE + TILE - 1 of A and the rows of B with those numbers.
    # The division rounds up: where K is no multiple of TILE, the last k-tile is only partly filled.
    for t in range((K + TILE - 1) // TILE):
        # TODO 1: load one element of A into As and one element of B into Bs.
        #
        # - Which column of A, and which row of B, does this thread fetch in k-tile t?
        # - Threads with neighbouring tx should fetch neighbouring addresses, that is,
        #   neighbouring columns: then one warp's fetch is a few wide transactions.
        # - M, N and K need not be multiples of TILE. A slot whose element lies outside
        #   its matrix still gets a value: the one that adds nothing to a sum.
        a_col = ...
        b_row = ...

        # TODO 2: the threads are about to read slots that other threads filled.
        # What has to happen before they may?
        ...

        # TODO 3: add this k-tile's share of the dot product to acc:
        # this thread's row of As times its column of Bs.
        ...

        # The second barrier. ANSWERS asks what it is for.
        cuda.syncthreads()

    # Threads beyond the edge of C helped to load the tiles; they have nothing to store.
    if row < M and col < N:
        C[row, col] = acc


def launch_config(M, N):
    """(grid, block) for an (M, N) output, each as (x, y): x counts columns, y counts rows."""
    # TODO 4: one block computes TILE x TILE elements of C. How many blocks cover all of
    # C, also where M or N is no multiple of TILE?
    block = ...
    grid = ...
    return grid, block


# Questions about the second barrier: the cuda.syncthreads() after the inner product.
#
# second_barrier. Suppose that line is deleted. Which two accesses are then no longer ordered?
#   "a"  a thread reads a slot of this k-tile before the thread that fills it has done so
#   "b"  a thread overwrites a slot with the next k-tile's element while another thread has
#        yet to read this k-tile's element there
#   "c"  two threads write the same slot in the same k-tile
#   "d"  a thread stores its element of C before the sums of the other threads are complete
#
# explanation. In a sentence or two of your own: with that line deleted, what may a thread that is
#   ahead of the others do, and why is it too early?
# TODO 5: put your answers between the quotes: a letter, and a sentence.
ANSWERS = {
    "second_barrier": "",
    "explanation": "",
}


# What follows runs only when this file is started as a script on a machine with a GPU.


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


def main(M=1000, N=1500, K=2000):
    """Launch both kernels, compare them with a float64 product and print a line for each."""
    if config.ENABLE_CUDASIM or not cuda.is_available():
        raise SystemExit(HOW_TO_GRADE)
    rng = np.random.default_rng(1)
    a = rng.random((M, K), dtype=np.float32)
    b = rng.random((K, N), dtype=np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    grid, block = launch_config(M, N)
    if grid is ... or block is ...:
        raise SystemExit("launch_config is not written yet: see TODO 4.")
    A, B = cuda.to_device(a), cuda.to_device(b)

    print(f"M, N, K = {M}, {N}, {K}   grid = {grid}   block = {block}")
    print(f"{'kernel':<14}{'ms':>10}{'GFLOP/s':>12}{'speed-up':>10}{'max rel err':>13}")
    baseline = None
    for kernel, name in ((naive_matmul, "naive_matmul"), (tiled_matmul, "tiled_matmul")):
        # NaN marks every element that the kernel leaves unwritten.
        C = cuda.to_device(np.full((M, N), np.nan, dtype=np.float32))
        ms = milliseconds(kernel, grid, block, (A, B, C, M, N, K))
        baseline = baseline or ms
        error = np.max(np.abs(C.copy_to_host() - exact) / exact)
        verdict = "" if error < 1e-4 else "   WRONG"
        gflops = 2 * M * N * K / ms / 1e6
        print(f"{name:<14}{ms:>10.3f}{gflops:>12.1f}{baseline / ms:>10.2f}{error:>13.1e}{verdict}")


if __name__ == "__main__":
    main()
