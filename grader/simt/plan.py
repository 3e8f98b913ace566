"""What another process needs to build a kernel for numba without executing the submission's module.

A plan names the ``def`` of the kernel and of every device function that it reaches by their lines, and
says what each of their free names holds: plain values, names of known modules, or each other. The scalar
interpreter knows the values; :mod:`grader.gpu.rebuild` makes the functions.
"""

from __future__ import annotations

import ast
import base64
import builtins
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.records import Fact, Finding
from grader.simt.free_names import free_names
from grader.simt.host import Function, HostError, Interpreter, Path, Unknown
from grader.simt.host_values import ANY_NAME, path_value
from grader.simt.program import Program
from grader.simt.signature import declared_types

__all__ = ["MODULES", "Plan", "plan"]

#: Modules that a planned function may name, or take a public attribute of.
MODULES = (
    *("numba", "numba.types", "numba.cuda", "numba.cuda.libdevice", "math", "cmath", "operator", "numpy"),
    "grader.gpu.ptx",
)
#: Options of ``cuda.jit`` that shape the code. The others are for launching, linking and debugging.
OPTIONS = ("fastmath", "max_registers", "opt", "inline", "forceinline", "launch_bounds", "lto")
Descriptor = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A kernel to build. ``functions`` holds it last, after the device functions that it reaches.

    Each function is a JSON object: ``name``, ``line`` (of its ``def``), ``kind`` ("kernel" or
    "device"), ``globals`` (name: descriptor), ``defaults`` (descriptors of its last parameters),
    ``options`` (of the decorator), and ``signature`` ({"parameters": [type], "returns": type}) or
    None. A type is {"dtype": name} with "ndim" and "layout" for an array. A descriptor is one of

        {"value": number, text, bool or None}   {"float": "nan", "inf" or "-inf"}
        {"complex": [real, imaginary]}          {"tuple": [descriptor]}, {"list": [descriptor]}
        {"array": base64, "dtype", "shape"}     {"scalar": base64, "dtype"}
        {"module": name}, {"attribute": name}   {"function": index into functions}
    """

    file: str
    source: str
    kernel: str
    functions: tuple[Mapping[str, Any], ...]

    def request(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        return {
            "file": self.file,
            "source": self.source,
            "kernel": self.kernel,
            "functions": [dict(function) for function in self.functions],
        }


def plan(
    program: Program, kernel: str, constants: Mapping[str, Any] | None = None, file: str = "submission.py"
) -> Plan | tuple[Finding, ...]:
    """Plan a kernel; the findings say where it needs what no plan can hold.

    ``constants`` overrides module-level and closure values by name, as for a launch.
    """
    if program.findings:
        return program.findings
    function = program.function(kernel, constants or {})
    if function is None:
        facts: dict[str, Fact] = {"kernel": kernel, "candidates": program.functions}
        return (Finding("missing-kernel", "error", facts=facts),)
    planner = _Planner(program)
    planner.add(function, "kernel")
    if planner.findings:
        return tuple(planner.findings)
    return Plan(file, program.text, kernel, tuple(planner.functions))


@dataclass
class _Planner:
    program: Program
    functions: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)

    def add(self, function: Function, kind: str) -> None:
        """Plan a function after those that it reaches."""
        self.begun.add(id(function))
        node = function.node
        self._check_form(node)
        names = {name.id: self._free(function, name) for name in free_names(node)}
        defaults = [] if kind == "kernel" else self._defaults(function)
        self.places[id(function)] = len(self.functions)
        self.functions.append(
            {
                "name": node.name,
                "line": node.lineno,
                "kind": kind,
                "globals": {name: value for name, value in names.items() if value is not None},
                "defaults": defaults,
                "options": self._options(function),
                "signature": declared_types(function),
            }
        )

    def _check_form(self, node: ast.FunctionDef) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Nonlocal | ast.ClassDef | ast.AsyncFunctionDef):
                self._refuse(part, type(part).__name__)
        spec = node.args
        if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs:
            self._refuse(node, "parameters")

    def _refuse(self, node: ast.AST, construct: str, name: str | None = None) -> Descriptor | None:
        """Note what no plan can hold; there is no descriptor of it."""
        facts: dict[str, Fact] = {"construct": construct}
        if name is not None:
            facts["name"] = name
        self._add_finding("unsupported-construct", node, facts)
        return None

    def _add_finding(self, name: str, node: ast.AST, facts: dict[str, Fact]) -> None:
        finding = Finding(name, "error", primary=self.program.span(node), facts=facts)
        if finding not in self.findings:
            self.findings.append(finding)

    def _free(self, function: Function, name: ast.Name) -> Descriptor | None:
        """What a free name holds; None for a builtin, and where a finding says why not."""
        for scope in function.scopes:
            if name.id in scope:
                return self._described(name, scope[name.id])
        if not hasattr(builtins, name.id):
            if any(ANY_NAME in scope for scope in function.scopes):
                return self._refuse(name, "unknown-value", name.id)
            self._add_finding("type-error", name, {"rule": "unknown-name", "name": name.id})
        return None

    def _described(self, node: ast.AST, value: Any) -> Descriptor | None:
        match value:
            case Unknown():
                name = node.id if isinstance(node, ast.Name) else ""
                return self._refuse(node, "unknown-value", name)
            case Path():
                return self._path(node, value.name)
            case Function():
                return self._function(node, value)
            case tuple() | list():
                parts = [self._described(node, item) for item in value]
                return {"list" if isinstance(value, list) else "tuple": parts}
            case np.ndarray() | np.generic():
                return self._array(node, value)
            case bool() | int() | str() | None:
                return {"value": value}
            case float():
                return {"value": value} if math.isfinite(value) else {"float": repr(value)}
            case complex():
                return {"complex": [repr(value.real), repr(value.imag)]}
        return self._refuse(node, type(value).__name__)

    def _path(self, node: ast.AST, path: str) -> Descriptor | None:
        if path in MODULES:
            return {"module": path}
        if "." not in path and hasattr(builtins, path):
            return {"attribute": f"builtins.{path}"}
        within = any(path.startswith(f"{module}.") for module in MODULES)
        if within and not any(part.startswith("_") for part in path.split(".")):
            return {"attribute": path}
        return self._refuse(node, path)

    def _function(self, node: ast.AST, function: Function) -> Descriptor | None:
        if not function.jit:
            facts: dict[str, Fact] = {"rule": "plain-function", "name": function.node.name}
            self._add_finding("type-error", node, facts)
            return None
        if id(function) not in self.begun:
            self.add(function, "device")
        if id(function) not in self.places:
            return self._refuse(node, "recursion")
        return {"function": self.places[id(function)]}

    def _array(self, node: ast.AST, value: Any) -> Descriptor | None:
        if value.dtype.char not in "?bhilqBHILQefdFD":
            return self._refuse(node, f"array of {value.dtype}")
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        if isinstance(value, np.generic):
            return {"scalar": data, "dtype": value.dtype.name}
        return {"array": data, "dtype": value.dtype.name, "shape": list(value.shape)}

    def _defaults(self, function: Function) -> list[Descriptor | None]:
        return [self._evaluated(function, node) for node in function.node.args.defaults]

    def _evaluated(self, function: Function, node: ast.expr) -> Descriptor | None:
        try:
            value = Interpreter(function.scopes).value(node)
        except HostError as error:
            return self._refuse(error.node or node, error.reason)
        return self._described(node, path_value(value.name) if isinstance(value, Path) else value)

    def _options(self, function: Function) -> dict[str, Any]:
        """The decorator's options that shape the code, as far as they are given."""
        found: dict[str, Any] = {}
        for name in OPTIONS:
            option = function.options.get(name)
            place = option if isinstance(option, ast.expr) else function.node
            if isinstance(option, ast.expr):
                try:
                    option = Interpreter(function.scopes).value(option)
                except HostError as error:
                    self._refuse(error.node or place, error.reason)
                    continue
            if isinstance(option, int | str | tuple | list):
                found[name] = list(option) if isinstance(option, tuple) else option
            elif option is not None:
                self._refuse(place, f"jit-{name}")
        return found
