"""The mutants on a real GPU: whether each gives the right product in every one of many runs.

    .venv/bin/python -m tools.hardware.mutants prepare .gpu/mutants      writes .gpu/mutants/jobs.json
    python tools/hardware/mutants.py run .gpu/mutants/jobs.json OUT.json SECONDS        on the GPU machine
    .venv/bin/python -m tools.hardware.mutants record OUT.json           into docs/results/mutants.json

Each mutant has a process of its own, since an address that is not there ends the process's use of the GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SHAPES = ((64, 64, 64), (50, 37, 64), (50, 37, 40), (17, 33, 9), (33, 17, 100))
RUNS = 20
WORKERS = 14
LIMIT = 40


def prepare(out: Path) -> None:
    from tests.mutation.corpus import corpus

    jobs = [{"key": one.key, "style": one.style, "source": one.source} for one in corpus()]
    out.mkdir(parents=True, exist_ok=True)
    (out / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    sys.stdout.write(f"{len(jobs)} jobs\n")


def one(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """One mutant in this process: for each shape, how many of the runs were wrong."""
    import importlib.util

    import numpy as np
    from numba import cuda

    warnings.simplefilter("ignore")
    path = folder / f"mutant{os.getpid()}.py"
    path.write_text(job["source"], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("mutant", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.unlink()
    wrong = []
    for m, n, k in SHAPES:
        rng = np.random.default_rng([m, n, k])
        a = rng.uniform(0.2, 3.0, (m, k)).astype(np.float32)
        b = rng.uniform(0.2, 3.0, (k, n)).astype(np.float32)
        wanted = a.astype(np.float64) @ b.astype(np.float64)
        width = 8 if job["style"] == "register_block" else 16
        grid, block = (-(-n // 16), -(-m // 16)), (width, width)
        if hasattr(module, "launch_config"):
            grid, block = module.launch_config(m, n)
        bad = 0
        for _ in range(RUNS):
            c = cuda.to_device(np.full((m, n), np.nan, np.float32))
            module.tiled_matmul[grid, block](cuda.to_device(a), cuda.to_device(b), c, m, n, k)
            cuda.synchronize()
            bad += not np.allclose(c.copy_to_host(), wanted, rtol=2e-5, atol=0)
        wrong.append(bad)
    return {"wrong": wrong, "runs": RUNS}


def child(jobs: Path, number: int, folder: Path) -> None:
    """Print the answer of one job and leave at once, whatever the GPU still does."""
    try:
        answer = one(json.loads(jobs.read_text(encoding="utf-8"))[number], folder)
    except BaseException as error:  # noqa: BLE001 - the kind of error is the result
        answer = {"error": type(error).__name__, "text": str(error)[-200:]}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    os._exit(0)


def run(jobs: Path, result: Path, seconds: float) -> None:
    """All jobs, several at a time, until the time is up; what is done by then is written."""
    end = time.monotonic() + seconds
    known = json.loads(jobs.read_text(encoding="utf-8"))
    table: dict[str, Any] = {}

    def work(number: int) -> None:
        if time.monotonic() > end:
            return
        command = [sys.executable, __file__, "child", str(jobs), str(number), str(result.parent)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            table[known[number]["key"]] = {"error": "timeout"}
            return
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        table[known[number]["key"]] = json.loads(lines[-1]) if lines else {"error": "no answer"}

    with ThreadPoolExecutor(WORKERS) as pool:
        for number, _ in enumerate(pool.map(work, range(len(known)))):
            if number % 100 == 0:
                result.write_text(json.dumps(table), encoding="utf-8")
                sys.stdout.write(f"{number}/{len(known)} {end - time.monotonic():.0f} s left\n")
                sys.stdout.flush()
    result.write_text(json.dumps(table), encoding="utf-8")


def record(result: Path) -> None:
    """Into docs/results/mutants.json: right, wrong (in some run of some shape), or the error."""
    from tests.mutation.oracles import RECORD, recorded, write

    answers = recorded()
    for key, found in json.loads(result.read_text(encoding="utf-8")).items():
        if key in answers:
            answers[key]["h200"] = f"error {found['error']}" if "error" in found else _said(found["wrong"])
    write(answers)
    sys.stdout.write(f"{RECORD}: {sum('h200' in one for one in answers.values())} measured\n")


def _said(wrong: list[int]) -> str:
    return "wrong" if any(wrong) else "right"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", out]:
            prepare(Path(out))
        case ["run", jobs, result, seconds]:
            run(Path(jobs), Path(result), float(seconds))
        case ["child", jobs, number, folder]:
            child(Path(jobs), int(number), Path(folder))
        case ["record", result]:
            record(Path(result))
        case _:
            sys.exit(__doc__)
