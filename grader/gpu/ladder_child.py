"""A child that climbs one rung of the ladder: our own kernels, so it needs no sandbox.

It is a process of its own because a fault on a GPU ends everything that shares its context. On its
standard input comes a JSON request,

    {"folder": path, "rung": name, "sizes": [[M, N, K]], "seconds": number}

and on its standard output go JSON lines: one about the GPU, then one for each size.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import statistics
import sys
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

from grader.perf.rungs import RUNGS, TOLERANCE, Rung


def main() -> None:
    """Read one request, climb, answer each size."""
    results = os.dup(1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    request = json.load(sys.stdin)
    rung = next(one for one in RUNGS if one.name == request["rung"])
    _send(results, _about())
    for sizes in request["sizes"]:
        _send(results, _climbed(rung, request, sizes))
    # A broken context must not be tidied up by destructors: they may wait for ever.
    os._exit(0)


def _send(results: int, message: dict[str, Any]) -> None:
    os.write(results, json.dumps(message).encode() + b"\n")


def _about() -> dict[str, Any]:
    """The GPU's name and architecture, and the versions that the times depend on."""
    import cupy as cp
    import numba

    properties = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    architecture = f"sm_{properties['major']}{properties['minor']}"
    runtime, driver = cp.cuda.runtime.runtimeGetVersion(), cp.cuda.runtime.driverGetVersion()
    versions = {
        "numba": numba.__version__,
        "numba-cuda": metadata.version("numba-cuda"),
        "CuPy": cp.__version__,
        "cuBLAS": str(cp.cuda.cublas.getVersion(cp.cuda.device.get_cublas_handle())),
        "CUDA": f"{runtime // 1000}.{runtime % 1000 // 10}",
        "driver": f"{driver // 1000}.{driver % 1000 // 10}",
    }
    return {"gpu": properties["name"].decode(), "architecture": architecture, "versions": versions}


def _climbed(rung: Rung, request: dict[str, Any], sizes: list[int]) -> dict[str, Any]:
    """One size: verified, timed, verified again with each timed run."""
    from grader.gpu.ladder_bench import LadderBench, RungArrays
    from grader.gpu.timing import Limits, measure

    M, N, K = sizes
    said: dict[str, Any] = {"rung": rung.name, "M": M, "N": N, "K": K}
    arrays = RungArrays(M, N, K, bfloat16=rung.arithmetic == "BF16")
    kernel = None if rung.is_library else _Kernel(Path(request["folder"]) / f"{rung.name}.py", arrays)
    launch = _library(arrays, rung) if kernel is None else kernel.launch
    bench = LadderBench(arrays, launch, TOLERANCE[rung.arithmetic])
    samples = measure(bench, Limits(seconds=request["seconds"]))
    # An infinite error, of an output with NaN in it, is no JSON.
    said["max_relative_error"] = bench.error if bench.error < float("inf") else None
    if kernel is not None:
        said["resources"] = kernel.resources()
    said["problem"] = _problem(samples, bench)
    if not said["problem"]:
        times = samples.milliseconds
        said |= {"milliseconds": statistics.median(times), "spread": _spread(times), "repeats": len(times)}
    return said


def _library(arrays: Any, rung: Rung) -> Any:
    from grader.gpu.ladder_library import library_launch

    return library_launch(arrays, rung.arithmetic)


def _problem(samples: Any, bench: Any) -> str:
    from grader.gpu.timing import judged

    rejected = judged(samples, 0.0)
    if rejected == "wrong-timed-output":
        return f"the result is wrong: largest relative error {bench.error:.2g}"
    return f"the times do not count: {rejected}" if rejected else ""


def _spread(times: tuple[float, ...]) -> float:
    from grader.gpu.timing import quartiles

    first, third = quartiles(times)
    return (third - first) / 2 / statistics.median(times)


class _Kernel:
    """A rung's kernel on the arrays of one product."""

    def __init__(self, file: Path, arrays: Any) -> None:
        cuda: Any = importlib.import_module("numba.cuda")
        module = _load(file)
        sizes = (arrays.M, arrays.N, arrays.K)
        self._kernel = module.KERNEL
        grid, block = module.launch_config(*sizes)
        self._threads = _product(block)
        self._dynamic = int(module.SHARED_BYTES)
        matrices = [cuda.as_cuda_array(array) for array in (arrays.left, arrays.right, arrays.out)]
        configured = self._kernel[grid, block, 0, self._dynamic]
        if self._dynamic:
            allow = importlib.import_module("grader.gpu.dynamic_shared").allow
            allow(self._kernel, (*matrices, *sizes), self._dynamic)
        self.launch = lambda: configured(*matrices, *sizes)

    def resources(self) -> dict[str, Any] | None:
        """What the driver says of the compiled kernel, once it has run; None where it says nothing."""
        try:
            [compiled] = self._kernel.overloads.values()
        except (AttributeError, ValueError):
            return None
        return {
            "source": "driver",
            "registers": int(compiled.regs_per_thread),
            "shared_bytes": int(compiled.shared_mem_per_block) + self._dynamic,
            "threads": self._threads,
            "local_bytes": int(compiled.local_mem_per_thread),
            "blocks_per_sm": self._blocks_per_sm(compiled),
        }

    def _blocks_per_sm(self, compiled: Any) -> int | None:
        cuda: Any = importlib.import_module("numba.cuda")
        try:
            function = compiled._codelibrary.get_cufunc()
            ask = cuda.current_context().get_active_blocks_per_multiprocessor
            return int(ask(function, self._threads, self._dynamic)) or None
        except Exception:  # noqa: BLE001 - a figure for the record; the model works it out too
            return None


def _load(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"ladder_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _product(block: Any) -> int:
    threads = 1
    for extent in block if isinstance(block, tuple) else (block,):
        threads *= int(extent)
    return threads


if __name__ == "__main__":
    main()
