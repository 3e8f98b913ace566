"""Whether a GPU can be used from here, and what of the system a sandboxed child needs to use it."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path

from grader.gpu.devices import said_by_driver
from grader.gpu.sandbox import Device

__all__ = ["gpu_packages", "gpu_reason", "nvidia_device", "toolkit_device"]

#: Packages that a child may read, those for the GPU among them; of the last four, what pip noted of them.
_PACKAGES = ("numpy", "numba", "numba_cuda", "llvmlite", "cuda", "nvidia", "packaging", "yaml")
_NOTED = ("numba_cuda", "cuda_toolkit", "cuda_bindings", "cuda_core", "cuda_pathfinder", "nvidia_")
_HERE = Path(__file__).resolve().parent
_ASK_THE_DRIVER = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
status = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
print(status, count.value)
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libcuda.so" in line}, sep="\\n")
"""


@cache
def gpu_reason() -> str:
    """Why no GPU can be used here, in one line; empty where one can.

    The driver first: where there is none, no package is worth installing.
    """
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return "CUDA_VISIBLE_DEVICES hides every GPU"
    status, devices, _ = _driver()
    if status is None:
        return "no NVIDIA driver was found (libcuda.so.1)"
    if status:
        return f"the NVIDIA driver does not start: error {status}"
    if not devices:
        return "the NVIDIA driver sees no GPU"
    missing = [name for name in ("numba", "numba_cuda", "cuda") if importlib.util.find_spec(name) is None]
    if missing:
        return f"{missing[0]} is not installed: pip install '.[gpu]' in Tilegrade's checkout"
    return ""


@cache
def nvidia_device() -> Device:
    """The device files and the driver's libraries of this machine."""
    _, _, library = _driver()
    names = ["nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps", "dxg"]
    files = [f"/dev/{name}" for name in names if Path("/dev", name).exists()]
    files += sorted(str(path) for path in Path("/dev").glob("nvidia[0-9]*"))
    folders = [f"/sys/{name}" for name in ("devices", "bus/pci", "class", "module")]
    environment = {"CUDA_CACHE_DISABLE": "1", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"}
    if os.environ.get("CUDA_VISIBLE_DEVICES"):
        environment["CUDA_VISIBLE_DEVICES"] = os.environ["CUDA_VISIBLE_DEVICES"]
    libraries = [str(Path(library).parent)] if library else []
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries[0]
    toolkit = _toolkit()
    if toolkit:
        environment["CUDA_HOME"] = toolkit
    wanted = dict.fromkeys([*folders, *libraries, *([toolkit] if toolkit else [])])
    found = [name for name in wanted if Path(name).is_dir()]
    return Device(tuple(files), tuple(found), environment)


def toolkit_device() -> Device:
    """What a child needs of the system to compile alone: the toolkit, where one is installed."""
    toolkit = _toolkit()
    return Device((), (toolkit,), {"CUDA_HOME": toolkit}) if toolkit else Device()


def _toolkit() -> str:
    """Where an installed CUDA toolkit lies, links followed: they may lead through an unbound /etc."""
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    places = [Path(name) for name in (*named, "/usr/local/cuda") if name]
    return next((str(place.resolve()) for place in places if place.is_dir()), "")


def gpu_packages() -> dict[str, Path]:
    """What a child may read beside the system: numba's and CUDA's packages, and how to rebuild."""
    found: dict[str, Path] = {}
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            continue
        found[name] = Path(next(iter(spec.submodule_search_locations)))
        for noted in found[name].parent.glob("*.dist-info"):
            if noted.name.startswith(_NOTED):
                found[noted.name] = noted
    if "numpy" in found and (libraries := found["numpy"].parent / "numpy.libs").is_dir():
        found["numpy.libs"] = libraries
    redirector = importlib.util.find_spec("_numba_cuda_redirector")
    if redirector is not None and redirector.origin:
        found["_numba_cuda_redirector.py"] = Path(redirector.origin)
    found |= {name: _HERE / name for name in ("rebuild.py", "timing.py")}
    # Kernels import these by their own names; a folder without __init__ is a package too.
    return found | {f"grader/gpu/{path.name}": path for path in sorted(_HERE.glob("ptx*.py"))}


@cache
def _driver() -> tuple[int | None, int, str]:
    """The status of cuInit (None without a driver), the number of GPUs, where the driver's library lies."""
    lines = said_by_driver(_ASK_THE_DRIVER).split()
    if len(lines) < 2:
        return None, 0, ""
    return int(lines[0]), int(lines[1]), str(Path(lines[2]).resolve()) if len(lines) > 2 else ""
