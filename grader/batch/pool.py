"""Warm worker processes behind ``concurrent.futures.Executor``: one that dies costs one grading.

``ProcessPoolExecutor`` gives up all its futures when a worker dies and cannot end one that hangs;
here each worker has a thread that watches over it, ends it at its deadline and starts the next.
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from grader.batch.worker import LONGEST_FRAME, grade_bytes, write_frame
from grader.gpu.scratch import FOLDER_VARIABLE

__all__ = ["OutOfTimeError", "WorkerDiedError", "WorkerPool"]

START_SECONDS = 120.0
_Job = tuple[Future[bytes], bytes] | None


class WorkerDiedError(Exception):
    """The worker ended in the middle of a grading. ``str()`` says how."""


class OutOfTimeError(Exception):
    """The grading reached its limit of time and was ended. ``str()`` says which."""


class WorkerPool(Executor):
    """``workers`` processes that grade. ``submit`` takes ``grade_bytes`` alone: bytes in, JSON out."""

    def __init__(
        self,
        workers: int,
        *,
        seconds: float = 60.0,
        memory_mb: int = 4096,
        may_run: bool = False,
        module: str = "grader.batch.worker",
        environments: Sequence[Mapping[str, str]] = (),
        folder: Path | None = None,
    ) -> None:
        """``environments`` adds to each worker's own: one for each, where there are any.

        ``folder`` is where hand-ins lie while they are graded; by default that of all temporary files.
        """
        common = {} if folder is None else {FOLDER_VARIABLE: str(folder.resolve())}
        self._seconds = seconds
        self._start = (module, seconds, memory_mb, may_run)
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._closed = False
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._watch, args=({**common, **environment},), daemon=True)
            for environment in environments or [{}] * workers
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue one grading; its future gives the report's JSON, or raises one of the errors above."""
        if self._closed:
            raise RuntimeError("the pool is shut down")
        if fn is not grade_bytes or len(args) != 1 or kwargs:
            raise TypeError("a worker runs grade_bytes(payload) and nothing else")
        future: Future[bytes] = Future()
        self._jobs.put((future, args[0]))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers finish, or with ``cancel_futures`` end them now."""
        self._closed = True
        if cancel_futures:
            self._ending.set()
            with contextlib.suppress(queue.Empty):
                while (job := self._jobs.get_nowait()) is not None:
                    job[0].cancel()
        for _ in self._threads:
            self._jobs.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _watch(self, environment: Mapping[str, str]) -> None:
        worker: _Worker | None = None
        while (job := self._jobs.get()) is not None:
            future, payload = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if worker is None:
                    worker = _Worker(*self._start, environment)
                future.set_result(worker.ask(payload, self._seconds, self._ending))
            except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for the future
                if worker is not None:
                    worker.end()
                worker = None
                future.set_exception(error)
        if worker is not None:
            worker.end()


class _Worker:
    """One worker process and the pipes to it."""

    def __init__(
        self, module: str, seconds: float, memory_mb: int, may_run: bool, own: Mapping[str, str]
    ) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TILEGRADE_")}
        environment |= {
            "TILEGRADE_WORKER_MB": str(memory_mb),
            "TILEGRADE_WORKER_SECONDS": str(seconds),
            # The right to start a child, which a worker otherwise gives up.
            "TILEGRADE_WORKER_RUNS": "1" if may_run else "",
            # One thread each: the pool is the parallelism, and sums keep their order.
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            **own,
        }
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        if self._reply(START_SECONDS, threading.Event()) != b"ready":
            self.end()
            raise WorkerDiedError("a worker did not start")

    def ask(self, payload: bytes, seconds: float, ending: threading.Event) -> bytes:
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, payload)  # type: ignore[arg-type]
        except OSError:
            raise WorkerDiedError(self._how_it_ended()) from None
        return self._reply(seconds, ending)

    def _reply(self, seconds: float, ending: threading.Event) -> bytes:
        deadline = time.monotonic() + seconds
        head = self._read(8, deadline, seconds, ending)
        length = int.from_bytes(head, "big")
        if length > LONGEST_FRAME:
            raise WorkerDiedError(f"a worker announced a reply of {length:,} bytes")
        return self._read(length, deadline, seconds, ending)

    def _read(self, length: int, deadline: float, seconds: float, ending: threading.Event) -> bytes:
        assert self._process.stdout is not None
        out = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while len(out) < length:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise OutOfTimeError(f"it took longer than {seconds:g} s")
                if ending.is_set():
                    raise WorkerDiedError("the batch was ended")
                if not selector.select(min(left, 0.5)):
                    continue
                chunk = os.read(self._process.stdout.fileno(), min(length - len(out), 1 << 20))
                if not chunk:
                    raise WorkerDiedError(self._how_it_ended())
                out += chunk
        return bytes(out)

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        status = self._process.returncode
        if status is not None and status < 0:
            return f"its process was ended by signal {signal.Signals(-status).name}"
        return f"its process ended with status {status}"

    def end(self) -> None:
        """End the process and all that it may have started."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
