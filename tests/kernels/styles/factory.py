from numba import cuda, float32
TILE = 16
def build(width):
    @cuda.jit
    def tiled_matmul(A, B, C, M, N, K):  #@ def
        As = cuda.shared.array((width, width), dtype=float32)  #@ shared_a
        Bs = cuda.shared.array((width, width), dtype=float32)  #@ shared_b
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        col, row = cuda.grid(2)  #@ grid
        acc = float32(0.0)  #@ init
        for start in range(0, K, width):  #@ k_loop
            a_col = start + tx  #@ a_col
            b_row = start + ty  #@ b_row
            if row < M and a_col < K:  #@ begin_a guard_a
                As[ty, tx] = A[row, a_col]  #@ load_a
            else:
                As[ty, tx] = 0.0  #@ zero_a
            if b_row < K and col < N:  #@ begin_b guard_b
                Bs[ty, tx] = B[b_row, col]  #@ load_b
            else:
                Bs[ty, tx] = 0.0  #@ zero_b
            cuda.syncthreads()  #@ filled
            for k in range(width):  #@ begin_dot dot_loop
                acc += As[ty, k] * Bs[k, tx]  #@ dot
            cuda.syncthreads()  #@ consumed
        if row < M and col < N:  #@ end guard_c
            C[row, col] = acc  #@ store
    return tiled_matmul
tiled_matmul = build(TILE)
ANSWERS = {"ragged_m_n": "b", "lands_in_row": 1, "lands_in_column": 3, "leaves_c": 49}

