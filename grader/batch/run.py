"""A batch from a folder of submissions to a folder of grades."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from grader.batch.assignment import Limits
from grader.batch.discovery import Submission
from grader.batch.dispatch import Job, dispatch
from grader.batch.executors import open_executor
from grader.batch.gpu_workers import gpu_limits
from grader.batch.journal import Journal
from grader.batch.leaderboard import timing_files
from grader.batch.out_folder import OutFolder
from grader.batch.outputs import outputs
from grader.batch.prepare import Batch, Settings, prepare
from grader.batch.problems import Problem, printable
from grader.batch.progress import Progress
from grader.batch.purge import leave_out_purged, purge_mark
from grader.batch.record import class_record
from grader.batch.regrading import forget_graded, note_grades, written_before
from grader.batch.sheets import foreign_key
from grader.batch.task import Task, read_report, task_key
from grader.records import Outcome, Report
from grader.reporters import csv_text
from grader.reporters.classroom import ClassRecord

__all__ = ["BatchResult", "Settings", "run"]


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch did: the class, how many gradings were made and how many were there already."""

    record: ClassRecord
    graded: int
    kept: int
    before: Mapping[tuple[str, str], Report] = field(default_factory=dict)


def run(settings: Settings) -> BatchResult:
    """Grade a class and write everything.

    Raises
    ------
    BatchError
        An input cannot be used, the output folder is taken or cannot be written. What was graded is kept.
    """
    batch = prepare(settings)
    folder = OutFolder(settings.out)
    with folder.locked():
        journal = Journal(settings.out / "journal.sqlite3")
        try:
            return _graded(batch, folder, journal)
        finally:
            journal.close()


def _graded(batch: Batch, folder: OutFolder, journal: Journal) -> BatchResult:
    settings = batch.settings
    folder.clear_scratch()
    leave_out_purged(batch, journal)
    keys, contents = _keys(batch)
    _remember(batch, journal)
    before = {}
    if settings.regrade:
        before = written_before(batch, journal)
        forget_graded(batch, journal)
    salt = journal.setdefault("salt", _salt(batch, contents))
    journal.hand_in(
        (one.student.id, one.exercise, one.path, key)
        for one, key in zip(batch.found.submissions, keys)
        if key
    )
    settled = journal.settled()
    todo = {key: one for one, key in zip(batch.found.submissions, keys) if key and key not in settled}
    done = 0
    if todo:
        workers = len(batch.environments) or settings.workers
        progress = Progress(len(todo), quiet=settings.quiet)
        with (
            folder.scratch() as scratch,
            open_executor(
                workers,
                _limits(batch),
                settings.cluster,
                may_run=bool(settings.run or settings.archs) or settings.backend == "gpu",
                environments=batch.environments,
                resources={"GPU": 1.0} if settings.backend == "gpu" else {},
                folder=scratch,
            ) as executor,
        ):
            done = dispatch(_jobs(batch, todo), executor, journal, progress, workers)
        progress.close()
    reports = [_report(batch, journal, one, key) for one, key in zip(batch.found.submissions, keys)]
    record = class_record(batch, reports, bytes.fromhex(salt))
    files = outputs(
        record,
        held=batch.held,
        names=settings.names,
        junit_per_student=settings.junit_per_student,
        junit_strict=settings.junit_strict,
    )
    secret = None if settings.names else settings.private_key or bytes.fromhex(salt)
    timed = timing_files(journal, record, secret, held=batch.held)
    folder.write(chain(files, [("times.csv", _times(batch, journal, keys))], timed))
    note_grades(journal, record)
    if settings.gradebook is not None:
        from grader.batch.gradebook import write_gradebook

        write_gradebook(settings.gradebook, record)
    return BatchResult(record, done, len({key for key in keys if key}) - len(todo), before)


