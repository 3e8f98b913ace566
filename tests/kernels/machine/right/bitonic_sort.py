from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x):
    S = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    S[t] = x[t]
    cuda.syncthreads()
    k = 2
    while k <= 64:
        j = k // 2
        while j > 0:
            p = t ^ j
            if p > t:
                up = (t & k) == 0
                if (S[t] > S[p]) == up:
                    keep = S[t]
                    S[t] = S[p]
                    S[p] = keep
            cuda.syncthreads()
            j //= 2
        k *= 2
    x[t] = S[t]


# ---- harness
def setup():
    x = ints(64, 500).astype(np.int32)
    return 1, 64, (x,), {0: np.sort(x)}
