from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array((2, 64), int32)
    t = cuda.threadIdx.x
    src = 0
    S[0, t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        dst = 1 - src
        if t >= d:
            S[dst, t] = S[src, t] + S[src, t - d]
        else:
            S[dst, t] = S[src, t]
        cuda.syncthreads()
        src = dst
        d *= 2
    out[t] = S[src, t]


# ---- harness
def setup():
    x = ints(64).astype(np.int32)
    return 1, 64, (x, np.zeros(64, np.int32)), {1: np.cumsum(x).astype(np.int32)}
