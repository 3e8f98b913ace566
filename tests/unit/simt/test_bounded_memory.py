"""Memory stays bounded however long an interval and however large the grid."""

# ruff: noqa: E501  (kernels and lists of cases, a line each)
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import resource
import numpy as np
from grader.simt import launch

HEAD = "from numba import cuda, float32, int32\\n@cuda.jit\\ndef kernel(a, out):\\n    t = cuda.threadIdx.x\\n"

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

a, out = np.ones(4096, np.float32), np.zeros(1 << 16, np.float32)
launch(HEAD + "    out[t] = a[t]\\n", "kernel", grid=1, block=32, args=(a, out))
before = peak()
run = launch(HEAD + '''BODY''', "kernel", grid=GRID, block=BLOCK, args=(a, out), fuel=10**6)
assert run.completed, run.findings
print(round(peak() - before), sorted({f.name for f in run.findings if f.severity == "error"}))
"""
CASES = {
    "non-affine shared reads in one interval": (
        "    S = cuda.shared.array(256, float32)\n    S[t] = a[t]\n    cuda.syncthreads()\n    s = float32(0)\n"
        "    for k in range(250):\n        s += S[(t * (k + 7)) & 255]\n    out[cuda.grid(1)] = s\n",
        256,
        256,
        "[]",
    ),
    "non-affine shared writes in one interval": (
        "    S = cuda.shared.array(256, float32)\n    for k in range(200):\n        S[(t * (2 * k + 1)) & 255] = k\n"
        "    cuda.syncthreads()\n    out[cuda.grid(1)] = 1\n",
        128,
        256,
        "['shared-write-conflict']",
    ),
    "uniform reads of an array that is written": (
        "    s = float32(0)\n    for k in range(30000):\n        s += out[32 + k]\n    out[t] = s\n",
        1,
        32,
        "[]",
    ),
    "a guard that differs in each iteration": (
        "    s = 0\n    for k in range(20000):\n        if t < k:\n            s += 1\n    out[t] = s\n",
        1,
        1024,
        "[]",
    ),
    "many blocks of one thread with much shared memory": (
        "    S = cuda.shared.array(12000, float32)\n    S[t] = 1\n    if cuda.blockIdx.x < 100:\n"
        "        out[cuda.blockIdx.x] = S[0]\n",
        10_000,
        1,
        "[]",
    ),
    "a large grid": ("    i = cuda.grid(1)\n    if i < 100:\n        out[i] = a[i]\n", 100_000, 256, "[]"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module on Windows")
@pytest.mark.parametrize("name", CASES)
def test_peak_memory(name: str) -> None:
    body, grid, block, errors = CASES[name]
    script = SCRIPT.replace("BODY", body).replace("GRID", str(grid)).replace("BLOCK", str(block))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    megabytes, found = done.stdout.split(" ", 1)
    assert found.strip() == errors
    assert int(megabytes) < 450
