"""``python instant.py SUBMISSIONS OUT WORKERS``: a batch whose gradings take a millisecond each.

What is killed and what goes on after a kill is the batch; how long its gradings take is no matter.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from grader.batch import dispatch, run
from grader.batch.assignment import Limits
from grader.batch.task import Task
from grader.records import Outcome, Report
from grader.reporters import json as report_json

SECONDS = 0.001


def grade(payload: bytes) -> bytes:
    task = msgspec.msgpack.decode(payload, type=Task)
    points = hashlib.sha256(task.submission).digest()[0] % 101
    time.sleep(SECONDS)
    report = Report(
        exercise=task.bundle.exercise,
        title="Tiled matrix multiplication",
        kind="kernel",
        path=task.bundle.file_name,
        outcome=Outcome.PASS if points > 50 else Outcome.FAIL,
        points=float(points),
        possible=100.0,
        reason="" if points > 50 else "half of the points are missing",
    )
    return report_json.render(report).encode()


class Threads(ThreadPoolExecutor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return super().submit(grade, *args)


@contextmanager
def threads(workers: int, limits: Limits, cluster: str | None = None, **_: object) -> Iterator[Threads]:
    with Threads(workers) as pool:
        yield pool


def batch(submissions: Path, out: Path, workers: int = 2, **settings: Any) -> run.BatchResult:
    run.open_executor = threads  # type: ignore[assignment]
    return run.run(run.Settings(submissions, out, workers=workers, quiet=True, **settings))


if __name__ == "__main__":
    assert dispatch.TRIES == 3
    result = batch(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    print(result.graded, result.kept)  # noqa: T201
