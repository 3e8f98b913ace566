"""The parent's side of a GPU child: sends launches, reads answers within deadlines, believes little.

Every answer has a known length, every message a bounded one; what is not as it should be ends the
child. A hang, a crash or a broken context so costs this one submission, and the next child starts clean.
"""

from __future__ import annotations

import json
import os
import selectors
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import IO, Any

import numpy as np

from grader.gpu.available import gpu_packages, nvidia_device
from grader.gpu.device_session import FATAL, FAULTS, Deadlines, Fault, Launch, Result, Session
from grader.gpu.margins import inner, margin_of, padded, reached
from grader.gpu.sandbox import Device, Limits, Sandbox, started

__all__ = ["FATAL", "FAULTS", "Deadlines", "Fault", "Launch", "Result", "Session", "run_on_device"]

CHILD = Path(__file__).resolve().with_name("child.py")
LONGEST_MESSAGE = 64 * 1024


def run_on_device(
    plan: Mapping[str, Any],
    launches: Sequence[Launch],
    *,
    sandbox: Sandbox | None,
    simulated: bool = False,
    deadlines: Deadlines | None = None,
    memory_mb: int = 8192,
    script: Path = CHILD,
) -> Session:
    """Run all launches of a plan in one child, in order.

    ``sandbox`` None runs it bare. ``simulated`` has numba's simulator stand in for the GPU. ``script`` is
    the child's program, another than ours in tests alone.
    """
    deadlines = deadlines or Deadlines()
    device = Device() if simulated else nvidia_device()
    limits = Limits(deadlines.total, memory_mb, threads=4096, files=1024, memory="data")
    with tempfile.TemporaryFile() as errors:
        with started(
            sandbox,
            script,
            gpu_packages(),
            _request(plan, launches, simulated),
            limits,
            device=device,
            errors=errors,
        ) as child:
            session = _Listener(child, launches, deadlines).session()
        return _with_last_words(session, errors)


def _request(plan: Mapping[str, Any], launches: Sequence[Launch], simulated: bool) -> bytes:
    data = bytearray()
    described = []
    for launch in launches:
        arguments: list[dict[str, Any]] = []
        for value in launch.arguments.values():
            if not isinstance(value, np.ndarray):
                arguments.append({"value": value})
                continue
            margin = margin_of(value)
            arguments.append({"dtype": value.dtype.str, "shape": list(value.shape), "margin": margin})
            data += padded(value, margin)
        described.append(
            {"grid": launch.grid, "block": launch.block, "shared": launch.shared, "arguments": arguments}
        )
    header = json.dumps({"plan": plan, "simulate": simulated, "launches": described}).encode()
    return len(header).to_bytes(8, "big") + header + bytes(data)


