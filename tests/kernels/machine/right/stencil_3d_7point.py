from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a, out):
    x, y, z = cuda.grid(3)
    if 0 < x < a.shape[2] - 1 and 0 < y < a.shape[1] - 1 and 0 < z < a.shape[0] - 1:
        out[z, y, x] = (a[z - 1, y, x] + a[z + 1, y, x] + a[z, y - 1, x] + a[z, y + 1, x]
                        + a[z, y, x - 1] + a[z, y, x + 1] - 6 * a[z, y, x])


# ---- harness
def setup():
    a = ints((6, 7, 9)).astype(np.float64)
    want = np.zeros_like(a)
    c = a[1:-1, 1:-1, 1:-1]
    want[1:-1, 1:-1, 1:-1] = (a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
                              + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] - 6 * c)
    return (3, 2, 3), (4, 4, 2), (a, np.zeros_like(a)), {1: want}
