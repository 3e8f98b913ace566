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
    start = 0
    while start < K:  #@ k_loop
        a_col = start + tx  #@ a_col
        b_row = start + ty  #@ b_row
        if row < M and a_col < K:  #@ begin_a guard_a
            As[ty, tx] = A[row, a_col]  #@ load_a
        else:
            As[ty, tx] = float32(0.0)  #@ zero_a
        if b_row < K and col < N:  #@ begin_b guard_b
            Bs[ty, tx] = B[b_row, col]  #@ load_b
        else:
            Bs[ty, tx] = float32(0.0)  #@ zero_b
        cuda.syncthreads()  #@ filled
        k = 0  #@ begin_dot k_start
        while k < TILE:  #@ dot_loop
            acc += As[ty, k] * Bs[k, tx]  #@ dot
            k += 1
        cuda.syncthreads()  #@ consumed
        start += TILE  #@ step
    if row < M and col < N:  #@ end guard_c
        C[row, col] = acc  #@ store
ANSWERS = {"ragged_m_n": "b", "lands_in_row": 1, "lands_in_column": 3, "leaves_c": 49}

