from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a):
    P = cuda.shared.array((8, 8), int32)
    Q = cuda.shared.array((8, 8), int32)
    bx, by = cuda.blockIdx.x, cuda.blockIdx.y
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if bx < by:
        return
    P[ty, tx] = a[by * 8 + ty, bx * 8 + tx]
    Q[ty, tx] = a[bx * 8 + ty, by * 8 + tx]
    cuda.syncthreads()
    a[by * 8 + ty, bx * 8 + tx] = Q[tx, ty]
    a[bx * 8 + ty, by * 8 + tx] = P[tx, ty]


# ---- harness
def setup():
    a = ints((24, 24), 1000).astype(np.int32)
    return (3, 3), (8, 8), (a,), {0: a.T.copy()}
