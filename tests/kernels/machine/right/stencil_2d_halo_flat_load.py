from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a, out):
    S = cuda.shared.array((10, 10), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x0 = cuda.blockIdx.x * 8 - 1
    y0 = cuda.blockIdx.y * 8 - 1
    flat = ty * 8 + tx
    for k in range(flat, 100, 64):
        r = k // 10
        c = k % 10
        y = y0 + r
        x = x0 + c
        if 0 <= y < a.shape[0] and 0 <= x < a.shape[1]:
            S[r, c] = a[y, x]
        else:
            S[r, c] = 0.0
    cuda.syncthreads()
    y = y0 + 1 + ty
    x = x0 + 1 + tx
    if y < a.shape[0] and x < a.shape[1]:
        out[y, x] = S[ty, tx + 1] + S[ty + 2, tx + 1] + S[ty + 1, tx] + S[ty + 1, tx + 2]


# ---- harness
def setup():
    a = ints((13, 21)).astype(np.float32)
    p = np.pad(a, 1)
    want = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return (3, 2), (8, 8), (a, np.zeros_like(a)), {1: want}
