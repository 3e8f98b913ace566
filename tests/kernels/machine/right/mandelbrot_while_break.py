from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(out, limit):
    c, r = cuda.grid(2)
    if r >= out.shape[0] or c >= out.shape[1]:
        return
    x0 = -2.0 + 3.0 * c / out.shape[1]
    y0 = -1.0 + 2.0 * r / out.shape[0]
    x = 0.0
    y = 0.0
    n = 0
    while n < limit:
        xx = x * x - y * y + x0
        y = 2 * x * y + y0
        x = xx
        if x * x + y * y > 4.0:
            break
        n += 1
    out[r, c] = n


# ---- harness
def setup():
    want = np.zeros((12, 18), np.int32)
    for r in range(12):
        for c in range(18):
            z, k, n = 0j, complex(-2.0 + 3.0 * c / 18, -1.0 + 2.0 * r / 12), 0
            x = y = 0.0
            while n < 40:
                x, y = x * x - y * y + k.real, 2 * x * y + k.imag
                if x * x + y * y > 4.0:
                    break
                n += 1
            want[r, c] = n
    return (3, 2), (8, 8), (np.zeros((12, 18), np.int32), 40), {0: want}
