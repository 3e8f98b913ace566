from numba import cuda, float32
TILE = 16
@cuda.jit(device=True)
def fill(As, A, row, a_col, M, K, ty, tx):
    if row < M and a_col < K:  #@ guard_a
        As[ty, tx] = A[row, a_col]  #@ load_a
    else:
        As[ty, tx] = float32(0.0)  #@ zero_a
@cuda.jit(device=True)
def product(As, Bs, ty, tx):
    total = float32(0.0)
    for k in range(TILE):  #@ dot_loop
        total += As[ty, k] * Bs[k, tx]  #@ dot
    return total
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):  #@ def
    As = cuda.shared.array((TILE, TILE), dtype=float32)  #@ shared_a
    Bs = cuda.shared.array((TILE, TILE), dtype=float32)  #@ shared_b
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty  #@ row
    col = cuda.blockIdx.x * TILE + tx  #@ col
    acc = float32(0.0)  #@ init
    for t in range((K + TILE - 1) // TILE):  #@ k_loop
        a_col = t * TILE + tx  #@ a_col
        b_row = t * TILE + ty  #@ b_row
        fill(As, A, row, a_col, M, K, ty, tx)  #@ begin_a call_a
        fill(Bs, B, b_row, col, K, N, ty, tx)  #@ begin_b call_b
        cuda.syncthreads()  #@ filled
        acc += product(As, Bs, ty, tx)  #@ begin_dot call_dot
        cuda.syncthreads()  #@ consumed
    if row < M and col < N:  #@ end guard_c
        C[row, col] = acc  #@ store
ANSWERS = {"ragged_m_n": "b", "lands_in_row": 1, "lands_in_column": 3, "leaves_c": 49}

