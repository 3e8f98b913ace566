from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out):
    pivot = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    for step in range(x.shape[0]):
        if t == step % cuda.blockDim.x:
            pivot[0] = x[step]
        cuda.syncthreads()
        out[step, t] = pivot[0] * t
        cuda.syncthreads()


# ---- harness
def setup():
    x = ints(9).astype(np.float32)
    return 1, 20, (x, np.zeros((9, 20), np.float32)), {1: np.outer(x, np.arange(20)).astype(np.float32)}
