from numba import cuda, float32, float64, int32

W = (1, 2, 3, 2, 1)

@cuda.jit
def kernel(x, f, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    total = 0
    for k in range(f.size):
        j = i + k - f.size // 2
        if j < 0 or j >= x.size:
            continue
        total += x[j] * f[k]
    out[i] = total


# ---- harness
def setup():
    x, f = ints(75).astype(np.int64), np.array([1, 2, 3, 2, 1], np.int64)
    return 3, 32, (x, f, np.zeros(75, np.int64)), {2: np.convolve(x, f, "same")}
