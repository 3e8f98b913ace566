"""The GPU child with numba's simulator in place of the GPU: results, and what ends a run."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.gpu import child
from grader.gpu.device_runs import FATAL, Deadlines, Launch, Session, run_on_device
from grader.gpu.sandbox import Sandbox, find_sandbox
from grader.simt import parse
from grader.simt.plan import Plan, plan

SOURCE = """\
import math

from numba import cuda, float32

SCALE = 3
raise SystemExit("nothing of a submission's module is run")


@cuda.jit(device=True)
def scaled(value):
    return value * SCALE


@cuda.jit
def add(a, b, out, n, factor):
    i = cuda.grid(1)
    if i < n:
        out[i] = scaled(a[i]) + b[i] * factor


@cuda.jit
def outside(a, b, out, n, factor):
    out[n + 5] = 1.0


@cuda.jit
def endless(a, b, out, n, factor):
    while n > 0:
        pass


@cuda.jit
def negative_root(a, b, out, n, factor):
    out[0] = math.sqrt(-factor)


@cuda.jit
def chatty(a, b, out, n, factor):
    print("x" * 1000)
    out[0] = 1.0
"""


def planned(kernel: str) -> dict[str, Any]:
    found = plan(parse(SOURCE.replace("raise SystemExit", "print")), kernel, file="one.py")
    assert isinstance(found, Plan)
    # The plan's text is the submission's: were it run, the child would end.
    return {**found.request(), "source": SOURCE}


def launch(n: int, block: int = 8) -> Launch:
    a, b = np.arange(n, dtype=np.float32), np.arange(n, dtype=np.int32)
    arguments = {"a": a, "b": b, "out": np.full(n, -7, np.float32), "n": n, "factor": 0.5}
    return Launch((-(-n // block),), (block,), arguments)


def run(kernel: str, *launches: Launch, sandbox: Sandbox | None = None, **deadlines: float) -> Session:
    chosen = replace(Deadlines(), **deadlines)  # type: ignore[arg-type]
    return run_on_device(planned(kernel), launches, sandbox=sandbox, simulated=True, deadlines=chosen)


def test_every_launch_has_its_own_arrays_and_its_result() -> None:
    session = run("add", launch(5), launch(20), launch(1))
    assert session.device == "numba's simulator"
    assert session.fault is None
    for one, result in zip((5, 20, 1), session.results, strict=True):
        assert result.after is not None
        assert result.after["out"].tolist() == [3.5 * i for i in range(one)]
        assert result.after["a"].tolist() == list(range(one))
        assert result.after["b"].dtype == np.int32
        assert (result.after["n"], result.after["factor"]) == (one, 0.5)
        assert result.overwritten == {}


@pytest.mark.skipif(
    find_sandbox() is None, reason="no sandbox on this machine (bubblewrap, setpriv, prlimit)"
)
def test_the_same_child_runs_in_the_sandbox() -> None:
    session = run("add", launch(6), sandbox=find_sandbox())
    assert session.fault is None
    assert session.results[0].after is not None
    assert session.results[0].after["out"].tolist() == [3.5 * i for i in range(6)]


def test_an_access_outside_ends_the_run_and_what_remains_has_no_result() -> None:
    session = run("outside", launch(4), launch(4))
    first, second = session.results
    assert first.fault is not None
    assert first.fault.name == "gpu-illegal-address"
    assert "IndexError" in first.fault.detail
    assert first.launched
    assert (second.fault, second.launched, second.after) == (first.fault, False, None)


def test_a_kernel_that_does_not_end_is_ended() -> None:
    started = time.monotonic()
    session = run("endless", launch(2, 1), launch(2), launch=1.5)
    assert session.fault is not None
    assert (session.fault.name, session.fault.detail) == ("gpu-did-not-finish", "1.5 s")
    assert time.monotonic() - started < 30


def test_what_the_simulator_raises_is_told_in_its_words() -> None:
    session = run("negative_root", launch(2))
    assert session.fault is not None
    assert session.fault.name == "gpu-kernel-aborted"
    assert "math domain error" in session.fault.detail


def test_what_a_kernel_prints_reaches_no_pipe() -> None:
    session = run("chatty", launch(3))
    assert session.fault is None
    assert session.results[0].after is not None
    assert session.results[0].after["out"][0] == 1.0


def test_a_plan_that_cannot_be_built_is_a_compile_error() -> None:
    broken = planned("add")
    broken["functions"][-1]["globals"]["cuda"] = {"module": "os"}
    session = run_on_device(broken, [launch(3)], sandbox=None, simulated=True)
    assert session.fault is not None
    assert session.fault.name == "gpu-compile-error"
    assert "os" in session.fault.detail


def test_without_a_driver_the_child_says_so() -> None:
    from grader.gpu.available import gpu_reason

    if not gpu_reason():
        pytest.skip("there is a GPU here")
    session = run_on_device(planned("add"), [launch(3)], sandbox=None)
    assert session.fault is not None
    assert session.fault.name == "gpu-child-lost"
    assert "driver" in session.fault.detail


class CudaAPIError(Exception):
    """As numba's, whose text names the driver's code."""


class TypingError(Exception):
    """As numba's."""


TypingError.__module__ = "numba.core.errors"


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (
            CudaAPIError("[700] Call to cuCtxSynchronize results in CUDA_ERROR_ILLEGAL_ADDRESS"),
            "gpu-illegal-address",
        ),
        (CudaAPIError("CUDA_ERROR_MISALIGNED_ADDRESS"), "gpu-illegal-address"),
        (CudaAPIError("CUDA_ERROR_LAUNCH_FAILED"), "gpu-kernel-aborted"),
        (CudaAPIError("CUDA_ERROR_ASSERT"), "gpu-kernel-aborted"),
        (CudaAPIError("CUDA_ERROR_LAUNCH_TIMEOUT"), "gpu-did-not-finish"),
        (CudaAPIError("CUDA_ERROR_OUT_OF_MEMORY: no memory"), "gpu-out-of-memory"),
        (CudaAPIError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), "gpu-launch-refused"),
        (CudaAPIError("CUDA_ERROR_INVALID_VALUE"), "gpu-launch-refused"),
        (CudaAPIError("CUDA_ERROR_ECC_UNCORRECTABLE"), "gpu-child-lost"),
        (MemoryError(), "gpu-out-of-memory"),
        (TypingError("no"), "gpu-compile-error"),
        (TypeError("no matching definition for these arguments"), "gpu-compile-error"),
        (ValueError("?"), "gpu-child-lost"),
    ],
    ids=str,
)
def test_the_driver_s_errors_have_names_of_their_own(error: Exception, name: str) -> None:
    said = child._fault(error, "one.py", "gpu-child-lost")
    assert said["fault"] == name


def test_a_memory_that_runs_out_leaves_the_next_launch_unharmed() -> None:
    assert set(child._GOES_ON) == {"gpu-out-of-memory", "gpu-launch-refused"}
    assert not FATAL & set(child._GOES_ON)


def test_a_compiler_s_error_gives_the_submission_s_line() -> None:
    text = (
        "\x1b[1mNo implementation of getitem\nDuring: typing of intrinsic-call at lib.py (7)\n"
        'File "one.py", line 12:\ndef f(a):\n\nFile "one.py", line 30:\n'
    )
    said = child._fault(TypingError(text), "one.py", "gpu-child-lost")
    assert said["line"] == 30
    assert "\x1b" not in said["detail"]
    assert child._fault(TypingError("x" * 10_000), "one.py", "")["line"] is None
    assert len(child._fault(TypingError("x" * 10_000), "one.py", "")["detail"]) == 2000
