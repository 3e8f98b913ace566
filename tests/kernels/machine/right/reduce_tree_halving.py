from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(t, x.shape[0], 128):
        total += x[i]
    S[t] = total
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            S[t] = S[t] + S[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[0] = S[0]


# ---- harness
def setup():
    x = ints(1000).astype(np.float32)
    return 1, 128, (x, np.zeros(1, np.float32)), {1: np.array([x.sum()], np.float32)}
