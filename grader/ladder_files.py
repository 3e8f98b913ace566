"""The files of the ladder's kernels, ``solutions/ladder/NAME.py``, read without being run.

Each holds ``KERNEL``, whose parameters are A, B, C, M, N, K; ``launch_config(M, N, K)``, which gives
(grid, block); ``DTYPE`` of A and B; and ``SHARED_BYTES``, the dynamic shared memory of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from grader.exercises import data_folder
from grader.gpu.compile import compile_check
from grader.perf.architectures import architecture_of
from grader.perf.climb import Resources, Sizes
from grader.perf.devices import Device
from grader.perf.rungs import RUNGS, Rung, fits
from grader.simt import parse
from grader.simt.host import Function
from grader.simt.plan import Plan, plan
from grader.simt.program import NotConstant, Program

__all__ = ["RungFile", "RungFileError", "compiled_resources", "folder", "missing_files", "read"]

#: Element types of the arrays that stand for a dtype: bfloat16 is held as its bits.
ELEMENTS = {"float32": "float32", "bfloat16": "uint16"}


class RungFileError(Exception):
    """A rung's file that does not hold what it has to; the text is one line."""


class _NoCompilerError(RungFileError):
    """The compiler could not be asked."""


@dataclass(frozen=True, slots=True)
class RungFile:
    """A rung's kernel: its text, its name in it, the element type of A and B, dynamic shared bytes."""

    program: Program
    kernel: str
    dtype: str
    shared_bytes: int

    def launch(self, sizes: Sizes) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Grid and block for M, N, K, x first. Raises RungFileError."""
        found, findings = self.program.evaluate("launch_config", sizes)
        if findings:
            raise RungFileError(f"launch_config cannot be followed: {findings[0].facts}")
        grid, block = found
        return tuple(grid), tuple(block)

    @property
    def elements(self) -> str:
        """The element type of the arrays that A and B are."""
        return ELEMENTS[self.dtype]


def folder() -> Path:
    """Where the rungs' kernels lie: in the checkout; an installed package has no solutions."""
    return data_folder("solutions") / "ladder"


def missing_files() -> str:
    """Why the kernels cannot be read, in one line; empty where they can."""
    if not folder().is_dir():
        return "the ladder's kernels lie in solutions/ladder of a checkout, which an installed package lacks"
    lacking = [_path(rung).name for rung in RUNGS if not rung.is_library and not _path(rung).is_file()]
    return f"solutions/ladder lacks {', '.join(lacking)}" if lacking else ""


def _path(rung: Rung) -> Path:
    return folder() / f"{rung.name}.py"


def read(rung: Rung) -> RungFile:
    """Read a rung's file. Raises RungFileError."""
    try:
        program = parse(_path(rung).read_text(encoding="utf-8"))
        kernel = program.scope.get("KERNEL")
        if program.findings or not isinstance(kernel, Function):
            raise RungFileError(f"{_path(rung).name} holds no KERNEL")
        dtype, shared_bytes = program.constant("DTYPE"), program.constant("SHARED_BYTES")
    except (OSError, NotConstant) as error:
        raise RungFileError(f"{_path(rung).name} cannot be read: {error}") from None
    if dtype not in ELEMENTS:
        raise RungFileError(
            f"{_path(rung).name}: DTYPE is {dtype!r}; it must be one of {', '.join(ELEMENTS)}"
        )
    return RungFile(program, kernel.node.name, dtype, shared_bytes)


def compiled_resources(profile: Device) -> tuple[dict[str, Resources], str]:
    """What the compiler makes of each rung's kernel for a device, and why it does not say more.

    The second result is one line, empty where every kernel compiled.
    """
    arch = architecture_of(profile)
    if reason := missing_files():
        return {}, reason
    if not arch:
        return {}, f"NVIDIA's compiler does not know {profile.title}"
    found: dict[str, Resources] = {}
    for rung in RUNGS:
        if rung.is_library or not fits(rung, arch):
            continue
        try:
            found[rung.name] = _compiled(read(rung), arch)
        except RungFileError as error:
            # Where no kernel at all was compiled it is no matter of this one.
            whose = f"{rung.title}: " if found or not isinstance(error, _NoCompilerError) else ""
            return found, f"{whose}{error}"
    return found, ""


def _compiled(file: RungFile, arch: str) -> Resources:
    made = plan(file.program, file.kernel)
    if not isinstance(made, Plan):
        raise RungFileError(f"cannot be planned: {made[0].name}")
    _, block = file.launch((4096, 4096, 4096))
    types: list[Mapping[str, Any]] = [
        {"dtype": dtype, "ndim": 2, "layout": "C"} for dtype in (file.elements, file.elements, "float32")
    ]
    types += [{"dtype": "int64"}] * 3
    done = compile_check(made.request(), types, [arch], prod(block), dynamic_shared_bytes=file.shared_bytes)
    if done.reason:
        raise _NoCompilerError(done.reason)
    [result] = done.results
    if result.error:
        raise RungFileError(result.error)
    return Resources(
        source="compiler",
        registers=result.registers,
        shared_bytes=result.shared_bytes + file.shared_bytes,
        threads=prod(block),
        local_bytes=result.stack_bytes,
    )
