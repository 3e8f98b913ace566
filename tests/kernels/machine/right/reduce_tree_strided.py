from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    S[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    s = 1
    while s < cuda.blockDim.x:
        if t % (2 * s) == 0:
            S[t] += S[t + s]
        cuda.syncthreads()
        s *= 2
    if t == 0:
        out[cuda.blockIdx.x] = S[0]


# ---- harness
def setup():
    x = ints(150).astype(np.float32)
    want = np.array([x[i : i + 64].sum() for i in (0, 64, 128)], np.float32)
    return 3, 64, (x, np.zeros(3, np.float32)), {1: want}
