from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a, f, out):
    w = cuda.local.array((3, 3), float32)
    c, r = cuda.grid(2)
    for i in range(3):
        for j in range(3):
            w[i, j] = f[i, j]
    if r < out.shape[0] and c < out.shape[1]:
        total = float32(0)
        for i in range(3):
            for j in range(3):
                total += w[i, j] * a[r + i, c + j]
        out[r, c] = total


# ---- harness
def setup():
    a, f = ints((12, 15)).astype(np.float32), ints((3, 3), 4).astype(np.float32)
    want = sum(f[i, j] * a[i : i + 10, j : j + 13] for i in range(3) for j in range(3))
    return (2, 2), (8, 8), (a, f, np.zeros((10, 13), np.float32)), {2: want}
