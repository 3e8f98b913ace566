"""The machine against Oclgrind's race and uninitialised-value detection, on the same kernel in OpenCL."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from measure import HERE, Figure, Result, Skipped, machine_product, median_seconds, seconds_of

TARGET = 100


def run(small: bool) -> Result:
    if shutil.which("oclgrind-kernel") is None:
        raise Skipped("oclgrind-kernel is not installed (apt-get install oclgrind)")
    n = 32 if small else 256
    machine = median_seconds(machine_product(n, n, n, 16), 1 if small else 5)
    peer = seconds_of(lambda: _product(n))
    met = None if small else peer / machine >= TARGET
    figures = [
        Figure("oclgrind, both detections", peer, "s"),
        Figure("machine, all detection on", machine, "s"),
        Figure("machine is faster by", peer / machine, "times", f"at least {TARGET}", met),
    ]
    return Result(f"machine against Oclgrind, {n}^3, TILE 16", figures)


def _product(n: int) -> None:
    size = 4 * n * n
    with tempfile.TemporaryDirectory() as folder:
        lines = [str(HERE / "tiled_kernel.cl"), "tiled", f"{n} {n} 1", "16 16 1"]
        lines += [
            f"<size={size} float fill=1>",
            f"<size={size} float fill=2>",
            f"<size={size} float fill=0 dump>",
        ]
        lines += [part for _ in range(3) for part in ("<size=4 int>", str(n))]
        job = Path(folder) / "job.sim"
        job.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = ["oclgrind-kernel", "--data-races", "--uninitialized", str(job)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode or f"C[{n * n - 1}] = {2 * n}" not in done.stdout:
        raise Skipped(f"oclgrind-kernel gave no product: {(done.stderr or done.stdout).strip()[:200]}")
