"""A child that times one kernel on a GPU: built from a plan, so that no Python of a student's runs in it.

It runs in the same sandbox as ``child`` and reads and answers as that does. The header is
{"plan", "simulate", "library", "limits": {...}, "shapes": [...]}, where a shape is {"product", "grid",
"block", "shared", "arguments"} and an argument {"role": "left" | "right" | "out"} or {"value": number};
the messages are {"at": "ready", ...}, {"at": "timed", "index", "fault", ...} for each shape, {"at": "end"}.
The clock, the inputs and the checks are ours alone; a launch gets three arrays and scalars.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any


def main() -> None:
    """Read one request, time all that it asks for, answer each."""
    results = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    _find_our_modules(sys.argv[1:])
    stream = sys.stdin.buffer
    header = json.loads(stream.read(int.from_bytes(stream.read(8), "big")))
    if header["simulate"]:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    sys.path[:0] = sys.argv[1:]
    warnings.simplefilter("ignore")

    from grader.gpu import child

    child._find_packages(sys.argv[1:])
    file = header["plan"]["file"]
    try:
        from numba import cuda

        about = {
            "at": "ready",
            **child._about(cuda, header["simulate"]),
            **_figures(cuda, header["simulate"]),
        }
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        child._send(
            results, {"at": "ready", **child._fault(error, file, "gpu-child-lost"), "fault": "gpu-missing"}
        )
        return
    child._send(results, about)
    kernels: list[Any] = []
    for index, shape in enumerate(header["shapes"]):
        try:
            said = {"fault": "", **_timed(header, shape, about, kernels)}
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
            said = child._fault(error, file, "gpu-child-lost")
        child._send(results, {"at": "timed", "index": index, **said})
        if said["fault"]:
            break
    child._send(results, {"at": "end"})
    # A broken context must not be tidied up by destructors: they may wait for ever.
    os._exit(0)


def _find_our_modules(folders: list[str]) -> None:
    """Let ``grader.gpu`` be the folder of the modules beside this one, and nothing else of ours be there."""
    for name, path in (("grader", []), ("grader.gpu", folders or [str(Path(__file__).resolve().parent)])):
        package = ModuleType(name)
        package.__path__ = path
        sys.modules[name] = package


def _figures(cuda: Any, simulate: bool) -> dict[str, Any]:
    """What the driver says of the device: its caches, clocks (kHz) and widths (bits)."""
    if simulate:
        return {"uuid": "", "l2_bytes": 0, "sms": 0, "clock": 0, "memory_clock": 0, "memory_bits": 0}
    device = cuda.get_current_device()
    return {
        "uuid": str(device.uuid),
        "l2_bytes": int(device.L2_CACHE_SIZE),
        "sms": int(device.MULTIPROCESSOR_COUNT),
        "clock": int(device.CLOCK_RATE),
        "memory_clock": int(device.MEMORY_CLOCK_RATE),
        "memory_bits": int(device.GLOBAL_MEMORY_BUS_WIDTH),
    }


def _timed(
    header: dict[str, Any], shape: dict[str, Any], about: dict[str, Any], kernels: list[Any]
) -> dict[str, Any]:
    """Time one shape; ``kernels`` keeps the kernel from one shape to the next."""
    from grader.gpu.clocks import sm_clocks
    from grader.gpu.rebuild import rebuild
    from grader.gpu.timed_product import Product, ProductBench
    from grader.gpu.timing import Limits, measure
    from grader.gpu.timing_kernels import DeviceOperations, flush_bytes

    product, limits = Product(**shape["product"]), Limits(**header["limits"])
    flush = 64 if header["simulate"] else flush_bytes(about["l2_bytes"])
    operations = DeviceOperations(product, flush)
    arrays = {"left": operations.left, "right": operations.right, "out": operations.out}
    arguments = [one["value"] if "value" in one else arrays[one["role"]] for one in shape["arguments"]]
    if not kernels:
        kernels.append(rebuild(header["plan"]))
    configured = kernels[0][tuple(shape["grid"]), tuple(shape["block"]), 0, shape["shared"]]
    samples = measure(ProductBench(product, operations, lambda: configured(*arguments)), limits)
    now, highest = sm_clocks(about["uuid"])
    said: dict[str, Any] = {
        **_told(samples),
        "late": sorted(samples.late)[len(samples.late) // 2] if samples.late else 0.0,
        "clock_mhz": now,
        "highest_clock_mhz": highest,
    }
    if header["library"] and not samples.rejected:
        said["library"] = _library(product, operations, limits)
    return said


def _told(samples: Any) -> dict[str, Any]:
    return {
        "times": list(samples.milliseconds),
        "rejected": samples.rejected,
        "rejected_at": samples.at,
        "wrong": samples.wrong,
    }


def _library(product: Any, operations: Any, limits: Any) -> dict[str, Any]:
    from grader.gpu.cublas import NoLibrary, product_by_cublas
    from grader.gpu.timed_product import ProductBench
    from grader.gpu.timing import measure

    try:
        launch = product_by_cublas(operations.left, operations.right, operations.out)
        return _told(measure(ProductBench(product, operations, launch), limits))
    except NoLibrary as error:
        return {"times": [], "rejected": str(error), "rejected_at": -1, "wrong": 0}


if __name__ == "__main__":
    main()
