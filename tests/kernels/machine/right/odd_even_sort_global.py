from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, n):
    t = cuda.threadIdx.x
    for phase in range(n):
        i = 2 * t + phase % 2
        if i + 1 < n:
            if x[i] > x[i + 1]:
                keep = x[i]
                x[i] = x[i + 1]
                x[i + 1] = keep
        cuda.syncthreads()


# ---- harness
def setup():
    x = ints(31, 99).astype(np.int64)
    return 1, 16, (x, 31), {0: np.sort(x)}
