from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a, x, y):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        y[i] = a * x[i] + y[i]


# ---- harness
def setup():
    x, y = ints(1000).astype(np.float32), ints(1000).astype(np.float32)
    return 3, 64, (np.float32(3), x, y), {2: 3 * x + y}
