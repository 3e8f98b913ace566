"""One grading as bytes: what goes to a worker, what comes back, and the key under which it is kept."""

from __future__ import annotations

import hashlib
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from grader import __version__, exercises
from grader.batch.private_key import key_mark
from grader.batch.problems import BatchError
from grader.records import Report
from grader.reporters import json as report_json

__all__ = ["Bundle", "Task", "bundle_of", "engine_mark", "read_report", "task_key"]

# What decides a grading; the writers and the batch itself do not.
_ENGINE = ("simt", "checks", "diagnosis", "rubric", "records", "perf", "gpu")


class Bundle(msgspec.Struct, frozen=True):
    """An exercise as a worker needs it: the texts of its rubric, its template and its skeleton."""

    exercise: str
    file_name: str
    rubric: str
    template: str | None
    skeleton: str

    @property
    def mark(self) -> str:
        """The hash of all of it."""
        return _mark(self)


@lru_cache(maxsize=64)
def _mark(bundle: Bundle) -> str:
    return hashlib.sha256(msgspec.json.encode(bundle)).hexdigest()


class Task(msgspec.Struct, frozen=True):
    """One grading to do. ``key`` is the instructor's; it travels over pipes and encrypted links alone.

    ``run`` says whether the kernel is executed too: in a sandbox, or bare for whoever asked for that.
    ``backend`` "gpu" has it run and timed on a GPU; it is compiled for ``archs`` by the versions that
    ``toolkit`` names. ``bare`` runs or compiles it without a sandbox.
    """

    bundle: Bundle
    submission: bytes
    key: bytes | None = None
    hint_level: int = 1
    seconds: float = 60.0
    memory_mb: int = 4096
    run: Literal["", "sandbox", "bare"] = ""
    backend: Literal["machine", "gpu"] = "machine"
    bare: bool = False
    archs: tuple[str, ...] = ()
    toolkit: str = ""

    def __repr__(self) -> str:
        """Name the exercise and the size: a task ends up in other people's logs."""
        return f"Task({self.bundle.exercise}, {len(self.submission)} bytes)"


def bundle_of(name: str, rubrics: Path | None = None) -> Bundle:
    """Collect an exercise. Raises ``BatchError`` where a part of it cannot be read."""
    exercise = exercises.find(name, rubrics)
    template = exercise.rubric.with_suffix(".md")
    try:
        return Bundle(
            exercise.name,
            exercise.file_name,
            exercise.rubric.read_text(encoding="utf-8-sig"),
            template.read_text(encoding="utf-8") if template.is_file() else None,
            exercises.skeleton(exercise),
        )
    except (OSError, UnicodeDecodeError) as error:
        raise BatchError(f"exercise {name} cannot be read: {error}") from None


@cache
def engine_mark() -> str:
    """Give the hash of all that decides a grading besides the submission and the rubric."""
    root = Path(exercises.__file__).parent
    files = [*root.glob("*.py"), *(path for folder in _ENGINE for path in (root / folder).rglob("*.py"))]
    digest = hashlib.sha256(f"{__version__} numpy {np.__version__}".encode())
    for path in sorted(files):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def task_key(task: Task) -> str:
    """Give the key of a grading: equal keys, equal reports."""
    parts = (
        engine_mark(),
        task.bundle.mark,
        key_mark(task.key),
        str(task.hint_level),
        task.run,
        task.backend,
        ",".join(task.archs),
        task.toolkit,
    )
    digest = hashlib.sha256("\0".join(parts).encode())
    digest.update(b"\0" + hashlib.sha256(task.submission).digest())
    return digest.hexdigest()


def read_report(text: bytes) -> Report:
    """Read back what ``reporters.json`` wrote. Raises ``msgspec.DecodeError`` for anything else."""
    return msgspec.json.decode(text, type=report_json.Document).report
