from numba import cuda, float32, float64, int32

@cuda.jit
def kernel(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * b[i] + a[i].real


# ---- harness
def setup():
    a, b = (ints(20) + 1j * ints(20)).astype(np.complex64), (ints(20) - 1j * ints(20)).astype(np.complex64)
    return 1, 32, (a, b, np.zeros(20, np.complex64)), {2: a * b + a.real}