def _task(batch: Batch, one: Submission, content: bytes) -> Task:
    limits = _limits(batch)
    # A worksheet has nothing to compile, so its grading is the same with and without.
    compiled = batch.blanks[one.exercise].kind == "kernel"
    return Task(
        batch.bundles[one.exercise],
        content,
        batch.settings.private_key,
        batch.assignment.hint_level,
        limits.seconds,
        limits.memory_mb,
        batch.settings.run,
        batch.settings.backend,
        batch.settings.bare,
        batch.settings.archs if compiled else (),
        batch.toolkit if compiled else "",
    )


def _limits(batch: Batch) -> Limits:
    limits = batch.assignment.limits
    return gpu_limits(limits) if batch.settings.backend == "gpu" else limits


def _keys(batch: Batch) -> tuple[list[str], list[str]]:
    """Give each submission's key and its content's hash; both empty for one that cannot be read."""
    keys, contents = [], []
    for one in batch.found.submissions:
        try:
            content = one.read()
        except OSError as error:
            keys.append("")
            contents.append("")
            batch.problems.append(
                Problem(
                    "unreadable", one.path, f"cannot be read: {error.strerror or error}", (one.student.id,)
                )
            )
            continue
        key = foreign_key(one.student, one.path, content)
        if key is not None:
            other = "somebody who was removed" if purge_mark(key) in batch.purged else printable(key)
            what = f"its numbers were drawn for {other}; it is not graded"
            batch.problems.append(Problem("another-students-sheet", one.path, what, (one.student.id,)))
            keys.append("")
            contents.append("")
            continue
        keys.append(task_key(_task(batch, one, content)))
        contents.append(hashlib.sha256(content).hexdigest())
    return keys, contents


def _jobs(batch: Batch, todo: Mapping[str, Submission]) -> Iterator[Job]:
    for key, one in todo.items():
        try:
            task = _task(batch, one, one.read())
        except OSError:
            continue
        # What changed while the batch ran is graded by the next one.
        if task_key(task) == key:
            yield Job(key, task)


def _report(batch: Batch, journal: Journal, one: Submission, key: str) -> tuple[Submission, Report]:
    text = journal.report(key) if key else None
    if text is not None:
        return one, read_report(text)
    reason = "the file could not be read, or is another student's sheet; ask for it again"
    blank = batch.blanks[one.exercise]
    return one, replace(blank, outcome=Outcome.CANNOT_JUDGE, reason=reason, checks=(), questions=())


def _salt(batch: Batch, contents: list[str]) -> str:
    """Give a secret of the class's own: nobody knows all its submissions; the same class gives the same."""
    digest = hashlib.sha256(b"tilegrade pseudonyms\0")
    for one, content in zip(batch.found.submissions, contents):
        digest.update(f"{one.student.id}\0{one.exercise}\0{content}\0".encode())
    return digest.hexdigest()


def _remember(batch: Batch, journal: Journal) -> None:
    """Keep how this batch was started, for ``grader regrade``; the private key is never kept."""
    settings = batch.settings
    paths = {
        name: str(path.resolve()) if path is not None else None
        for name, path in (
            ("submissions", settings.submissions),
            ("assignment", settings.assignment),
            ("roster", settings.roster),
            ("rubrics", settings.rubrics),
            ("overrides", settings.overrides),
        )
    }
    kept = ("names", "junit_per_student", "junit_strict", "run", "backend", "archs", "bare")
    flags = {name: getattr(settings, name) for name in kept}
    journal.note("toolkit", batch.toolkit)
    journal.note("settings", json.dumps({**paths, **flags, "keyed": settings.private_key is not None}))


def _times(batch: Batch, journal: Journal, keys: list[str]) -> str:
    rows: list[list[csv_text.Cell]] = [
        [one.student.id, one.exercise, round(journal.seconds(key), 3)]
        for one, key in zip(batch.found.submissions, keys)
        if key
    ]
    return csv_text.render(["student", "exercise", "seconds"], rows)
