from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array(48, int32)
    t = cuda.threadIdx.x
    S[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < cuda.blockDim.x:
        v = 0
        if t >= d:
            v = S[t - d]
        cuda.syncthreads()
        S[t] += v
        cuda.syncthreads()
        d <<= 1
    out[t] = S[t]


# ---- harness
def setup():
    x = ints(48).astype(np.int32)
    return 1, 48, (x, np.zeros(48, np.int32)), {1: np.cumsum(x).astype(np.int32)}
