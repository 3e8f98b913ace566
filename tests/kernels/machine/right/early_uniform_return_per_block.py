from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, flags, out):
    S = cuda.shared.array(16, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if flags[b] == 0:
        return
    S[t] = x[b * 16 + t]
    cuda.syncthreads()
    out[b * 16 + t] = S[15 - t]


# ---- harness
def setup():
    x, flags = ints(80).astype(np.int32), np.array([1, 0, 1, 1, 0], np.int32)
    want = np.where(flags[:, None], x.reshape(5, 16)[:, ::-1], 0).ravel().astype(np.int32)
    return 5, 16, (x, flags, np.zeros(80, np.int32)), {2: want}
