from numba import cuda, float32
TILE = 16
HALF = TILE // 2
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):  #@ def
    As = cuda.shared.array((TILE, TILE), dtype=float32)  #@ shared_a
    Bs = cuda.shared.array((TILE, TILE), dtype=float32)  #@ shared_b
    acc = cuda.local.array((2, 2), dtype=float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    top = cuda.blockIdx.y * TILE  #@ row
    left = cuda.blockIdx.x * TILE  #@ col
    for i in range(2):
        for j in range(2):
            acc[i, j] = float32(0.0)  #@ init
    for t in range((K + TILE - 1) // TILE):  #@ k_loop
        for i in range(2):  #@ begin_a
            for j in range(2):
                r = ty + i * HALF
                c = tx + j * HALF
                a_col = t * TILE + c  #@ a_col
                b_row = t * TILE + r  #@ b_row
                if top + r < M and a_col < K:  #@ guard_a
                    As[r, c] = A[top + r, a_col]  #@ load_a
                else:
                    As[r, c] = float32(0.0)  #@ zero_a
                if b_row < K and left + c < N:  #@ begin_b guard_b
                    Bs[r, c] = B[b_row, left + c]  #@ load_b
                else:
                    Bs[r, c] = float32(0.0)  #@ zero_b
        cuda.syncthreads()  #@ filled
        for k in range(TILE):  #@ begin_dot dot_loop
            for i in range(2):
                for j in range(2):
                    acc[i, j] += As[ty + i * HALF, k] * Bs[k, tx + j * HALF]  #@ dot
        cuda.syncthreads()  #@ consumed
    for i in range(2):  #@ end
        for j in range(2):
            row = top + ty + i * HALF
            col = left + tx + j * HALF
            if row < M and col < N:  #@ guard_c
                C[row, col] = acc[i, j]  #@ store
ANSWERS = {"ragged_m_n": "b", "lands_in_row": 1, "lands_in_column": 3, "leaves_c": 49}

