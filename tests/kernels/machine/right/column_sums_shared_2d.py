from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a, out):
    S = cuda.shared.array((8, 16), int32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    c = cuda.blockIdx.x * 16 + tx
    total = 0
    for r in range(ty, a.shape[0], 8):
        if c < a.shape[1]:
            total += a[r, c]
    S[ty, tx] = total
    cuda.syncthreads()
    if ty == 0 and c < a.shape[1]:
        for k in range(1, 8):
            total += S[k, tx]
        out[c] = total


# ---- harness
def setup():
    a = ints((29, 37)).astype(np.int32)
    return 3, (16, 8), (a, np.zeros(37, np.int32)), {1: a.sum(axis=0).astype(np.int32)}
