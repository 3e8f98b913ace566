"""The compile check in a batch: what is tried before anything is graded, and what each grading may take."""

from __future__ import annotations

import time
from typing import Literal

from grader.batch.assignment import Limits
from grader.batch.problems import BatchError
from grader.batch.task import Task
from grader.compilation import architectures
from grader.gpu.compile import LEAST_MEMORY_MB, Compiled, compile_check
from grader.gpu.options import Beside
from grader.gpu.sandbox import find_sandbox
from grader.simt import parse
from grader.simt.plan import Plan, plan

__all__ = ["beside_of", "named_architectures", "toolkit_of"]

#: What every compiler has to manage.
_TRIAL = "from numba import cuda\n\n\n@cuda.jit\ndef trial(x):\n    x[0] = 1\n"
#: Of a grading's time, where nothing runs after the compiler, and where the kernel does.
_SHARE, _SHARE_BEFORE_A_RUN = 0.9, 0.35


def named_architectures(words: str) -> tuple[str, ...]:
    """The architectures that ``--arch`` names. Raises ``BatchError`` for another word."""
    try:
        return architectures(words)
    except ValueError as error:
        raise BatchError(f"--arch: {error}") from None


def toolkit_of(archs: tuple[str, ...], limits: Limits, *, bare: bool) -> str:
    """Try the compiler on a kernel of our own and give its versions in one line.

    What no submission could be at fault for is found here, once, and not in each of their reports.

    Raises
    ------
    BatchError
        The extra is not installed, the compiler cannot be used or has not one of the architectures, or
        the assignment allows a grading less memory than the compiler takes.
    """
    if limits.memory_mb < LEAST_MEMORY_MB:
        raise BatchError(
            f"--arch: the compiler takes {LEAST_MEMORY_MB} MB of memory; the assignment's limits allow a "
            f"grading {limits.memory_mb}"
        )
    found = _tried(archs, bare=bare)
    if found.reason:
        raise BatchError(f"--arch: {found.reason}")
    for one in found.results:
        if one.error_kind == "arch":
            raise BatchError(f"--arch: this compiler has no {one.arch}; {one.error}")
        if one.error:
            raise BatchError(f"--arch: the compiler fails for {one.arch}: {one.error}")
    return found.toolkit


def _tried(archs: tuple[str, ...], *, bare: bool) -> Compiled:
    planned = plan(parse(_TRIAL), "trial", file="trial.py")
    assert isinstance(planned, Plan)
    types = [{"dtype": "float32", "ndim": 1, "layout": "C"}]
    return compile_check(planned.request(), types, archs, 32, sandbox=None if bare else find_sandbox())


def beside_of(task: Task) -> Beside:
    """What a worker asks about a kernel. The compiler is done before the grading's own time is over.

    So a compiler that hangs costs a submission its figures and not its verdict.
    """
    share = _SHARE_BEFORE_A_RUN if task.run else _SHARE
    sandbox: Literal["none", "required"] = "none" if task.bare else "required"
    return Beside(
        archs=task.archs, toolkit=task.toolkit, ends=time.monotonic() + share * task.seconds, sandbox=sandbox
    )
