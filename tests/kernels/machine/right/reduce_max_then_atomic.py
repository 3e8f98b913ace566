from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    S[t] = -1
    if i < x.size:
        S[t] = x[i]
    for k in range(5):
        cuda.syncthreads()
        s = 16 >> k
        if t < s:
            S[t] = max(S[t], S[t + s])
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.max(out, 0, S[0])


# ---- harness
def setup():
    x = ints(200, 1000).astype(np.int32)
    return 7, 32, (x, np.full(1, -5, np.int32)), {1: np.array([x.max()], np.int32)}
