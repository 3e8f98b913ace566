"""The worker pool: a death or a hang costs one grading, and only that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from classes import KEY, text

from grader.batch.assignment import Limits
from grader.batch.dispatch import Job, dispatch
from grader.batch.executors import open_executor
from grader.batch.journal import Journal
from grader.batch.pool import OutOfTimeError, WorkerDiedError, WorkerPool
from grader.batch.progress import Progress
from grader.batch.task import Bundle, Task, bundle_of, read_report, task_key
from grader.batch.worker import grade_bytes
from grader.records import Outcome

NAME = "02_ragged_dims"


def payload(submission: str, **settings: object) -> bytes:
    return msgspec.msgpack.encode(Task(bundle_of(NAME), submission.encode(), **settings))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(1) as pool:
        yield pool


def test_a_worker_gives_the_bytes_that_this_process_would(pool: WorkerPool) -> None:
    sent = payload(text("exercises", "02_ragged_dims.py"), key=KEY)
    given = pool.submit(grade_bytes, sent).result()
    assert given == grade_bytes(sent) == pool.submit(grade_bytes, sent).result()
    report = read_report(given)
    assert (report.outcome, report.path) == (Outcome.FAIL, "02_ragged_dims.py")
    assert KEY not in given


def test_a_worker_runs_nothing_else(pool: WorkerPool) -> None:
    with pytest.raises(TypeError, match="grade_bytes"):
        pool.submit(print, b"x")


def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A worker module that obeys what its payload says in the place of grading it."""
    (tmp_path / "bad_worker.py").write_text(
        "import os, time\n"
        "from grader.batch.worker import serve\n"
        "def obey(payload):\n"
        "    word = payload.decode()\n"
        "    if word == 'die': os.kill(os.getpid(), 9)\n"
        "    if word == 'exit': os._exit(0)\n"
        "    if word == 'hang': time.sleep(60)\n"
        "    if word == 'huge': return b'x' * 20\n"
        "    if word == 'burn':\n"
        "        while True: pass\n"
        "    if word == 'eat': return str(len(bytearray(6 * 2**30))).encode()\n"
        "    return word.upper().encode()\n"
        "serve(obey)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "bad_worker"


def test_deaths_and_hangs_cost_their_own_grading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = misbehaving(tmp_path, monkeypatch)
    with WorkerPool(2, seconds=1.5, module=module) as pool:
        words = ["one", "die", "two", "exit", "hang", "three", "eat", "four"]
        futures = {word: pool.submit(grade_bytes, word.encode()) for word in words}
        for word in ("one", "two", "three", "four"):
            assert futures[word].result() == word.upper().encode()
        with pytest.raises(WorkerDiedError, match="SIGKILL"):
            futures["die"].result()
        with pytest.raises(WorkerDiedError, match="status 0"):
            futures["exit"].result()
        with pytest.raises(OutOfTimeError, match=r"longer than 1\.5 s"):
            futures["hang"].result()
        with pytest.raises(WorkerDiedError, match="status 1"):
            futures["eat"].result()


def test_a_dying_worker_is_tried_again_then_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fragile_worker.py").write_text(
        "import os, msgspec\n"
        "from grader.batch.task import Task\n"
        "from grader.batch.worker import serve, grade_bytes\n"
        "def fragile(payload):\n"
        "    if b'die' in msgspec.msgpack.decode(payload, type=Task).submission: os._exit(3)\n"
        "    return grade_bytes(payload)\n"
        "serve(fragile)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    bundle: Bundle = bundle_of(NAME)
    tasks = [Task(bundle, b"x = 1\n"), Task(bundle, b"die = 1\n")]
    jobs = [Job(task_key(task), task) for task in tasks]
    journal = Journal(tmp_path / "j")
    with WorkerPool(1, module="fragile_worker") as pool:
        assert dispatch(jobs, pool, journal, Progress(2, quiet=True), 1) == 2
    reports = [read_report(journal.report(job.key) or b"") for job in jobs]
    assert [report.outcome for report in reports] == [Outcome.FAIL, Outcome.HARNESS_FAULT]
    assert reports[1].reason == "the grading did not end in 3 tries: its process ended with status 3"
    assert reports[1].possible == 100
    assert journal.settled() == {jobs[0].key}
    journal.close()


def test_an_interrupted_batch_ends_its_workers() -> None:
    futures = []

    def interrupted() -> None:
        with open_executor(1, Limits()) as executor:
            futures.append(executor.submit(grade_bytes, payload("x = 1\n")))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert futures[0].done()
