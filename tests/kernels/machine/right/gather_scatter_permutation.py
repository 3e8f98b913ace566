from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, perm, out):
    i = cuda.grid(1)
    if i < x.size:
        out[perm[i]] = x[i]


# ---- harness
def setup():
    x, perm = ints(80).astype(np.float32), np.random.default_rng(1).permutation(80)
    want = np.zeros(80, np.float32)
    want[perm] = x
    return 3, 32, (x, perm, np.zeros(80, np.float32)), {2: want}
