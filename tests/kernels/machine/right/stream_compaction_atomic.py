from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(x, out, count):
    S = cuda.shared.array(1, int32)
    base = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t == 0:
        S[0] = 0
    cuda.syncthreads()
    place = -1
    if i < x.size and x[i] > 5:
        place = cuda.atomic.add(S, 0, 1)
    cuda.syncthreads()
    if t == 0:
        base[0] = cuda.atomic.add(count, 0, S[0])
    cuda.syncthreads()
    if place >= 0:
        out[base[0] + place] = x[i]


# ---- harness
def setup():
    x = ints(90).astype(np.int32)
    kept = x[x > 5]
    want = np.zeros(90, np.int32)
    want[: len(kept)] = kept
    return 3, 32, (x, np.zeros(90, np.int32), np.zeros(1, np.int32)), {1: want, 2: np.array([len(kept)], np.int32)}
