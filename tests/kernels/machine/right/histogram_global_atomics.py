from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, hist):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(hist, x[i], 1)


# ---- harness
def setup():
    x = ints(333, 11).astype(np.int64)
    return 6, 64, (x, np.zeros(11, np.int64)), {1: np.bincount(x, minlength=11)}
