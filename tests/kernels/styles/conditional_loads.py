from numba import cuda, float32
TILE = 16
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):  #@ def
    As = cuda.shared.array((TILE, TILE), dtype=float32)  #@ shared_a
    Bs = cuda.shared.array((TILE, TILE), dtype=float32)  #@ shared_b
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty  #@ row
    col = cuda.blockIdx.x * TILE + tx  #@ col
    acc = float32(0.0)  #@ init
    for start in range(0, K, TILE):  #@ k_loop
        a_col = start + tx  #@ a_col
        b_row = start + ty  #@ b_row
        As[ty, tx] = A[row, a_col] if row < M and a_col < K else float32(0.0)  #@ begin_a guard_a load_a zero_a
        Bs[ty, tx] = B[b_row, col] if b_row < K and col < N else float32(0.0)  #@ begin_b guard_b load_b zero_b
        cuda.syncthreads()  #@ filled
        for k in range(TILE):  #@ begin_dot dot_loop
            acc += As[ty, k] * Bs[k, tx]  #@ dot
        cuda.syncthreads()  #@ consumed
    if row < M and col < N:  #@ end guard_c
        C[row, col] = acc  #@ store
ANSWERS = {"ragged_m_n": "b", "lands_in_row": 1, "lands_in_column": 3, "leaves_c": 49}

