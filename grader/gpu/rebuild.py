"""Build a kernel from its plan: the plan's functions are compiled, the submission's module is not run.

A child in a sandbox imports this module and nothing else of ours. What a plan holds is described in
:mod:`grader.simt.plan`. Each ``def`` is compiled alone, without decorators, defaults and annotations,
at its own line, so that lines in numba's messages are the submission's.
"""

from __future__ import annotations

import ast
import base64
import importlib
import importlib.util
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

__all__ = ["RebuildError", "numba_type", "python_functions", "rebuild"]

_MODULES = (
    *("numba", "numba.types", "numba.cuda", "numba.cuda.libdevice", "math", "cmath", "operator", "numpy"),
    *("builtins", "grader.gpu.ptx"),
)


class RebuildError(Exception):
    """A plan that cannot be built: ``name`` is what no module holds, ``line`` that of the function."""

    def __init__(self, name: str, line: int) -> None:
        super().__init__(name, line)
        self.name = name
        self.line = line


def rebuild(plan: dict[str, Any], *, kernel_signature: bool = True) -> Any:
    """Give the kernel of a plan as ``cuda.jit`` makes it.

    A function whose decorator had a signature is compiled at once, which needs a GPU; a kernel's own
    is left out with ``kernel_signature=False``. Raises RebuildError where a name is not there, and
    whatever numba raises.
    """
    from numba import cuda

    functions = python_functions(plan)
    made: list[Any] = [None] * len(functions)
    entries = plan["functions"]
    if not kernel_signature:
        entries = [*entries[:-1], {**entries[-1], "signature": None}]
    # A dispatcher reads its function's globals when it compiles: those with a signature do at once.
    for early in (True, False):
        for index, (entry, function) in enumerate(zip(entries, functions, strict=True)):
            signature = entry["signature"]
            if early and signature is not None:
                continue
            if early:
                made[index] = _decorated(cuda, entry, function, None)
                continue
            function.__globals__.update(
                {
                    name: made[value["function"]]
                    for name, value in entry["globals"].items()
                    if "function" in value
                }
            )
            if signature is not None:
                made[index] = _decorated(cuda, entry, function, signature)
    return made[-1]


def _decorated(cuda: Any, entry: dict[str, Any], function: Any, signature: Any) -> Any:
    options = {
        name: tuple(value) if isinstance(value, list) else value for name, value in entry["options"].items()
    }
    if entry["kind"] == "device":
        options = {**options, "device": True}
        for name in ("max_registers", "launch_bounds", "lto"):
            options.pop(name, None)
    if signature is None:
        return cuda.jit(**options)(function)
    parameters = tuple(numba_type(one) for one in signature["parameters"])
    if entry["kind"] == "device" and signature["returns"] is not None:
        return cuda.jit(numba_type(signature["returns"])(*parameters), **options)(function)
    return cuda.jit(parameters, **options)(function)


def numba_type(described: dict[str, Any]) -> Any:
    """Give numba's type of a described one: {"dtype": name}, with "ndim" and "layout" for an array."""
    from numba import types

    scalar = getattr(types, "boolean" if described["dtype"] == "bool" else described["dtype"])
    if "ndim" not in described:
        return scalar
    return types.Array(scalar, described["ndim"], described["layout"])


def python_functions(plan: dict[str, Any]) -> list[FunctionType]:
    """Give the plan's functions as plain Python functions; names of other functions are not yet filled in."""
    tree = ast.parse(plan["source"])
    wanted = {(entry["name"], entry["line"]) for entry in plan["functions"]}
    nodes = {
        (node.name, node.lineno): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (node.name, node.lineno) in wanted
    }
    return [
        _python_function(plan["file"], entry, nodes[entry["name"], entry["line"]])
        for entry in plan["functions"]
    ]


def _python_function(file: str, entry: dict[str, Any], node: ast.FunctionDef) -> FunctionType:
    bare = ast.FunctionDef(node.name, _bare_arguments(node.args), node.body, [])
    ast.copy_location(bare, node)
    ast.fix_missing_locations(bare)
    names: dict[str, Any] = {"__name__": "submission", "__file__": file}
    # All that this runs is one `def` without decorators and defaults: it makes a function.
    exec(compile(ast.Module([bare], []), file, "exec"), names)  # noqa: S102
    made = names.pop(node.name)
    assert isinstance(made, FunctionType)
    line = entry["line"]
    names.update(
        {
            name: _value(described, line)
            for name, described in entry["globals"].items()
            if "function" not in described
        }
    )
    made.__defaults__ = tuple(_value(one, line) for one in entry["defaults"]) or None
    return made


def _bare_arguments(arguments: ast.arguments) -> ast.arguments:
    bare = [ast.copy_location(ast.arg(one.arg), one) for one in arguments.args]
    return ast.arguments(posonlyargs=[], args=bare, kwonlyargs=[], kw_defaults=[], defaults=[])


def _value(described: dict[str, Any], line: int) -> Any:
    kind = next(key for key in described if key not in ("dtype", "shape"))
    content = described[kind]
    match kind:
        case "value":
            return content
        case "float":
            return float(content)
        case "complex":
            return complex(*map(float, content))
        case "tuple":
            return tuple(_value(one, line) for one in content)
        case "list":
            return [_value(one, line) for one in content]
        case "array" | "scalar":
            return _array(described, content)
        case "module" | "attribute":
            return _resolved(content, line)
    raise RebuildError(kind, line)


def _array(described: dict[str, Any], content: str) -> Any:
    import numpy as np

    flat = np.frombuffer(base64.b64decode(content), described["dtype"]).copy()
    return flat.reshape(described["shape"]) if "shape" in described else flat[0]


def _resolved(path: str, line: int) -> Any:
    """A module of the list, or a public attribute under one."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        if module in _MODULES:
            found = _module(module)
            break
    else:
        raise RebuildError(path, line)
    for part in parts[length:]:
        if part.startswith("_") or not hasattr(found, part):
            raise RebuildError(path, line)
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    if name == "grader.gpu.ptx" and importlib.util.find_spec("grader") is None:
        # A child that runs bare from a checkout has this module's folder on its path, not the package's.
        sys.path.append(str(Path(__file__).resolve().parents[2]))
    if name == "numba.types":
        return importlib.import_module("numba").types
    return importlib.import_module(name)
