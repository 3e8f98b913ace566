from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    S = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.size:
        S[t] = x[i]
    cuda.syncthreads()
    v = S[31 - t] * 2
    if i < out.size and 31 - t + cuda.blockIdx.x * 32 < x.size:
        out[i] = v


# ---- harness
def setup():
    x = ints(64).astype(np.float32)
    return 2, 32, (x, np.zeros(64, np.float32)), {1: (x.reshape(2, 32)[:, ::-1] * 2).ravel()}
