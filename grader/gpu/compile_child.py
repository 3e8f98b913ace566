"""A child that compiles a planned kernel for real: numba's front end, NVVM, and the linker's log.

No GPU is needed, and no statement of the submission is executed: a plan's functions are typed and
compiled. It runs in a sandbox and imports nothing of ours but ``rebuild``, which lies beside it. On its
standard input come the length of a JSON request (8 bytes, big end first) and the request,

    {"plan": plan, "types": [type], "archs": ["sm_90"]}

and on its standard output goes a JSON answer of :data:`ANSWER_BYTES` bytes, padded with blanks.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import site
import struct
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

__all__ = ["ANSWER_BYTES", "compile_kernel", "main"]

ANSWER_BYTES = 1 << 16
_MESSAGE = 2000
_ARCH = re.compile(r"sm_(\d+)(\d)([af]?)")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def main() -> None:
    """Read one request, compile it, write the answer."""
    results = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    stream = sys.stdin.buffer
    request = json.loads(stream.read(int.from_bytes(stream.read(8), "big")))
    _find_packages(sys.argv[1:])
    answer = json.dumps(_answer(request)).encode()
    os.write(results, answer.ljust(ANSWER_BYTES)[:ANSWER_BYTES])


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        _find_numba()
        versions = _versions()
    except Exception as error:  # noqa: BLE001 - whatever an incomplete installation raises
        return {"unavailable": f"{type(error).__name__}: {error}"[:_MESSAGE]}
    results = [compile_kernel(request["plan"], request["types"], arch) for arch in request["archs"]]
    return {"versions": versions, "results": results}


def _find_packages(folders: list[str]) -> None:
    """Without ``site`` the search for CUDA's libraries needs to be told where packages lie."""
    sys.path[:0] = folders
    if folders:
        site.getsitepackages = lambda *_: list(folders)


def _find_numba() -> None:
    """Import numba.cuda; without ``site`` nobody has yet sent that name to the package numba-cuda."""
    redirector = "_numba_cuda_redirector"
    if redirector not in sys.modules and importlib.util.find_spec(redirector) is not None:
        importlib.import_module(redirector)
    importlib.import_module("numba.cuda")


