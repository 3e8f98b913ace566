"""Where gradings run: worker processes here, or a cluster. Both are ``concurrent.futures`` executors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from grader.batch.assignment import Limits
from grader.batch.pool import WorkerPool

__all__ = ["default_workers", "open_executor"]


def default_workers() -> int:
    """Give the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


@contextmanager
def open_executor(
    workers: int,
    limits: Limits,
    cluster: str | None = None,
    *,
    may_run: bool = False,
    environments: Sequence[Mapping[str, str]] = (),
    resources: Mapping[str, float] | None = None,
    folder: Path | None = None,
) -> Iterator[Executor]:
    """Open an executor that runs ``grade_bytes``; an interrupted batch ends its workers at once.

    ``environments``, one for each worker here, add to theirs; ``resources`` are what a cluster's worker
    has to offer; ``folder`` is where workers here keep what they are grading.
    """
    if cluster is not None:
        from grader.batch.cluster import open_cluster

        with open_cluster(cluster, workers, limits, resources) as executor:
            yield executor
        return
    pool = WorkerPool(
        workers,
        seconds=limits.seconds,
        memory_mb=limits.memory_mb,
        may_run=may_run,
        environments=environments,
        folder=folder,
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown(wait=True)
