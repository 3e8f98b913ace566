"""Workers started by SLURM, through dask-jobqueue: one job each, with what one grading needs."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from grader.batch.assignment import Limits
from grader.batch.problems import BatchError
from grader.gpu.scratch import scratch_folder

__all__ = ["open_slurm"]

#: Megabytes that the worker itself may take, beside the grading that its child does.
OVERHEAD_MB = 1024
_TRIAL_SECONDS = 60


def open_slurm(workers: int, limits: Limits, resources: Mapping[str, float], security: Any) -> Any:
    """Hand in ``workers`` jobs and give the cluster; dask-jobqueue's own configuration adds the rest.

    Raises
    ------
    BatchError
        The extra or SLURM's commands are not installed, or SLURM refuses the job: why.
    """
    try:
        jobqueue = importlib.import_module("dask_jobqueue")
    except ImportError:
        raise BatchError(
            "--cluster slurm: dask is not installed; pip install '.[cluster]' in Tilegrade's checkout"
        ) from None
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise BatchError("slurm: there is no sbatch here; start the batch on a machine that hands in jobs")
    cluster = jobqueue.SLURMCluster(
        cores=1,
        processes=1,
        memory=f"{limits.memory_mb + OVERHEAD_MB}MB",
        job_extra_directives=["--no-requeue", *_gres(resources), *_configured("job-extra-directives", [])],
        worker_extra_args=[*_offered(resources), *_configured("worker-extra-args", [])],
        # The dashboard would show every machine of the network what is being graded.
        scheduler_options={"dashboard_address": "127.0.0.1:0", **_configured("scheduler-options", {})},
        security=security,
    )
    try:
        _try(sbatch, cluster.job_script())
        cluster.scale(jobs=workers)
    except BaseException:
        cluster.close()
        raise
    return cluster


def _configured(name: str, otherwise: Any) -> Any:
    """What dask-jobqueue's configuration says; it reads that only where nothing else is given."""
    return importlib.import_module("dask").config.get(f"jobqueue.slurm.{name}", None) or otherwise


def _gres(resources: Mapping[str, float]) -> list[str]:
    return [f"--gres=gpu:{resources['GPU']:g}"] if resources.get("GPU") else []


def _offered(resources: Mapping[str, float]) -> list[str]:
    text = " ".join(f"{name}={amount:g}" for name, amount in resources.items())
    return ["--resources", f'"{text}"'] if text else []


def _try(sbatch: str, script: str) -> None:
    """Let SLURM look at the job first: what it says of a job handed in by dask nobody gets to see."""
    with scratch_folder() as folder:
        path = folder / "job.sh"
        path.write_text(script, encoding="utf-8")
        try:
            done = subprocess.run(  # noqa: S603 - SLURM's own command and our own file
                [sbatch, "--test-only", str(path)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TRIAL_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BatchError(f"slurm: sbatch cannot be used: {error}") from None
    if done.returncode:
        why = " ".join((done.stderr or done.stdout).split())[-300:] or f"exit status {done.returncode}"
        raise BatchError(f"slurm refuses the job: {why}")
