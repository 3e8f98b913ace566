"""The parent's side of a timing: asks a child for times, judges what it is told, and fails closed.

One child times all shapes of a submission while this process holds the device's lock.
"""

from __future__ import annotations

import json
import os
import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen
from typing import Any

from grader.gpu.available import gpu_packages, nvidia_device
from grader.gpu.clocks import sm_clocks
from grader.gpu.devices import DeviceBusyError, exclusive, visible_devices
from grader.gpu.sandbox import Device, Sandbox, started
from grader.gpu.sandbox import Limits as ChildLimits
from grader.gpu.timed_answers import TimedShape, timings_of, void
from grader.gpu.timing import Limits
from grader.records import Timing

__all__ = ["TimedShape", "time_on_device"]

_HERE = Path(__file__).resolve().parent
_CHILD = _HERE / "timing_child.py"
_BESIDE = ("child", "clocks", "cublas", "rebuild", "timed_product", "timing", "timing_kernels")
_LIBRARY = ("cupy", "cupyx", "cupy_backends", "fastrlock")
_LONGEST = 1024 * 1024


def time_on_device(
    plan: Mapping[str, Any],
    shapes: Sequence[TimedShape],
    *,
    sandbox: Sandbox | None,
    limits: Limits | None = None,
    library: bool = True,
    simulated: bool = False,
    wait: float = 900.0,
    memory_mb: int = 8192,
) -> tuple[Timing, ...]:
    """Time a plan's kernel on each shape, in a child of its own; one ``Timing`` for each, in order.

    ``sandbox`` None runs the child bare. ``wait`` is for how many seconds another timing may hold the
    device. A child that dies, hangs or says what cannot be believed leaves its shapes rejected.
    """
    limits = limits or Limits()
    # Twice the protocol's own seconds for kernel and library each, and a minute for compilation.
    seconds = 60.0 + len(shapes) * (4 * limits.seconds + 30.0)
    request = _request(plan, shapes, limits, library=library, simulated=simulated)
    device = Device() if simulated else nvidia_device()
    try:
        with exclusive(_lock_name(simulated), wait):
            bounds = ChildLimits(seconds, memory_mb, threads=4096, files=1024, memory="data")
            with started(sandbox, _CHILD, _packages(), request, bounds, device=device) as child:
                said = _messages(child, time.monotonic() + seconds)
                messages = [one if simulated else _with_clocks(one) for one in said]
    except DeviceBusyError:
        return tuple(void(shape, "device-busy") for shape in shapes)
    return tuple(timings_of(shapes, messages))


def _with_clocks(said: dict[str, Any]) -> dict[str, Any]:
    """The clocks as this process sees them: a sandbox may keep them from the child, which has just ended."""
    devices = visible_devices()
    if said.get("at") != "timed" or said.get("clock_mhz") or not devices:
        return said
    now, highest = sm_clocks(devices[0].uuid)
    return {**said, "clock_mhz": now, "highest_clock_mhz": highest}


def _lock_name(simulated: bool) -> str:
    """The device's UUID. One without a name is taken for the same as any other without one."""
    if simulated:
        return f"simulator-{os.getpid()}"
    devices = visible_devices()
    return devices[0].uuid if devices else "unnamed"


def _request(
    plan: Mapping[str, Any], shapes: Sequence[TimedShape], limits: Limits, *, library: bool, simulated: bool
) -> bytes:
    described = [
        {
            "product": asdict(shape.product),
            "grid": shape.grid,
            "block": shape.block,
            "shared": shape.shared,
            "arguments": [
                {"role": one} if isinstance(one, str) else {"value": one} for one in shape.arguments
            ],
        }
        for shape in shapes
    ]
    header = {"plan": plan, "simulate": simulated, "library": library and not simulated}
    encoded = json.dumps({**header, "limits": asdict(limits), "shapes": described}).encode()
    return len(encoded).to_bytes(8, "big") + encoded


def _packages() -> dict[str, Path]:
    """What the child may read: what any GPU child may, cuBLAS through CuPy, and our modules for timing."""
    found = gpu_packages()
    for name in _LIBRARY:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found[name] = Path(next(iter(spec.submodule_search_locations)))
    return {**found, **{f"{name}.py": _HERE / f"{name}.py" for name in _BESIDE}}


def _messages(child: Popen[bytes], deadline: float) -> Iterator[dict[str, Any]]:
    """What the child says, message by message, until its end, the deadline, or what is no message."""
    assert child.stdout is not None
    held = bytearray()
    read = 0
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while read <= _LONGEST:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                return
            chunk = os.read(child.stdout.fileno(), 65536)
            if not chunk:
                return
            held += chunk
            read += len(chunk)
            while len(held) >= 4 and len(held) >= 4 + (length := int.from_bytes(held[:4], "big")):
                try:
                    said = json.loads(bytes(held[4 : 4 + length]))
                except (ValueError, RecursionError):
                    return
                if not isinstance(said, dict) or said.get("at") == "end":
                    return
                yield said
                del held[: 4 + length]
