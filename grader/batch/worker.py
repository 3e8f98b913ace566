"""A worker: a process that grades what comes in on its standard input until that ends.

Frames are a length of 8 bytes, big end first, and that many bytes: a ``Task`` in MessagePack in, a
report's JSON out. Nothing is pickled, and nothing else is read from a worker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import msgspec

from grader.batch.limits import confine, forbid_processes, grant_seconds
from grader.batch.task import Bundle, Task
from grader.gpu.scratch import scratch_folder
from grader.records import Outcome, Report
from grader.reporters import json as report_json

__all__ = ["LONGEST_FRAME", "grade_bytes", "read_frame", "serve", "write_frame"]

LONGEST_FRAME = 64 * 1024 * 1024


def grade_bytes(payload: bytes) -> bytes:
    """Grade one task: MessagePack in, a report's JSON out, the same bytes each time since times stay out."""
    task = msgspec.msgpack.decode(payload, type=Task)
    # A batch has it in a folder of its own, which its next run clears.
    with scratch_folder() as folder:
        report = grade_task(task, folder)
    return report_json.render(replace(report, seconds=0.0)).encode()


def grade_task(task: Task, folder: Path) -> Report:
    """Grade a task in a folder of its own, where the submission has its exercise's file name."""
    from grader.gpu.options import GpuOptions
    from grader.grade import grade

    beside = None
    if task.archs:
        from grader.batch.compiling import beside_of

        beside = beside_of(task)
    _lay_out(task.bundle, folder)
    name = task.bundle.file_name
    (folder / name).write_bytes(task.submission)
    before = Path.cwd()
    # A path of its own would differ from worker to worker and stand in every message.
    os.chdir(folder)
    try:
        report = grade(
            task.bundle.exercise,
            name,
            # Not absolute: the same text in the same place is the same rubric, read once.
            rubric_dir=Path("rubrics"),
            private_key=task.key,
            hint_level=task.hint_level,
            backend=task.backend,
            gpu=GpuOptions(unsafe_no_sandbox=task.bare),
            beside=beside,
        )
    finally:
        os.chdir(before)
    report = _without_memory(report, task)
    return report if not task.run or report.kind != "kernel" else _run_too(report, task)


def _run_too(report: Report, task: Task) -> Report:
    """Execute the kernel as well. Nothing runs bare for want of a sandbox: that has to be asked for."""
    from grader.batch.execution import Executed, execute, with_execution
    from grader.gpu.sandbox import Limits, find_sandbox
    from grader.rubric.load import load_text

    sandbox = find_sandbox() if task.run == "sandbox" else None
    if task.run == "sandbox" and sandbox is None:
        return with_execution(report, Executed(0, 0, "there is no sandbox here"), sandboxed=True, ran=False)
    if not report.settings and report.outcome is not Outcome.PASS:
        return report
    rubric = load_text(task.bundle.rubric, exercise=task.bundle.exercise)
    source = task.submission.decode("utf-8-sig", "replace")
    limits = Limits(seconds=task.seconds * 0.6)
    executed = execute(rubric, source, report.settings, sandbox, key=task.key or b"", limits=limits)
    return with_execution(report, executed, sandboxed=sandbox is not None)


def _lay_out(bundle: Bundle, folder: Path) -> None:
    rubrics, originals = folder / "rubrics", folder / "exercises"
    rubrics.mkdir(parents=True)
    originals.mkdir()
    (rubrics / f"{bundle.exercise}.yaml").write_text(bundle.rubric, encoding="utf-8")
    if bundle.template is not None:
        (rubrics / f"{bundle.exercise}.md").write_text(bundle.template, encoding="utf-8")
    (originals / bundle.file_name).write_text(bundle.skeleton, encoding="utf-8")


def _without_memory(report: Report, task: Task) -> Report:
    """Out of memory under the batch's own limit is a limit reached, not a fault of the grader."""
    if report.fault is None or not report.fault.summary.startswith(
        ("MemoryError", "numpy._core._exceptions._Array")
    ):
        return report
    reason = f"the grading needed more than {task.memory_mb} MB of memory and was stopped"
    return replace(report, outcome=Outcome.CANNOT_JUDGE, reason=reason, fault=None)


def read_frame(stream: BinaryIO) -> bytes | None:
    """Give the next frame, or None where the stream has ended. Raises ``ValueError`` for one too long."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    length = int.from_bytes(head, "big")
    if length > LONGEST_FRAME:
        raise ValueError(f"a frame of {length} bytes")
    body = stream.read(length)
    return body if len(body) == length else None


def write_frame(stream: BinaryIO, body: bytes) -> None:
    """Write one frame and let it go."""
    stream.write(len(body).to_bytes(8, "big") + body)
    stream.flush()


def serve(grade_one: Callable[[bytes], bytes] = grade_bytes) -> None:
    """Grade until the standard input ends."""
    memory_mb = int(os.environ.get("TILEGRADE_WORKER_MB", "4096"))
    seconds = float(os.environ.get("TILEGRADE_WORKER_SECONDS", "60"))
    on_gpu = bool(os.environ.get("TILEGRADE_WORKER_GPU"))
    confine(memory_mb, inherited=not on_gpu)
    if on_gpu:
        from grader.batch.gpu_workers import confine_files

        confine_files()
    # Whatever prints, prints elsewhere: the frames' descriptor is this process's alone.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import grader.grade_kernel  # noqa: F401 - warm before the first task

    if not os.environ.get("TILEGRADE_WORKER_RUNS"):
        forbid_processes()
    write_frame(replies, b"ready")
    while (payload := read_frame(sys.stdin.buffer)) is not None:
        grant_seconds(seconds)
        write_frame(replies, grade_one(payload))


if __name__ == "__main__":
    serve()
