"""Made-up classes, and a batch that grades at once, for the tests of what surrounds a grading."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("01_tiled_matmul.py", "02_ragged_dims.py", "03_intensity_math.md")
KEY = b"1f3b5c7d9e0a2b4c6d8e0f1a2b3c4d5e"
#: The start of what every instant grading takes in the place of the machine's.
STAMP = 1_780_000_000


def text(kind: str, name: str) -> str:
    """Give a file of solutions/ or exercises/."""
    return (ROOT / kind / name).read_text(encoding="utf-8")


def hand_in(folder: Path, student: str, name: str, content: str | bytes, *, at: float = STAMP) -> Path:
    path = folder / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (at, at))
    return path


def answers(out: Path) -> dict[str, bytes]:
    """Give the files that must be equal from run to run: all but the journal, the lock and the times."""
    left_out = ("journal.sqlite3", ".lock", "times.csv", "timings.csv", "leaderboard.html")
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.startswith(left_out) and path.parent.name != "timings"
    }


def many(folder: Path, count: int) -> Path:
    """Hand in ``count`` different files."""
    for i in range(count):
        hand_in(folder, f"s{i:04}", "01_tiled_matmul.py", f"TILE = {i}\n")
    return folder


def digest(files: dict[str, bytes]) -> str:
    """Give one hash of all files."""
    whole = hashlib.sha256()
    for name, data in files.items():
        whole.update(name.encode() + b"\0" + data + b"\0")
    return whole.hexdigest()
