"""Run the GPU child under one of NVIDIA's tools, which attach to a process from outside.

The tools inject themselves into the child and read its memory, which a sandbox forbids; so the child
runs bare here. It builds its kernel from a plan: no Python of a student's runs in it. Arrays have no
margins, so that a tool sees where each allocation ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from grader.gpu.available import gpu_reason
from grader.gpu.device_runs import CHILD, Launch
from grader.gpu.scratch import scratch_folder

__all__ = ["Ended", "find_tool", "run_under", "tool_reason"]

#: Where CUDA's installers put the tools, for machines whose PATH does not say.
_FOLDERS = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")
_KEPT = ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run under a tool ended: the tool's log, the launches that ended well, what went wrong."""

    log: str
    launched: int
    problem: str = ""


def find_tool(name: str) -> str | None:
    """The tool's path; None where it is not installed."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(_FOLDERS))


def tool_reason(name: str, package: str) -> str:
    """Why the tool cannot be used here, in one line; empty where it can."""
    if reason := gpu_reason():
        return reason
    return "" if find_tool(name) else f"{name} is not installed: it comes with {package}"


def run_under(
    words: Sequence[str],
    plan: Mapping[str, Any],
    launches: Sequence[Launch],
    *,
    log_option: str,
    seconds: float = 120.0,
) -> Ended:
    """Run a plan's launches under a tool.

    ``words`` are its path and options, ``log_option`` is the one that names its log.
    """
    with scratch_folder() as folder:
        log = folder / "log"
        command = [*words, log_option, str(log), sys.executable, "-B", str(CHILD)]
        problem = ""
        with tempfile.TemporaryFile() as feed, tempfile.TemporaryFile() as said:
            feed.write(_request(plan, launches))
            feed.seek(0)
            child = subprocess.Popen(  # noqa: S603 - our own words
                command,
                stdin=feed,
                stdout=said,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={name: os.environ[name] for name in _KEPT if name in os.environ}
                | {"NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0", "PYTHONWARNINGS": "ignore"},
            )
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                problem = f"it did not finish within {seconds:g} s"
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            said.seek(0)
            launched, fault = _outcome(said)
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    return Ended(text, launched, problem or fault)


def _request(plan: Mapping[str, Any], launches: Sequence[Launch]) -> bytes:
    """As the child's own parent asks, with line numbers in the code and no margins."""
    functions = [
        {**function, "options": {**function["options"], "lineinfo": True}} for function in plan["functions"]
    ]
    data = bytearray()
    described = []
    for launch in launches:
        arguments: list[dict[str, Any]] = []
        for value in launch.arguments.values():
            if isinstance(value, np.ndarray):
                arguments.append({"dtype": value.dtype.str, "shape": list(value.shape), "margin": 0})
                data += value.tobytes()
            else:
                arguments.append({"value": value})
        described.append(
            {"grid": launch.grid, "block": launch.block, "shared": launch.shared, "arguments": arguments}
        )
    header = {"plan": {**plan, "functions": functions}, "simulate": False, "launches": described}
    encoded = json.dumps(header).encode()
    return len(encoded).to_bytes(8, "big") + encoded + bytes(data)


def _outcome(said: IO[bytes]) -> tuple[int, str]:
    """The launches that the child reports as done, and the first fault that it names."""
    launched = 0
    while length := int.from_bytes(said.read(4), "big"):
        try:
            message = json.loads(said.read(length))
        except ValueError:
            return launched, "the child's messages cannot be read"
        if message.get("fault"):
            return launched, f"{message['fault']}: {str(message.get('detail', ''))[:200]}"
        if message.get("at") == "launch":
            launched += 1
            said.seek(int(message.get("bytes", 0)), os.SEEK_CUR)
    return launched, ""
