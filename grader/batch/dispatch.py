"""Grade what is not in the journal yet, a few at a time, each kept the moment it is done."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace

import msgspec

from grader.batch.journal import Journal
from grader.batch.pool import OutOfTimeError, WorkerDiedError
from grader.batch.progress import Progress
from grader.batch.task import Task, read_report
from grader.batch.worker import grade_bytes
from grader.compilation import was_lost
from grader.records import Fault, Outcome, Report
from grader.reporters import json as report_json

__all__ = ["Job", "dispatch"]

TRIES = 3
_IN_HAND = 4


@dataclass(frozen=True, slots=True)
class Job:
    """A grading to do: its key, its task and how often it has been tried."""

    key: str
    task: Task
    tries: int = 0


def dispatch(
    jobs: Iterable[Job], executor: Executor, journal: Journal, progress: Progress, workers: int
) -> int:
    """Run all jobs and keep their reports; give how many were run.

    A worker that dies costs its grading alone: it is tried again a bounded number of times, then
    reported. Never more than a few tasks a worker are in memory.
    """
    waiting = iter(jobs)
    running: dict[Future[bytes], tuple[Job, float]] = {}
    done = 0

    def start(job: Job) -> None:
        payload = msgspec.msgpack.encode(job.task)
        running[executor.submit(grade_bytes, payload)] = (job, time.perf_counter())

    for job in _some(waiting, workers * _IN_HAND):
        start(job)
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            job, started = running.pop(future)
            again = _keep(future, job, time.perf_counter() - started, journal)
            if again is not None:
                start(again)
                continue
            done += 1
            progress.step()
            for following in _some(waiting, 1):
                start(following)
    return done


def _some(jobs: Iterator[Job], count: int) -> Iterator[Job]:
    for _, job in zip(range(count), jobs, strict=False):
        yield job


def _keep(future: Future[bytes], job: Job, seconds: float, journal: Journal) -> Job | None:
    """Keep a finished grading, or give the job to try again."""
    try:
        text = future.result()
        report = read_report(text)
    except OutOfTimeError as error:
        report = _unjudged(job, Outcome.CANNOT_JUDGE, f"the grading was stopped: {error}")
    except (WorkerDiedError, msgspec.DecodeError) as error:
        if job.tries + 1 < TRIES:
            return replace(job, tries=job.tries + 1)
        what = f"the grading did not end in {TRIES} tries: {error}"
        report = replace(_unjudged(job, Outcome.HARNESS_FAULT, what), fault=Fault(what))
    else:
        settled = report.outcome is not Outcome.HARNESS_FAULT and not was_lost(report.not_compiled)
        journal.keep(job.key, job.task.bundle.exercise, text, seconds, settled=settled)
        return None
    text = report_json.render(report).encode()
    journal.keep(job.key, job.task.bundle.exercise, text, seconds, settled=False)
    return None


def _unjudged(job: Job, outcome: Outcome, reason: str) -> Report:
    from grader.rubric.load import load_text

    bundle = job.task.bundle
    rubric = load_text(bundle.rubric, exercise=bundle.exercise)
    possible = sum(check.points for check in rubric.checks.present.values())
    possible += sum(question.points for question in rubric.questions)
    return Report(
        exercise=bundle.exercise,
        title=rubric.title,
        kind=rubric.kind,
        path=bundle.file_name,
        outcome=outcome,
        possible=round(possible, 2),
        reason=reason,
    )
