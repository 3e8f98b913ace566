"""A barrier that part of a warp passes alone, for want of the WARPSYNC that ptxas puts before others.

python tools/hardware/lost_warpsync.py [LAUNCHES]     on a GPU: seconds, and one line a kernel

No kernel here has a race. After a loop with a YIELD a warp need not be together again, so ptxas 13.0 and 13.5
emit WARPSYNC.ALL before the next BAR ("sqrt"), but not where a float64 cosine is the last thing before it:
"cos", "syncwarp", seed 167 of the random kernels. "early" has no YIELD. ``wrong`` counts launches.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

TEXT = """import math
from numba import cuda, float64
@cuda.jit
def kernel(x, n, count, out):
    T = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    T[t] = 0.0
    cuda.syncthreads()
    {before}
    for k in range(n[t]):
        cuda.atomic.add(count, k % 5, k)
    {after}
    cuda.syncthreads()
    out[t] = T[0] + T[1] + T[2] + T[3] + T[4] + T[5] + T[6] + T[7]
"""
CASES = {
    "cos": ("pass", "T[t] = math.cos(x[t])"),
    "syncwarp": ("pass", "T[t] = math.cos(x[t]); cuda.syncwarp()"),
    "sqrt": ("pass", "T[t] = math.sqrt(math.cos(x[t]))"),
    "early": ("y = math.cos(x[t])", "T[t] = y"),
}


def cases() -> Iterator[tuple[str, str, list[Any], Any]]:
    """Name, text, arguments with the result at their end, and what that must be."""
    x, trips = np.arange(8) / 8, np.array([0, 30, 30, 30, 0, 30, 30, 30])
    for name, (before, after) in CASES.items():
        total = (np.sqrt(np.cos(x)) if name == "sqrt" else np.cos(x)).sum()
        text = TEXT.format(before=before, after=after)
        yield name, text, [x, trips, np.zeros(5, np.int64), np.zeros(8)], np.full(8, total)
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.differential.generate import generate

    kernel = generate(167)
    want = np.full(8, sum(math.cos(kernel.data["F"][(t + 2) % 9]) for t in range(8)))
    want[6] = -1  # that thread returns before it stores
    yield "seed 167", kernel.source, [np.array(values) for values in kernel.data.values()], want


def main(count: int) -> None:
    for case, text, arguments, want in cases():
        path = Path(tempfile.mkdtemp(), "kernel.py")
        path.write_text(text)
        names: dict[str, Any] = {}
        exec(compile(text, str(path), "exec"), names)
        for launch in (launches := [[array.copy() for array in arguments] for _ in range(count)]):
            names["kernel"][1, 8](*launch)
        wrong = [launch[-1].tolist() for launch in launches if not np.allclose(launch[-1], want, rtol=1e-9)]
        line = {"case": case, "wrong": len(wrong), "of": len(launches), "want": want[0], "first": wrong[:1]}
        try:
            line["codes"] = re.findall(r"YIELD|WARPSYNC|BAR\.\w+", str(names["kernel"].inspect_sass()))
        except Exception as error:  # noqa: BLE001 - no disassembler, no codes
            line["codes"] = type(error).__name__
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(int([*sys.argv, "300"][1]))
