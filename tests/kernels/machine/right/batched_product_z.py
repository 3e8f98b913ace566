from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(A, B, C):
    As = cuda.shared.array((4, 4), float32)
    Bs = cuda.shared.array((4, 4), float32)
    b = cuda.blockIdx.z
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for t in range((A.shape[2] + 3) // 4):
        As[ty, tx] = 0
        Bs[ty, tx] = 0
        if row < A.shape[1] and t * 4 + tx < A.shape[2]:
            As[ty, tx] = A[b, row, t * 4 + tx]
        if t * 4 + ty < B.shape[1] and col < B.shape[2]:
            Bs[ty, tx] = B[b, t * 4 + ty, col]
        cuda.syncthreads()
        for k in range(4):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[1] and col < C.shape[2]:
        C[b, row, col] = acc


# ---- harness
def setup():
    A, B = ints((3, 7, 10)).astype(np.float32), ints((3, 10, 6)).astype(np.float32)
    return (2, 2, 3), (4, 4), (A, B, np.zeros((3, 7, 6), np.float32)), {2: A @ B}
