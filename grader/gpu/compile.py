"""The compile check: what numba and NVIDIA's compiler make of a kernel, found out without a GPU.

A child in a sandbox does it (:mod:`grader.gpu.compile_child`); here its answer is read, and occupancy
worked out from the registers and shared memory that it reports.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping, Sequence
from ctypes.util import find_library
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.gpu.available import gpu_packages, toolkit_device
from grader.gpu.compile_child import ANSWER_BYTES
from grader.gpu.sandbox import Limits, Sandbox, run_child
from grader.perf.architectures import device_for
from grader.perf.occupancy import occupancy
from grader.records import Compilation

__all__ = ["LEAST_MEMORY_MB", "Compiled", "compile_check", "compile_reason"]

#: Address space that numba and NVIDIA's libraries need to compile a large kernel; a small one takes half.
LEAST_MEMORY_MB = 2048

_CHILD = Path(__file__).resolve().with_name("compile_child.py")
_EXTRA = "pip install '.[compile]' in Tilegrade's checkout"
_SIZES = (
    *("registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes"),
    *("shared_bytes", "constant_bytes", "ptx_bytes", "cubin_bytes"),
)
_ERRORS = frozenset(["arch", "unknown-name", "refused", "recursion", "compiler"])
_SECONDS = 120.0
_MEMORY_MB = 8192
_CHILD_NAME = "the compiler's child"
_MOST_KEPT = 128
_kept: dict[tuple[bytes, Sandbox | None], dict[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Compiled:
    """The results, one for each architecture, or the reason in one line why there are none.

    ``versions`` are those of numba, numba-cuda and NVIDIA's libraries, which decide the figures.
    """

    results: tuple[Compilation, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""

    @property
    def toolkit(self) -> str:
        """The versions in one line, equal where the compiler is: ``numba 0.68.1, numba-cuda 0.30.4, ...``."""
        return ", ".join(f"{name} {version}" for name, version in sorted(self.versions.items()))


def compile_reason() -> str:
    """Why no kernel can be compiled here, in one line; empty where it can be tried."""
    for module, package in (("numba", "numba"), ("numba_cuda", "numba-cuda"), ("cuda", "cuda-bindings")):
        if importlib.util.find_spec(module) is None:
            return f"{package} is not installed: {_EXTRA}"
    if not _has_toolkit():
        return f"NVIDIA's compiler (nvvm, nvJitLink) is not installed: {_EXTRA}"
    return ""


def _has_toolkit() -> bool:
    """Whether a compiler's libraries may be there: as wheels, as a toolkit, or among the system's."""
    if importlib.util.find_spec("nvidia") is not None:
        return True
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    # A folder of that name may hold no more than the driver's part.
    places = ("lib64", "lib", "bin", "targets/*/lib")
    roots = [Path(name) for name in (*named, "/usr/local/cuda") if name]
    found = any(any(root.glob(f"{place}/*nvJitLink*")) for root in roots for place in places)
    return found or find_library("nvJitLink") is not None


def compile_check(
    plan: Mapping[str, Any],
    types: Sequence[Mapping[str, Any]],
    archs: Sequence[str],
    threads_per_block: int,
    *,
    dynamic_shared_bytes: int = 0,
    sandbox: Sandbox | None = None,
    seconds: float = _SECONDS,
    toolkit: str = "",
) -> Compiled:
    """Compile a planned kernel for each architecture.

    ``types`` are those of the arguments, as in a plan's signatures; a kernel whose decorator has a
    signature is compiled for that. Occupancy is worked out for blocks of ``threads_per_block`` threads
    where the architecture's limits are known (:func:`grader.perf.architectures.device_for`). Without a
    sandbox the child runs bare: it executes no statement of the submission. It is ended after ``seconds``
    of wall time. Where ``toolkit`` is given and its versions are others, there are no results.
    """
    if reason := compile_reason():
        return Compiled(reason=reason)
    request = json.dumps({"plan": plan, "types": list(types), "archs": list(archs)}).encode()
    answer = _answer(request, sandbox, min(seconds, _SECONDS))
    if reason := answer.get("unavailable", ""):
        return Compiled(reason=_line(f"the compiler cannot be used: {reason}"))
    found = answer.get("results")
    if not isinstance(found, list) or len(found) != len(archs):
        return Compiled(reason=_line(str(answer.get("problem") or f"{_CHILD_NAME} gave no results")))
    versions = dict(answer.get("versions") or {})
    if toolkit and (here := Compiled(versions=versions).toolkit) != toolkit:
        return Compiled(reason=_line(f"{_CHILD_NAME} has other versions: {here} in place of {toolkit}"))
    results = tuple(
        _compilation(arch, one, threads_per_block, dynamic_shared_bytes)
        for arch, one in zip(archs, found, strict=True)
    )
    return Compiled(results, versions)


def _answer(request: bytes, sandbox: Sandbox | None, seconds: float) -> dict[str, Any]:
    """The child's answer: a request names all that it depends on, so the same one is asked once."""
    known = _kept.get((request, sandbox))
    if known is not None:
        return known
    answer = _asked(request, sandbox, seconds)
    if "results" in answer:
        while len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[request, sandbox] = answer
    return answer


def _asked(request: bytes, sandbox: Sandbox | None, seconds: float) -> dict[str, Any]:
    if seconds < 1:
        return {"problem": f"{_CHILD_NAME} had no time left"}
    framed = len(request).to_bytes(8, "big") + request
    # It uses no GPU, but where it runs bare it has to find numba and CUDA as we do.
    limits = Limits(seconds=seconds, memory_mb=_MEMORY_MB, files=256)
    ran = run_child(sandbox, _CHILD, gpu_packages(), framed, ANSWER_BYTES, limits, toolkit_device())
    if ran.problem:
        return {"problem": f"{_CHILD_NAME} failed: {ran.problem}"}
    try:
        answer = json.loads(ran.output)
    except ValueError:
        return {"problem": f"{_CHILD_NAME} sent no answer"}
    return answer if isinstance(answer, dict) else {}


def _compilation(arch: str, found: Any, threads: int, dynamic: int) -> Compilation:
    if not isinstance(found, dict):
        return Compilation(arch, error="no result", error_kind="compiler")
    if error := found.get("error"):
        kind = error.get("kind") if error.get("kind") in _ERRORS else "compiler"
        line = error.get("line") if isinstance(error.get("line"), int) else None
        return Compilation(arch, error=_line(str(error.get("message"))), error_kind=kind, line=line)
    sizes: dict[str, Any] = {name: int(found[name]) for name in _SIZES}
    profile = device_for(arch)
    if profile is None:
        return Compilation(arch, **sizes)
    load = occupancy(profile, threads, sizes["registers"], sizes["shared_bytes"] + dynamic)
    return Compilation(
        arch,
        **sizes,
        warps=load.warps_per_sm,
        most_warps=load.max_warps_per_sm,
        occupancy=load.fraction,
        limited_by=", ".join(load.limited_by),
    )


def _line(text: str) -> str:
    """One line of printable characters."""
    return "".join(one if one.isprintable() else " " for one in " ".join(text.split()))[:500]
