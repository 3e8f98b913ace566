from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, hist):
    S = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    for b in range(t, 16, cuda.blockDim.x):
        S[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(S, x[i] % 16, 1)
    cuda.syncthreads()
    for b in range(t, 16, cuda.blockDim.x):
        cuda.atomic.add(hist, b, S[b])


# ---- harness
def setup():
    x = ints(500, 90).astype(np.int32)
    return 3, 40, (x, np.zeros(16, np.int32)), {1: np.bincount(x % 16, minlength=16).astype(np.int32)}