class _Ended(Exception):
    """The child will say no more, or nothing that can be believed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class _Listener:
    """Reads one child's messages."""

    def __init__(self, child: Popen[bytes], launches: Sequence[Launch], deadlines: Deadlines) -> None:
        assert child.stdout is not None
        self._child = child
        self._pipe = child.stdout.fileno()
        self._launches = launches
        self._deadlines = deadlines
        self._end = time.monotonic() + deadlines.total

    def session(self) -> Session:
        """Everything the child says, until it ends or has to be ended."""
        results: list[Result] = []
        about: dict[str, Any] = {}
        figures: dict[str, int] = {}
        try:
            about = self._ready()
            self._built()
            for index, launch in enumerate(self._launches):
                results.append(self._result(index, launch, figures))
                fault = results[-1].fault
                if fault is not None and fault.name in FATAL:
                    break
        except _Ended as ended:
            results.append(Result(fault=ended.fault))
        last = results[-1] if results else Result()
        results += [Result(fault=last.fault, launched=False)] * (len(self._launches) - len(results))
        return Session(
            tuple(results[: len(self._launches)]),
            str(about.get("device", ""))[:80],
            _capability(about.get("capability")),
            _texts(about.get("versions")),
            figures,
        )

    def _ready(self) -> dict[str, Any]:
        about = self._message("ready", self._deadlines.start, "gpu-child-lost")
        if about.get("fault"):
            raise _Ended(Fault("gpu-child-lost", _text(about.get("detail"))))
        return about

    def _built(self) -> None:
        said = self._message("built", self._deadlines.build, "gpu-child-lost")
        if fault := self._told(said):
            raise _Ended(fault)

    def _told(self, said: dict[str, Any]) -> Fault | None:
        """The fault that a message names."""
        name, line = said.get("fault"), said.get("line")
        if not name:
            return None
        if name not in FAULTS:
            raise _Ended(Fault("gpu-child-lost", "it named a fault that there is not"))
        return Fault(name, _text(said.get("detail")), line if type(line) is int else None)

    def _result(self, index: int, launch: Launch, figures: dict[str, int]) -> Result:
        said = self._message("launch", self._deadlines.launch, "gpu-did-not-finish")
        if said.get("index") != index:
            raise _Ended(Fault("gpu-child-lost", "it answered another launch than the one asked for"))
        if fault := self._told(said):
            return Result(fault=fault)
        for key in ("regs_per_thread", "local_mem_per_thread", "shared_mem_per_block"):
            if type(said.get(key)) is int:
                figures[key] = said[key]
        return self._arrays(launch, said.get("bytes"))

    def _arrays(self, launch: Launch, told: object) -> Result:
        arrays = {name: value for name, value in launch.arguments.items() if isinstance(value, np.ndarray)}
        lengths = {name: value.nbytes + 2 * margin_of(value) for name, value in arrays.items()}
        if told != sum(lengths.values()):
            raise _Ended(Fault("gpu-child-lost", "it announced results of another length than the arrays'"))
        after = dict(launch.arguments)
        overwritten: dict[str, int] = {}
        for name, value in arrays.items():
            data = self._exactly(lengths[name], self._deadlines.launch, "gpu-child-lost")
            after[name] = inner(data, value)
            if distance := reached(data, value):
                overwritten[name] = distance
        return Result(after, None, overwritten)

    def _message(self, at: str, seconds: float, late: str) -> dict[str, Any]:
        length = int.from_bytes(self._exactly(4, seconds, late), "big")
        if not 0 < length <= LONGEST_MESSAGE:
            raise _Ended(Fault("gpu-child-lost", "it sent what is no message"))
        try:
            said = json.loads(self._exactly(length, self._deadlines.launch, "gpu-child-lost"))
        except (ValueError, RecursionError):
            raise _Ended(Fault("gpu-child-lost", "it sent what is no message")) from None
        if not isinstance(said, dict) or said.get("at") != at:
            raise _Ended(Fault("gpu-child-lost", "it sent another message than the one due"))
        return said

    def _exactly(self, length: int, seconds: float, late: str) -> bytes:
        """So many bytes, or the end of the child."""
        end = min(time.monotonic() + seconds, self._end)
        out = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while len(out) < length:
                left = end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise _Ended(Fault(late, f"{seconds:g} s"))
                chunk = os.read(self._pipe, length - len(out))
                if not chunk:
                    raise _Ended(Fault("gpu-child-lost", self._how_it_ended()))
                out += chunk
        return bytes(out)

    def _how_it_ended(self) -> str:
        try:
            code = self._child.wait(5)
        except Exception:  # noqa: BLE001 - it closed its pipe and runs on
            return "it closed its output"
        signal = -code if code < 0 else code - 128 if code > 128 else 0
        return f"it was ended by signal {signal}" if signal else f"it ended with status {code}"


def _with_last_words(session: Session, errors: IO[bytes]) -> Session:
    """A child that was lost, with the last line of its standard error."""
    fault = session.fault
    if fault is None or fault.name != "gpu-child-lost":
        return session
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - 2000))
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    if not lines:
        return session
    told = replace(fault, detail=f"{fault.detail}: {_text(lines[-1])}")
    results = (
        replace(one, fault=told) if one.fault is not None and one.fault.name == fault.name else one
        for one in session.results
    )
    return replace(session, results=tuple(results))


def _capability(value: object) -> tuple[int, int]:
    match value:
        case [int(major), int(minor)]:
            return major, minor
    return 0, 0


def _texts(value: object) -> dict[str, str]:
    items = value.items() if isinstance(value, dict) else ()
    return {str(name)[:40]: _text(text)[:80] for name, text in items}


def _text(value: object) -> str:
    """A child's text: bounded, and of printable characters and line ends alone."""
    text = str(value if value is not None else "")[:2000]
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
