"""A child that launches one kernel on a GPU: built from a plan, so that no Python of a student's runs in it.

It runs alone in a sandbox and imports nothing of ours but what lies beside it there (``rebuild``, ``ptx``).
On its standard input come the length of a JSON header (8 bytes, big end first), the header, and the
bytes of every array of every launch, margins included. On its standard output go messages: a length
(4 bytes), that many bytes of JSON, and after the message of a launch that ended well the bytes of
all its arrays, as they came and in their order. It is not told what they should be.

    header    {"plan", "simulate", "launches": [{"grid", "block", "shared", "arguments"}]}
    argument  {"value": number} or {"dtype", "shape", "margin": bytes before and after}
    messages  {"at": "ready", ...}, {"at": "built", "fault", ...}, {"at": "launch", "index", "fault", ...}
              for each launch until one is fatal

``simulate`` lets numba's simulator stand in for the GPU, for tests on machines that have none.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import site
import sys
import warnings
from typing import Any

#: What the driver's errors mean. Those of the first three leave the process without a usable context.
_FAULTS = {
    "gpu-illegal-address": ("ILLEGAL_ADDRESS", "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE"),
    "gpu-kernel-aborted": (
        *("LAUNCH_FAILED", "ASSERT", "ILLEGAL_INSTRUCTION", "INVALID_PC", "HARDWARE_STACK_ERROR"),
        "EXCEPTION",
    ),
    "gpu-did-not-finish": ("LAUNCH_TIMEOUT",),
    "gpu-out-of-memory": ("OUT_OF_MEMORY",),
    "gpu-launch-refused": ("LAUNCH_OUT_OF_RESOURCES", "INVALID_VALUE", "COOPERATIVE_LAUNCH_TOO_LARGE"),
}
#: Faults that leave the next launch unharmed.
_GOES_ON = ("gpu-out-of-memory", "gpu-launch-refused")
_LONGEST = 2000


def main() -> None:
    """Read one request, launch all that it asks for, answer each."""
    results = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    stream = sys.stdin.buffer
    header = json.loads(stream.read(int.from_bytes(stream.read(8), "big")))
    if header["simulate"]:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    _find_packages(sys.argv[1:])
    warnings.simplefilter("ignore")

    from numba import cuda

    try:
        about = {"at": "ready", **_about(cuda, header["simulate"])}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        _send(results, {"at": "ready", **_fault(error, "", ""), "fault": "gpu-child-lost"})
        return
    _send(results, about)
    file, launches = header["plan"]["file"], header["launches"]
    # A launch's arrays are read before anything can fail: the next one's begin where these end.
    data = _read(stream, launches[0]) if launches else []
    kernel, said = _built(header, data, cuda)
    _send(results, said)
    for index, launch in enumerate(launches if kernel is not None else ()):
        data = data if index == 0 else _read(stream, launch)
        said, back = {"at": "launch", "index": index}, []
        try:
            back = _launch(cuda, kernel, launch, data)
            said |= {"fault": "", "bytes": sum(map(len, back)), **_figures(kernel)}
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
            said |= _fault(error, file, "gpu-child-lost")
        _send(results, said, back)
        if said["fault"] and said["fault"] not in _GOES_ON:
            break
    # A broken context must not be tidied up by destructors: they may wait for ever.
    os._exit(0)


def _find_packages(folders: list[str]) -> None:
    """Without ``site`` numba's own redirection and the search for CUDA's libraries need a hand."""
    sys.path[:0] = folders
    if folders:
        site.getsitepackages = lambda *_: list(folders)
    with contextlib.suppress(ImportError):
        importlib.import_module("_numba_cuda_redirector")  # what its .pth file would do


def _about(cuda: Any, simulate: bool) -> dict[str, Any]:
    import numba

    versions = {"numba": numba.__version__}
    if simulate:
        return {"device": "numba's simulator", "capability": [0, 0], "versions": versions}
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    with contextlib.suppress(Exception):  # versions are for the record alone
        versions["numba-cuda"] = str(importlib.import_module("numba_cuda").__version__)
        versions["CUDA"] = ".".join(map(str, cuda.cudadrv.driver.driver.get_version()))
    return {"device": name, "capability": list(device.compute_capability), "versions": versions}


def _built(header: dict[str, Any], data: list[bytes | None], cuda: Any) -> tuple[Any, dict[str, Any]]:
    """The kernel, compiled for the types of the first launch, and the message that says so or why not."""
    said = {"at": "built", "fault": ""}
    try:
        kernel = importlib.import_module("rebuild").rebuild(header["plan"])
        # A kernel whose decorator names its types is compiled already; the simulator compiles nothing.
        if header["launches"] and not header["simulate"] and not kernel.overloads:
            arguments, _ = _arguments(cuda, header["launches"][0], data)
            kernel.compile(tuple(kernel.typeof_pyval(one) for one in arguments))
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        return None, said | _fault(error, header["plan"]["file"], "gpu-compile-error")
    return kernel, said


def _launch(cuda: Any, kernel: Any, launch: dict[str, Any], data: list[bytes | None]) -> list[bytes]:
    """Run one launch on arrays of its own; give the bytes of all of them, margins included."""
    arguments, whole = _arguments(cuda, launch, data)
    grid, block = tuple(launch["grid"]), tuple(launch["block"])
    kernel[grid, block, 0, launch["shared"]](*arguments)
    cuda.synchronize()
    return [padded.copy_to_host().tobytes() for padded in whole]


def _arguments(cuda: Any, launch: dict[str, Any], data: list[bytes | None]) -> tuple[list[Any], list[Any]]:
    """Fresh arguments on the device, and each array's whole allocation."""
    import numpy as np

    arguments, whole = [], []
    for one, held in zip(launch["arguments"], data, strict=True):
        if held is None:
            arguments.append(one["value"])
            continue
        padded = cuda.to_device(np.frombuffer(held, np.uint8).copy())
        whole.append(padded)
        inner = padded[one["margin"] : padded.size - one["margin"]]
        arguments.append(inner.view(np.dtype(one["dtype"])).reshape(*one["shape"]))
    return arguments, whole


