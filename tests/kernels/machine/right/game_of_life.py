from numba import cuda, float32, float64, int32

@cuda.jit(device=True)
def alive(a, r, c):
    return a[(r + a.shape[0]) % a.shape[0], (c + a.shape[1]) % a.shape[1]]

@cuda.jit
def kernel(a, out):
    c, r = cuda.grid(2)
    if r < a.shape[0] and c < a.shape[1]:
        n = 0
        for i in range(-1, 2):
            for j in range(-1, 2):
                if i != 0 or j != 0:
                    n += alive(a, r + i, c + j)
        out[r, c] = 1 if n == 3 or (n == 2 and a[r, c] == 1) else 0


# ---- harness
def setup():
    a = (ints((19, 14)) > 5).astype(np.uint8)
    n = sum(np.roll(a, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return (2, 3), (8, 8), (a, np.zeros_like(a)), {1: ((n == 3) | ((n == 2) & (a == 1))).astype(np.uint8)}
