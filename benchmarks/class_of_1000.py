"""A class of 1,000, every content different, nothing kept from before: time, rate, memory of a worker.

    python -m benchmarks.class_of_1000 [STUDENTS] [WORKERS]

Each student hands in the three exercises, right, faulty and broken ones mixed. Twice the students is
measured as well, since time has to grow in proportion. It takes minutes, so it is a script of its own.
"""

from __future__ import annotations

import importlib.util
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from grader.batch.executors import default_workers
from grader.batch.run import Settings, run

ROOT = Path(__file__).resolve().parents[1]
FILES = ("01_tiled_matmul.py", "02_ragged_dims.py", "03_intensity_math.md")
#: Serial and at a steady rate, so that more would only take longer.
PEER_STUDENTS = 30
BROKEN = (
    ("cuda.syncthreads()", "pass"),
    ("float32(0.0)", "0.0"),
    ("def tiled_matmul(", "def tiled_matmul(("),
    ("(K + TILE - 1) // TILE", "K // TILE"),
    ("row < M and col < N", "row <= M and col <= N"),
)


def submissions(folder: Path, students: int) -> Path:
    """Two of five are right, two of five have a fault of the list, one is the skeleton."""
    right = {name: (ROOT / "solutions" / name).read_text(encoding="utf-8") for name in FILES}
    skeleton = {name: (ROOT / "exercises" / name).read_text(encoding="utf-8") for name in FILES}
    for i in range(students):
        for name in FILES:
            text = skeleton[name] if i % 5 == 4 else right[name]
            if i % 5 in (2, 3):
                old, new = BROKEN[i // 5 % len(BROKEN)]
                text = text.replace(old, new, 1)
            note = f"\n<!-- {i} -->\n" if name.endswith(".md") else _own_lines(i)
            path = folder / f"s{i:05}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + note, encoding="utf-8")
    return folder


def _own_lines(i: int) -> str:
    """A function that nobody calls, another for each student: a likeness of all would be cheap to compare."""
    draw = random.Random(i)
    lines = [f"    k {draw.choice('+-*')}= {draw.randrange(1000)} {draw.choice('+-*')} k" for _ in range(12)]
    return "\n".join(["\n\ndef notes(k):", *lines, "    return k\n"])


def measure(students: int, workers: int) -> float:
    """Grade a class and print what it took; give the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        submissions(root / "in", students)
        begun, spent = time.perf_counter(), time.process_time()
        result = run(Settings(root / "in", root / "out", workers=workers, quiet=True))
        seconds, parent = time.perf_counter() - begun, time.process_time() - spent
        size = sum(path.stat().st_size for path in (root / "out").rglob("*") if path.is_file())
    worker_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    parent_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = result.graded / seconds
    print(f"{students} students, {result.graded} gradings, {workers} workers")
    print(f"  {seconds:.1f} s, {rate:.1f} a second; the parent's own part {parent:.1f} s of processor time")
    print(f"  {worker_mb:.0f} MB a worker, {parent_mb:.0f} MB the parent, {size / 1e6:.0f} MB written")
    return seconds


def nbgrader_seconds(students: int) -> float | None:
    """Seconds a student that ``nbgrader autograde`` takes of its own example, or None without nbgrader.

    Its example has two notebooks a student; ours hand in three files. It grades one student after the other.
    """
    if importlib.util.find_spec("nbgrader") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "HOME": folder,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

        def nbgrader(*words: str, where: str = folder) -> float:
            begun = time.perf_counter()
            command = [sys.executable, "-m", "nbgrader", *words]
            subprocess.run(command, cwd=where, env=environment, check=True, capture_output=True)
            return time.perf_counter() - begun

        nbgrader("quickstart", "course101")
        course = f"{folder}/course101"
        nbgrader("generate_assignment", "ps1", where=course)
        for i in range(students):
            # As above: two of five are right; here the others hand in what they were given.
            kind = "source" if i % 5 < 2 else "release"
            shutil.copytree(f"{course}/{kind}/ps1", f"{course}/submitted/s{i:05}/ps1")
        return nbgrader("autograde", "ps1", "--create", where=course) / students


def main() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    students = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else default_workers()
    print(pyproject["project"]["name"], sys.version.split()[0])
    once = measure(students, workers)
    twice = measure(2 * students, workers)
    print(f"twice the students: {twice / once:.2f} times as long")
    peer = nbgrader_seconds(min(students, PEER_STUDENTS))
    if peer is None:
        print("nbgrader is not installed, so there is nothing to compare with")
        return
    ratio = peer * students / once
    print(f"nbgrader autograde: {peer:.2f} s a student, so {ratio:.1f} times as long for {students} students")


if __name__ == "__main__":
    main()
