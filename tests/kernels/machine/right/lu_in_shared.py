from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a):
    S = cuda.shared.array((8, 8), float64)
    c, r = cuda.threadIdx.x, cuda.threadIdx.y
    S[r, c] = a[r, c]
    cuda.syncthreads()
    for k in range(8):
        if r > k and c == k:
            S[r, k] /= S[k, k]
        cuda.syncthreads()
        if r > k and c > k:
            S[r, c] -= S[r, k] * S[k, c]
        cuda.syncthreads()
    a[r, c] = S[r, c]


# ---- harness
def setup():
    a = ints((8, 8)).astype(np.float64) + 40 * np.eye(8)
    w = a.copy()
    for k in range(8):
        w[k + 1 :, k] /= w[k, k]
        w[k + 1 :, k + 1 :] -= np.outer(w[k + 1 :, k], w[k, k + 1 :])
    return 1, (8, 8), (a,), {0: w}
