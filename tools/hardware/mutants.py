"""The mutants of tests/mutation on a real GPU: twenty runs of each on four shapes.

python -m tools.hardware.mutants prepare JOBS.jsonl            here
python tools/hardware/mutants.py run JOBS.jsonl RESULT.json    on the GPU
python -m tools.hardware.mutants record RESULT.json            here: into docs/results/mutants.json
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = ((64, 64, 64), (50, 37, 64), (50, 37, 40), (17, 33, 9))
TILE = 16
RUNS = 20
WORKERS = 14
BATCH = 8
SECONDS = 25


def prepare(out: Path) -> None:
    """Write the corpus out."""
    from tests.mutation.corpus import corpus

    jobs = [{"key": one.key, "style": one.style, "source": one.source} for one in corpus()]
    out.write_text("".join(json.dumps(job) + "\n" for job in jobs))
    sys.stdout.write(f"{len(jobs)} mutants\n")


def work() -> None:
    """Answer jobs from the standard input; a job that breaks the GPU's context ends the process."""
    from numba import cuda

    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp())
    for number, line in enumerate(sys.stdin):
        signal.alarm(SECONDS)  # what hangs ends with its process
        job = json.loads(line)
        path = folder / f"mutant{number}.py"
        path.write_text(job["source"])
        fatal = False
        try:
            answer = _judge(path, job["style"], cuda)
        except Exception as error:  # noqa: BLE001 - the kind of error is the result
            answer = f"error {type(error).__name__}"
            fatal = "Cuda" in type(error).__name__
        sys.stdout.write(json.dumps({"key": job["key"], "answer": answer}) + "\n")
        sys.stdout.flush()
        if fatal:
            os._exit(0)


def _judge(path: Path, style: str, cuda: Any) -> str:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wrong = 0
    for m, n, k in SHAPES:
        rng = np.random.default_rng([m, n, k])
        a = rng.uniform(0.2, 3.0, (m, k)).astype(np.float32)
        b = rng.uniform(0.2, 3.0, (k, n)).astype(np.float32)
        wanted = a.astype(np.float64) @ b
        block = (TILE // 2, TILE // 2) if style == "register_block" else (TILE, TILE)
        grid = (-(-n // TILE), -(-m // TILE))
        if hasattr(module, "launch_config"):
            grid, block = module.launch_config(m, n)
        A, B = cuda.to_device(a), cuda.to_device(b)
        for _ in range(RUNS):
            C = cuda.to_device(np.full((m, n), np.nan, np.float32))
            module.tiled_matmul[grid, block](A, B, C, m, n, k)
            cuda.synchronize()
            wrong += not np.allclose(C.copy_to_host(), wanted, rtol=2e-5, atol=0)
    return "right" if not wrong else f"wrong in {wrong} of {len(SHAPES) * RUNS}"


def run(jobs: Path, result: Path) -> None:
    """Hand the jobs to worker processes; one that dies or hangs costs the job it was at."""
    waiting: queue.Queue[list[str]] = queue.Queue()
    lines = jobs.read_text().splitlines()
    for start in range(0, len(lines), BATCH):
        waiting.put(lines[start : start + BATCH])
    answers: dict[str, str] = {}

    def serve() -> None:
        while True:
            try:
                batch = waiting.get_nowait()
            except queue.Empty:
                return
            while batch:
                text = "".join(line + "\n" for line in batch)
                done = subprocess.run(
                    [sys.executable, __file__, "work"],
                    input=text,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
                answers.update({one["key"]: one["answer"] for one in found})
                batch = batch[len(found) :]
                if batch and done.returncode != 0:
                    answers[json.loads(batch[0])["key"]] = "timeout"
                    batch = batch[1:]
                elif batch and not found:
                    answers[json.loads(batch[0])["key"]] = "error no answer"
                    batch = batch[1:]
            if len(answers) % 100 < BATCH:
                result.write_text(json.dumps(answers))
                sys.stdout.write(f"{len(answers)}\n")
                sys.stdout.flush()

    threads = [threading.Thread(target=serve) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.write_text(json.dumps(answers))


def record(result: Path) -> None:
    """Keep the GPU's answers; what it was, and how often each mutant ran, stays as the file has it."""
    from tests.mutation.oracles import HARDWARE, faulty, recorded

    answers = json.loads(result.read_text())
    oracles = {key: faulty({**answer, "h200": "right"}) for key, answer in recorded().items()}
    answers = {key: answers[key] for key in sorted(answers) if key in oracles}
    shown = {key for key, answer in answers.items() if answer != "right"}
    wrong = {key for key in answers if oracles[key]}
    table = {
        "about": json.loads(HARDWARE.read_text(encoding="utf-8"))["about"],
        "faulty": len(wrong),
        "faulty shown": len(wrong & shown),
        "equivalent": len(answers) - len(wrong),
        "equivalent shown": len(shown - wrong),
        "answers": answers,
    }
    HARDWARE.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(answers)} answers\n")


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    paths = [Path(word) for word in words]
    {"prepare": prepare, "work": work, "run": run, "record": record}[command](*paths)
