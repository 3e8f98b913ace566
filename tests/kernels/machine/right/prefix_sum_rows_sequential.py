from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a):
    r = cuda.grid(1)
    if r < a.shape[0]:
        total = 0
        for c in range(a.shape[1]):
            total += a[r, c]
            a[r, c] = total


# ---- harness
def setup():
    a = ints((21, 9)).astype(np.int64)
    return 2, 16, (a,), {0: np.cumsum(a, axis=1)}