def _versions() -> dict[str, str]:
    from cuda.bindings import nvjitlink, nvvm

    found = {
        name.replace("_", "-"): importlib.import_module(name).__version__ for name in ("numba", "numba_cuda")
    }
    found["nvjitlink"] = ".".join(map(str, nvjitlink.version()))
    found["nvvm"] = ".".join(map(str, nvvm.version()))
    # The libraries themselves tell no more than a release; what was installed as wheels tells its build.
    for name in ("nvidia-nvjitlink", "nvidia-nvvm"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def compile_kernel(plan: dict[str, Any], types: list[dict[str, Any]], arch: str) -> dict[str, Any]:
    """Compile a planned kernel for one architecture, say ``sm_90``.

    Gives {"arch", "registers", "spill_store_bytes", "spill_load_bytes", "stack_bytes", "shared_bytes",
    "constant_bytes", "ptx_bytes", "cubin_bytes"}, or {"arch", "error": {"kind", "line", "message"}}.
    """
    refusals = tuple(
        importlib.import_module(name).NumbaError for name in ("numba.core.errors", "numba.cuda.core.errors")
    )
    named, known = _ARCH.fullmatch(arch), _known_archs()
    if named is None or f"sm_{named[1]}{named[2]}" not in known:
        return {"arch": arch, "error": _error("arch", None, f"known here: {', '.join(known)}")}
    try:
        return {"arch": arch, **_compiled(plan, types, (int(named[1]), int(named[2]), named[3]))}
    except _rebuilding().RebuildError as error:
        return {"arch": arch, "error": _error("unknown-name", error.line, error.name)}
    except refusals as error:
        return {"arch": arch, "error": _error("refused", _line(error, plan["file"]), _first(str(error)))}
    except RecursionError:
        return {"arch": arch, "error": _error("recursion", None, "")}
    except Exception as error:  # noqa: BLE001 - the compiler's own failures are answers too
        return {"arch": arch, "error": _error("compiler", None, f"{type(error).__name__}: {error}")}


def _known_archs() -> list[str]:
    """The architectures that this compiler has code for."""
    nvrtc: Any = importlib.import_module("numba.cuda.cudadrv.nvrtc")
    return [f"sm_{major}{minor}" for major, minor in nvrtc.get_supported_ccs()]


def _rebuilding() -> Any:
    """The module ``rebuild``: beside this one in a sandbox, else in its package."""
    return importlib.import_module("rebuild" if __name__ == "__main__" else "grader.gpu.rebuild")


def _error(kind: str, line: int | None, message: str) -> dict[str, Any]:
    return {"kind": kind, "line": line, "message": message[:_MESSAGE]}


def _line(error: Exception, file: str) -> int | None:
    """The innermost line of the submission that the error names, or that was being typed."""
    named = re.findall(rf'File "{re.escape(file)}", line (\d+)', str(error))
    if named:
        return int(named[-1])
    places: list[Any] = [getattr(error, "loc", None)]
    trace = error.__traceback__
    while trace is not None:
        # Errors raised by the part that numba-cuda shares with numba pass by its notes of the place.
        places.append(getattr(trace.tb_frame.f_locals.get("self"), "loc", None))
        trace = trace.tb_next
    lines: list[int] = [place.line for place in places if place is not None and place.filename == file]
    return lines[-1] if lines else None


def _first(message: str) -> str:
    """What numba says before it lists what it tried and what it was doing, on one line."""
    kept = []
    for line in message.splitlines():
        if line.startswith(("During:", 'File "', "This is not usually a problem", "There are ")):
            break
        kept.append(line.strip())
    text = " ".join(line for line in kept if line)
    text = re.sub(r"^Failed in \w+ mode pipeline \(step: [^)]*\) ?", "", text)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _compiled(plan: dict[str, Any], types: list[dict[str, Any]], cc: tuple[int, int, str]) -> dict[str, Any]:
    signature = plan["functions"][-1]["signature"]
    described = signature["parameters"] if signature is not None else types
    # At a launch numba compiles for the device's own features ("a") from 9.0 on.
    target = (cc[0], cc[1], cc[2] or ("a" if cc[:2] >= (9, 0) else ""))
    with _as_if_on(target):
        function = _rebuilding().rebuild(plan, kernel_signature=False)
        argument_types = tuple(map(_rebuilding().numba_type, described))
        dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
        kernel = dispatcher._Kernel(function.py_func, argument_types, **function.targetoptions)
        library = kernel._codelibrary
        ptx = library.get_asm_str(cc=target)
        cubin, log = _linked(library, target)
    sizes = {"constant_bytes": _constant_bytes(cubin), "ptx_bytes": len(ptx), "cubin_bytes": len(cubin)}
    return {**_resources(log, kernel.entry_name), **sizes}


@contextlib.contextmanager
def _as_if_on(target: tuple[int, int, str]) -> Iterator[None]:
    """Let numba find a device of that compute capability wherever it asks for one to compile."""
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    library: Any = importlib.import_module("numba.cuda.codegen").CUDACodeLibrary
    asked, ensured = dispatcher.get_current_device, library._ensure_cc
    device = SimpleNamespace(compute_capability=target[:2])
    try:
        dispatcher.get_current_device = lambda: device
        library._ensure_cc = lambda _library, given: given or target
        yield
    finally:
        dispatcher.get_current_device, library._ensure_cc = asked, ensured


def _linked(library: Any, cc: tuple[int, int, str]) -> tuple[bytes, str]:
    """Link as numba's own linker does, with the assembler's report: (cubin, log)."""
    from cuda.bindings import nvjitlink

    driver: Any = importlib.import_module("numba.cuda.cudadrv.driver")
    collected = driver._Linker(max_registers=library._max_registers, cc=cc, lto=library._lto)
    library._link_all(collected, cc)
    # A step that comes from the linker's cache leaves no report.
    options = [f"-arch=sm_{cc[0]}{cc[1]}{cc[2]}", "-Xptxas=-v", "-no-cache"]
    options += ["-lto"] if collected._has_ltoir else []
    options += [f"-maxrregcount={collected.max_registers}"] if collected.max_registers else []
    handle = nvjitlink.create(len(options), options)
    try:
        for code in collected._object_codes:
            kind = getattr(nvjitlink.InputType, code.code_type.upper())
            data = code.code if isinstance(code.code, bytes) else str(code.code).encode()
            nvjitlink.add_data(handle, kind, data, len(data), "kernel")
        try:
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            raise RuntimeError(_log(handle, "error") or str(error)) from None
        size = nvjitlink.get_linked_cubin_size(handle)
        cubin = bytearray(size)
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin), _log(handle, "info")
    finally:
        nvjitlink.destroy(handle)


def _log(handle: Any, kind: str) -> str:
    from cuda.bindings import nvjitlink

    size = getattr(nvjitlink, f"get_{kind}_log_size")(handle)
    text = bytearray(size)
    getattr(nvjitlink, f"get_{kind}_log")(handle, text)
    return bytes(text).decode(errors="replace").strip("\x00\n ")


def _resources(log: str, entry: str) -> dict[str, int]:
    """What the assembler reports of the kernel: device functions that it does not inline come apart."""
    _, _, lines = log.partition(f"Compiling entry function '{entry}'")
    lines = lines.partition("Compiling entry function")[0]
    used, stack = _USED.search(lines), _STACK.search(lines)
    if used is None or stack is None:
        raise RuntimeError(f"no register count in the linker's log: {log[:400]}")
    shared = _SHARED.search(lines)
    return {
        "registers": int(used[1]),
        "spill_store_bytes": int(stack[2]),
        "spill_load_bytes": int(stack[3]),
        "stack_bytes": int(stack[1]),
        "shared_bytes": int(shared[1]) if shared else 0,
    }


def _constant_bytes(cubin: bytes) -> int:
    """Bytes of the cubin's constant banks, arguments among them; the log tells them of old targets only.

    A cubin is a little-endian 64-bit ELF file; its banks are the sections ``.nv.constant0`` and so on.
    """
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    width, count, of_names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + width * index) for index in range(count)]
    names = headers[of_names][4]
    return sum(size for name, _, _, _, _, size in headers if cubin.startswith(b".nv.constant", names + name))


if __name__ == "__main__":
    main()
