from numba import cuda, float32
TILE = 16
CELLS = TILE * TILE
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):  #@ def
    As = cuda.shared.array(CELLS, dtype=float32)  #@ shared_a
    Bs = cuda.shared.array(CELLS, dtype=float32)  #@ shared_b
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty  #@ row
    col = cuda.blockIdx.x * TILE + tx  #@ col
    acc = float32(0.0)  #@ init
    for t in range((K + TILE - 1) // TILE):  #@ k_loop
        a_col = t * TILE + tx  #@ a_col
        b_row = t * TILE + ty  #@ b_row
        if row < M and a_col < K:  #@ begin_a guard_a
            As[ty * TILE + tx] = A[row, a_col]  #@ load_a
        else:
            As[ty * TILE + tx] = float32(0.0)  #@ zero_a
        if b_row < K and col < N:  #@ begin_b guard_b
            Bs[ty * TILE + tx] = B[b_row, col]  #@ load_b
        else:
            Bs[ty * TILE + tx] = float32(0.0)  #@ zero_b
        cuda.syncthreads()  #@ filled
        for k in range(TILE):  #@ begin_dot dot_loop
            acc += As[ty * TILE + k] * Bs[k * TILE + tx]  #@ dot
        cuda.syncthreads()  #@ consumed
    if row < M and col < N:  #@ end guard_c
        C[row, col] = acc  #@ store
ANSWERS = {"ragged_m_n": "b", "lands_in_row": 1, "lands_in_column": 3, "leaves_c": 49}

