from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a, out):
    T = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for j in range(0, 16, 4):
        r = cuda.blockIdx.y * 16 + ty + j
        c = cuda.blockIdx.x * 16 + tx
        if r < a.shape[0] and c < a.shape[1]:
            T[ty + j, tx] = a[r, c]
    cuda.syncthreads()
    for j in range(0, 16, 4):
        r = cuda.blockIdx.x * 16 + ty + j
        c = cuda.blockIdx.y * 16 + tx
        if r < out.shape[0] and c < out.shape[1]:
            out[r, c] = T[tx, ty + j]


# ---- harness
def setup():
    a = ints((37, 21)).astype(np.float32)
    return (2, 3), (16, 4), (a, np.zeros((21, 37), np.float32)), {1: a.T}
