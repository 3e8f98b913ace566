from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = cuda.syncthreads_count(int(x[i] > 7))


# ---- harness
def setup():
    x = ints(96).astype(np.int32)
    want = np.repeat((x.reshape(3, 32) > 7).sum(axis=1), 32).astype(np.int32)
    return 3, 32, (x, np.zeros(96, np.int32)), {1: want}
