"""What the names of numba-cuda's tests hold, in the form of the machine's scalar interpreter."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
import types as pytypes
from dataclasses import dataclass
from typing import Any

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
from numba.cuda import types
from numba.cuda.simulator.kernel import FakeCUDAKernel

from grader.simt.host import Function, Path, Unknown


def translated(value: Any, seen: dict[int, Any]) -> Any:
    """A host value as the machine's scalar interpreter has it; ``Unknown`` where it has none."""
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic | np.ndarray):
        plain = type(value).__module__ in ("builtins", "numpy")
        if isinstance(value, np.ndarray):
            return value.copy()  # a constant of the kernel from now on
        return value if plain else Unknown(ast.Pass(), type(value).__name__)
    if type(value) in (tuple, list):
        return type(value)(translated(item, seen) for item in value)
    if isinstance(value, pytypes.ModuleType):
        return Path(value.__name__)
    if isinstance(value, FakeCUDAKernel):
        return function_of(value.fn, seen, "numba.cuda.jit", value._device, value.signature)
    if isinstance(value, pytypes.FunctionType):
        return function_of(value, seen)
    if callable(getattr(value, "py_func", None)):
        return function_of(value.py_func, seen, "numba.njit", True)
    path = _path_of(value)
    return Path(path) if path else Unknown(ast.Pass(), type(value).__name__)


@dataclass(frozen=True, slots=True)
class Named:
    """What the simulator lacks of the ``cuda`` module, by its dotted path."""

    path: str


def _path_of(value: Any) -> str:
    """The dotted name by which kernels know a type or a function of a library."""
    if isinstance(value, Named):
        return value.path
    if isinstance(value, types.Type):
        return f"numba.{value}" if isinstance(value, types.Number | types.Boolean) else ""
    if isinstance(value, np.dtype):
        return "" if value.fields else f"numpy.{value.name}"
    if isinstance(value, np.ufunc):
        return f"numpy.{value.__name__}"
    module, name = getattr(value, "__module__", ""), getattr(value, "__name__", "")
    if module == "builtins" or (isinstance(value, type) and module == "numpy"):
        return str(name) if module == "builtins" else f"numpy.{name}"
    if isinstance(value, pytypes.BuiltinFunctionType):
        return f"{(module or '').lstrip('_')}.{name}"
    return ""


def function_of(
    fn: Any, seen: dict[int, Any], path: str = "", device: bool = False, signature: str = ""
) -> Function | Unknown:
    """A function with the values of its globals and closure, in the machine's form."""
    found = seen.get(id(fn))
    if found is not None:
        return found  # type: ignore[no-any-return]
    node = _definition(fn)
    if node is None:
        return Unknown(ast.Pass(), "source-not-available")
    scope: dict[str, Any] = {}
    sign = ast.Constant(signature) if signature else None
    function = Function(node, (scope,), path, device, sign)
    seen[id(fn)] = function
    free = inspect.getclosurevars(fn).nonlocals
    for name in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}:
        if name in free or name in fn.__globals__:
            scope[name] = translated(free[name] if name in free else fn.__globals__[name], seen)
    return function


def _definition(fn: Any) -> ast.FunctionDef | None:
    name = fn.__code__.co_name
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, SyntaxError, TypeError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.Lambda) and name == "<lambda>":
            body: list[ast.stmt] = [ast.Return(node.body)]
            made = ast.FunctionDef("lambda_", node.args, body, [], type_params=[])
            return ast.fix_missing_locations(ast.copy_location(made, node.body))
    return None


def spelled(signature: Any) -> str:
    """A signature as text; empty where there is none, or none that text tells."""
    if isinstance(signature, str):
        return signature
    if isinstance(signature, list):
        return spelled(signature[0]) if len(signature) == 1 else ""
    arguments = getattr(signature, "args", signature)
    if not isinstance(arguments, tuple):
        return ""
    words = [_type_text(item) for item in arguments]
    return f"void({', '.join(words)})" if all(words) else ""


def _type_text(item: Any) -> str:
    if isinstance(item, types.Array):
        return f"{item.dtype}[{', '.join(':' * item.ndim)}]"
    return str(item) if isinstance(item, types.Number | types.Boolean) else ""
