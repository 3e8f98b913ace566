from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    S[2 * t] = x[2 * t]
    S[2 * t + 1] = x[2 * t + 1]
    offset = 1
    d = 32
    while d > 0:
        cuda.syncthreads()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            S[b] += S[a]
        offset *= 2
        d //= 2
    if t == 0:
        S[63] = 0
    d = 1
    while d < 64:
        offset //= 2
        cuda.syncthreads()
        if t < d:
            a = offset * (2 * t + 1) - 1
            b = offset * (2 * t + 2) - 1
            keep = S[a]
            S[a] = S[b]
            S[b] += keep
        d *= 2
    cuda.syncthreads()
    out[2 * t] = S[2 * t]
    out[2 * t + 1] = S[2 * t + 1]


# ---- harness
def setup():
    x = ints(64).astype(np.int32)
    want = np.concatenate([[0], np.cumsum(x)[:-1]]).astype(np.int32)
    return 1, 32, (x, np.zeros(64, np.int32)), {1: want}
