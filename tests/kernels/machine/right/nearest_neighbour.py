from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(p, q, out):
    i = cuda.grid(1)
    if i < p.shape[0]:
        best = 1e30
        where = -1
        for j in range(q.shape[0]):
            d = 0.0
            for k in range(p.shape[1]):
                d += (p[i, k] - q[j, k]) ** 2
            if d < best:
                best = d
                where = j
        out[i] = where


# ---- harness
def setup():
    p, q = ints((21, 3), 50).astype(np.float64), ints((17, 3), 50).astype(np.float64)
    d = ((p[:, None] - q[None]) ** 2).sum(axis=2)
    return 2, 16, (p, q, np.zeros(21, np.int32)), {2: d.argmin(axis=1).astype(np.int32)}
