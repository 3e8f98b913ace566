"""A cluster by dask.distributed: submissions go as bytes, reports come back as JSON.

A running task on a cluster cannot be interrupted, so each grades in a child of its own, which it
ends at its deadline; the child is kept warm for the next task of that worker.
"""

from __future__ import annotations

import importlib
import ipaddress
import os
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

import msgspec

from grader.batch.assignment import Limits
from grader.batch.gpu_workers import device_environments
from grader.batch.pool import OutOfTimeError, WorkerDiedError, WorkerPool
from grader.batch.problems import BatchError
from grader.batch.slurm import open_slurm
from grader.batch.task import Task
from grader.batch.worker import grade_bytes

__all__ = ["ClusterExecutor", "open_cluster", "warning_of"]

START_SECONDS = 60
#: How long SLURM may let the first job wait.
QUEUE_SECONDS = 3600
_CERTIFICATES = ("TILEGRADE_TLS_CA", "TILEGRADE_TLS_CERT", "TILEGRADE_TLS_KEY")
_POOLS: dict[tuple[float, int, bool, str], WorkerPool] = {}
_GUARD = threading.Lock()


class Sealed:
    """A payload whose text says nothing: a scheduler logs the arguments of a task that fails."""

    def __init__(self, payload: bytes) -> None:
        self.payload = payload

    def __repr__(self) -> str:
        return f"Sealed({len(self.payload)} bytes)"

    def __reduce__(self) -> tuple[type[Sealed], tuple[bytes]]:
        return Sealed, (self.payload,)


def grade_in_child(sealed: Sealed) -> tuple[str, bytes]:
    """Grade on a cluster's worker: ("report", JSON), ("time", why) or ("died", why)."""
    task = msgspec.msgpack.decode(sealed.payload, type=Task)
    try:
        return "report", _pool_for(task).submit(grade_bytes, sealed.payload).result()
    except OutOfTimeError as error:
        return "time", str(error).encode()
    except (WorkerDiedError, BatchError) as error:
        return "died", str(error).encode()


def _pool_for(task: Task) -> WorkerPool:
    """The child of this worker for gradings of one kind; on a GPU, the first that this worker sees."""
    on_gpu = task.backend == "gpu"
    runs = bool(task.run or task.archs) or on_gpu
    kind = (task.seconds, task.memory_mb, runs, task.backend)
    with _GUARD:
        if kind not in _POOLS:
            _POOLS[kind] = WorkerPool(
                1,
                seconds=task.seconds,
                memory_mb=task.memory_mb,
                may_run=runs,
                environments=device_environments(1) if on_gpu else (),
            )
        return _POOLS[kind]


class ClusterExecutor(Executor):
    """``submit`` takes ``grade_bytes`` alone, as the local pool does."""

    def __init__(self, client: Any, resources: Mapping[str, float]) -> None:
        self._client, self._resources = client, resources

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue one grading on the cluster."""
        if fn is not grade_bytes or len(args) != 1 or kwargs:
            raise TypeError("a cluster runs grade_bytes(payload) and nothing else")
        future: Future[bytes] = Future()
        future.set_running_or_notify_cancel()
        extra = {"resources": dict(self._resources)} if self._resources else {}
        remote = self._client.submit(grade_in_child, Sealed(args[0]), pure=False, retries=0, **extra)
        remote.add_done_callback(lambda done: _hand_over(done, future))
        return future


def _hand_over(remote: Any, future: Future[bytes]) -> None:
    try:
        kind, body = remote.result()
    except Exception as error:  # noqa: BLE001 - whatever became of the worker, the grading is what is lost
        future.set_exception(WorkerDiedError(f"a worker of the cluster was lost ({type(error).__name__})"))
        return
    if kind == "report":
        future.set_result(body)
    else:
        why = body.decode()
        future.set_exception(OutOfTimeError(why) if kind == "time" else WorkerDiedError(why))


def warning_of(address: str) -> str | None:
    """Give the warning that an address deserves: plain TCP to another machine is readable on the way."""
    match = re.fullmatch(r"(?:(\w+)://)?\[?([^\]/]+?)\]?(?::\d+)?", address)
    if match is None or (match[1] or "tcp") == "tls":
        return None
    host = match[2]
    try:
        if ipaddress.ip_address(host).is_loopback:
            return None
    except ValueError:
        if host == "localhost":
            return None
    cure = "set TILEGRADE_TLS_CA, _CERT and _KEY" if address == "slurm" else "use tls://"
    return (
        f"{address}: submissions and the private key travel unencrypted and anyone who reaches the scheduler "
        f"can run code on its workers; {cure} (docs/cluster.md)"
    )


@contextmanager
def open_cluster(
    address: str, workers: int, limits: Limits, resources: Mapping[str, float] | None = None
) -> Iterator[Executor]:
    """Connect to a scheduler, or start workers by SLURM; check first that somebody can do the work.

    Raises
    ------
    BatchError
        The extra is not installed, nobody answers, or no worker has the resources.
    """
    try:
        distributed = importlib.import_module("distributed")
        # A lost worker is ours to count; two would otherwise be taken along before we hear of it.
        importlib.import_module("dask").config.set({"distributed.scheduler.allowed-failures": 0})
    except ImportError:
        raise BatchError(
            "--cluster: dask is not installed; pip install '.[cluster]' in Tilegrade's checkout"
        ) from None
    security = _security(distributed, address)
    if security is None and (warning := warning_of(address)) is not None:
        warnings.warn(warning, stacklevel=2)
    cluster = open_slurm(workers, limits, resources or {}, security) if address == "slurm" else None
    try:
        client = distributed.Client(
            cluster if cluster is not None else address,
            security=security,
            timeout=START_SECONDS,
            set_as_default=False,
        )
    except (OSError, ValueError) as error:
        if cluster is not None:
            cluster.close()
        raise BatchError(f"{address}: no scheduler answers: {error}") from None
    try:
        _check(client, address, resources or {})
        yield ClusterExecutor(client, resources or {})
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _check(client: Any, address: str, resources: Mapping[str, float]) -> None:
    try:
        client.wait_for_workers(1, timeout=QUEUE_SECONDS if address == "slurm" else START_SECONDS)
    except TimeoutError:
        if address == "slurm":
            raise BatchError("slurm: no job has started within an hour; squeue says why") from None
        raise BatchError(f"{address}: the scheduler has no workers; start some (docs/cluster.md)") from None
    for name, amount in resources.items():
        workers = client.scheduler_info()["workers"].values()
        # dask waits for ever for a resource that nobody has.
        if not any(worker["resources"].get(name, 0) >= amount for worker in workers):
            raise BatchError(
                f"{address}: no worker offers {name}={amount:g}; start one with --resources {name}=1"
            )


def _security(distributed: Any, address: str) -> Any:
    """Give the certificates for tls://, and for SLURM's workers where there are some; else None."""
    given = {name: os.environ.get(name, "") for name in _CERTIFICATES}
    if not address.startswith("tls://") and not (address == "slurm" and any(given.values())):
        return None
    missing = [name for name, path in given.items() if not path]
    if missing:
        raise BatchError(
            f"{address}: set {', '.join(missing)} to the files of the certificates (docs/cluster.md)"
        )
    authority, certificate, key = given.values()
    roles = ("client", "scheduler", "worker") if address == "slurm" else ("client",)
    files = {
        f"tls_{role}_{part}": path for role in roles for part, path in (("cert", certificate), ("key", key))
    }
    return distributed.Security(require_encryption=True, tls_ca_file=authority, **files)
