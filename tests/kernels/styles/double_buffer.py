from numba import cuda, float32
TILE = 16
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):  #@ def
    As = cuda.shared.array((2, TILE, TILE), dtype=float32)  #@ shared_a
    Bs = cuda.shared.array((2, TILE, TILE), dtype=float32)  #@ shared_b
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty  #@ row
    col = cuda.blockIdx.x * TILE + tx  #@ col
    acc = float32(0.0)  #@ init
    As[0, ty, tx] = A[row, tx] if row < M and tx < K else float32(0.0)  #@ first_a
    Bs[0, ty, tx] = B[ty, col] if ty < K and col < N else float32(0.0)  #@ first_b
    cuda.syncthreads()  #@ prologue
    for t in range((K + TILE - 1) // TILE):  #@ k_loop
        now = t % 2
        after = 1 - now  #@ flip
        a_col = (t + 1) * TILE + tx  #@ a_col
        b_row = (t + 1) * TILE + ty  #@ b_row
        if row < M and a_col < K:  #@ begin_a guard_a
            As[after, ty, tx] = A[row, a_col]  #@ load_a
        else:
            As[after, ty, tx] = float32(0.0)  #@ zero_a
        if b_row < K and col < N:  #@ begin_b guard_b
            Bs[after, ty, tx] = B[b_row, col]  #@ load_b
        else:
            Bs[after, ty, tx] = float32(0.0)  #@ zero_b
        for k in range(TILE):  #@ begin_dot dot_loop
            acc += As[now, ty, k] * Bs[now, k, tx]  #@ dot
        cuda.syncthreads()  #@ turn
    if row < M and col < N:  #@ end guard_c
        C[row, col] = acc  #@ store
ANSWERS = {"ragged_m_n": "b", "lands_in_row": 1, "lands_in_column": 3, "leaves_c": 49}