def _read(stream: Any, launch: dict[str, Any]) -> list[bytes | None]:
    """The bytes of a launch's arrays, None for each number."""
    import numpy as np

    found: list[bytes | None] = []
    for one in launch["arguments"]:
        if "value" in one:
            found.append(None)
            continue
        size = int(np.prod(one["shape"], dtype=np.int64)) * np.dtype(one["dtype"]).itemsize
        found.append(stream.read(size + 2 * one["margin"]))
    return found


def _figures(kernel: Any) -> dict[str, int]:
    """What the driver says of the compiled kernel: registers a thread, bytes of local and shared memory."""
    found = {}
    for name in ("regs_per_thread", "local_mem_per_thread", "shared_mem_per_block"):
        try:
            value = getattr(kernel, f"get_{name}")()
            found[name] = int(next(iter(value.values())) if isinstance(value, dict) else value)
        except Exception:  # noqa: BLE001, S112 - the simulator has no such figures
            continue
    return found


def _fault(error: BaseException, file: str, otherwise: str) -> dict[str, Any]:
    """Name what went wrong, with its own text and the line of the submission that it speaks of."""
    text = f"{type(error).__name__}: {error}"
    name = _named(error, text, otherwise)
    return {"fault": name, "detail": _brief(text), "line": _line(error, text, file)}


def _named(error: BaseException, text: str, otherwise: str) -> str:
    if found := re.search(r"CUDA_ERROR_([A-Z_]+)", text):
        return next((name for name, codes in _FAULTS.items() if found[1] in codes), otherwise)
    if isinstance(error, MemoryError):
        return "gpu-out-of-memory"
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"CudaSupportError", "CudaDriverError"}:
        return "gpu-child-lost"
    modules = {kind.__module__.split(".")[0] for kind in type(error).__mro__}
    if modules & {"numba", "numba_cuda"}:
        return "gpu-compile-error"
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" and otherwise != "gpu-compile-error":
        # The simulator runs the kernel as Python, and an index past an array's end raises.
        return "gpu-illegal-address" if isinstance(error, IndexError) else "gpu-kernel-aborted"
    return "gpu-compile-error" if isinstance(error, TypeError) else otherwise


def _brief(text: str) -> str:
    """The text without numba's colours and advice, and not longer than a message may be."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines = [line.strip() for line in plain.splitlines()]
    return "\n".join(line for line in lines if line)[:_LONGEST]


def _line(error: BaseException, text: str, file: str) -> int | None:
    """The last line of the submission that numba names."""
    found = re.findall(rf'File "{re.escape(file)}", line (\d+)', text)
    if found:
        return int(found[-1])
    line = getattr(getattr(error, "loc", None), "line", None) or getattr(error, "line", None)
    return line if isinstance(line, int) else None


def _send(results: int, said: dict[str, Any], back: list[bytes] | None = None) -> None:
    message = json.dumps(said).encode("ascii")
    for part in (len(message).to_bytes(4, "big"), message, *(back or ())):
        view = memoryview(part)
        while view:
            view = view[os.write(results, view) :]


if __name__ == "__main__":
    main()
