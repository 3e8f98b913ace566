from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(ptr, idx, val, x, y):
    r = cuda.grid(1)
    if r < y.size:
        total = 0.0
        for k in range(ptr[r], ptr[r + 1]):
            total += val[k] * x[idx[k]]
        y[r] = total


# ---- harness
def setup():
    dense = ints((30, 20)) * (ints((30, 20)) > 6)
    idx = [np.flatnonzero(row) for row in dense]
    ptr = np.concatenate([[0], np.cumsum([len(i) for i in idx])]).astype(np.int32)
    val = np.concatenate([row[i] for row, i in zip(dense, idx)]).astype(np.float64)
    x = ints(20).astype(np.float64)
    flat = np.concatenate(idx).astype(np.int32)
    return 2, 16, (ptr, flat, val, x, np.zeros(30)), {4: dense @ x}
