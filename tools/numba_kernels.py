"""numba-cuda's simulator with its kernels run by the machine instead.

The kernel's text comes from ``inspect.getsource``; what its free names hold is translated to what
the machine's scalar interpreter would have made of the same module. Nothing of the kernel is
executed by Python.
"""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
import types as pytypes
from dataclasses import dataclass, field
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

from numba.core.errors import TypingError as CoreTypingError
from numba.cuda.core.errors import TypingError
from numba.cuda.errors import normalize_kernel_dimensions
from numba.cuda.simulator.args import ArgHint, In
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
from numba.cuda.simulator.kernel import FakeCUDAKernel
from numba_values import spelled, translated

from grader.records import Finding
from grader.simt import launch
from grader.simt.host import Function
from grader.simt.kernel import compile_kernel
from grader.simt.machine import Stop
from grader.simt.program import Program
from grader.simt.signature import parameters
from grader.simt.types import Kind


class Refused(Exception):
    """The machine does not follow a construct of the kernel."""


class MachineTypeError(TypingError, CoreTypingError):  # type: ignore[misc]
    """The machine refuses the kernel by numba's rules; numba's tests expect this class."""


class Stopped(RuntimeError):
    """The launch stopped for another reason: a limit of the device, an endless loop."""


class NotAboutKernels(AttributeError):
    """The test asks for something of the compiler: its name."""


@dataclass(slots=True)
class Record:
    """What the machine said while one test ran."""

    launches: int = 0
    refusals: list[str] = field(default_factory=list)
    type_errors: list[str] = field(default_factory=list)
    findings: set[str] = field(default_factory=set)


RECORD = Record()


class MachineKernel(FakeCUDAKernel):  # type: ignore[misc]
    """A jitted function whose launches the machine runs."""

    def __init__(self, fn: Any, device: bool, signature: Any = None, debug: bool = False) -> None:
        super().__init__(fn, device=device, debug=debug)
        self.signature = spelled(signature)
        self._program: Program | None = None
        if self.signature and not device:
            self._compile()

    @property
    def program(self) -> Program:
        """The function's text as a program of its own, with what its free names hold."""
        if self._program is None:
            function = translated(self, {})
            if not isinstance(function, Function):
                raise self._refused("source-not-available")
            text = textwrap.dedent(inspect.getsource(self.fn))
            program = Program(text, ast.Module([function.node], []))
            scope = {name: value for name, value in function.scopes[0].items() if name != function.node.name}
            program.__dict__["scope"] = {**scope, function.node.name: function}
            self._program = program
        return self._program

    def forall(self, ntasks: int, tpb: int = 0, stream: int = 0, sharedmem: int = 0) -> Any:
        """The kernel for so many tasks; no tasks are no launch."""
        if ntasks == 0:
            return lambda *_: None
        return super().forall(ntasks, tpb, stream, sharedmem)

    def _compile(self) -> None:
        """Compile for the signature at once, as numba does."""
        try:
            program = self.program
        except (Refused, OSError, TypeError):
            return
        function = program.scope[program.functions[-1]]
        kinds = parameters(function)
        if kinds is None or any(kind is None for kind in kinds):
            return
        known: tuple[Kind, ...] = tuple(kind for kind in kinds if kind is not None)
        try:
            compile_kernel(program, function, known)
        except Stop as stop:
            raise self._error(stop.finding) from None

    def __call__(self, *args: Any) -> None:
        grid, block = normalize_kernel_dimensions(self.grid_dim, self.block_dim)
        try:
            program = self.program
        except (OSError, TypeError):
            raise self._refused("source-not-available") from None
        passed = [passable(self._extended(arg)) for arg in args]
        RECORD.launches += 1
        try:
            run = launch(
                program,
                program.functions[-1],
                grid=grid,
                block=block,
                args=passed,
                shared_bytes=int(self.dynshared_size),
            )
        except ValueError as error:
            raise self._refused(_unknown_type(passed) or str(error)) from None
        for finding in run.errors:
            if finding.name in ("unsupported-construct", "type-error", "non-constant-shared-shape"):
                raise self._error(finding)
            RECORD.findings.add(finding.name)
        if not run.completed:
            raise Stopped(", ".join(finding.name for finding in run.errors))

    def _extended(self, arg: Any) -> Any:
        for extension in self.extensions:
            _, arg = extension.prepare_args(None, arg, stream=0, retr=[])
        return arg

    def __getattr__(self, name: str) -> Any:
        raise NotAboutKernels(name)

    def _error(self, finding: Finding) -> Exception:
        facts = ", ".join(f"{key}={value}" for key, value in sorted(finding.facts.items()))
        if finding.name == "unsupported-construct":
            construct, name = str(finding.facts.get("construct")), finding.facts.get("name")
            return self._refused(f"{construct}: {name}" if name else construct)
        RECORD.type_errors.append(f"{finding.facts.get('rule', finding.name)}: {facts}")
        return MachineTypeError(RECORD.type_errors[-1])

    def _refused(self, construct: str) -> Refused:
        RECORD.refusals.append(construct)
        return Refused(construct)


def _unknown_type(args: list[Any]) -> str:
    """What the launch does not take of these arguments."""
    for arg in args:
        dtype = getattr(arg, "dtype", None)
        if dtype is not None and dtype.fields:
            return "argument: record or array of records"
        if dtype is not None and dtype.kind in "SUmM":
            return f"argument: array of {'text' if dtype.kind in 'SU' else 'dates'}"
    return ""


def jit(func_or_sig: Any = None, device: bool = False, debug: Any = None, **options: Any) -> Any:
    """``cuda.jit`` of the simulator, with :class:`MachineKernel` in the place of its kernel."""
    for unsupported in ("link", "boundscheck", "lto"):
        if options.get(unsupported):
            raise NotImplementedError(unsupported)
    if isinstance(func_or_sig, pytypes.FunctionType):
        return MachineKernel(func_or_sig, device, None, bool(debug))
    return lambda fn: MachineKernel(fn, device, func_or_sig, bool(debug))


def passable(arg: Any) -> Any:
    """An argument as ``launch`` takes it: arrays themselves, not the simulator's wrappers."""
    if isinstance(arg, ArgHint):
        value = passable(arg.value)
        return value.copy() if isinstance(arg, In) else value
    if isinstance(arg, FakeCUDAArray):
        return arg._ary
    if isinstance(arg, tuple) and type(arg) is tuple:
        return tuple(passable(item) for item in arg)
    return arg


__all__ = ["RECORD", "MachineKernel", "MachineTypeError", "NotAboutKernels", "Record", "Refused", "jit"]
