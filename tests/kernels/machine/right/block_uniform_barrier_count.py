from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(steps, out):
    S = cuda.shared.array(8, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    S[t] = t
    cuda.syncthreads()
    for s in range(steps[b]):
        v = S[(t + 1) % 8]
        cuda.syncthreads()
        S[t] = v
        cuda.syncthreads()
    out[b, t] = S[t]


# ---- harness
def setup():
    steps = np.array([0, 3, 1, 5, 2], np.int32)
    want = np.array([np.roll(np.arange(8), -s) for s in steps], np.int32)
    return 5, 8, (steps, np.zeros((5, 8), np.int32)), {1: want}
