"""Signatures given to ``cuda.jit``: the types that numba compiles for, whatever is passed."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.records import Fact, Finding
from grader.simt.host import Function, HostError, Interpreter, Path
from grader.simt.machine import Stop
from grader.simt.program import Program
from grader.simt.types import CODES, Array, Kind, Scalar
from grader.simt.values import cast_scalar


def declared(program: Program, function: Function, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Types of the parameters under the decorator's signature; ``kinds`` where it has none.

    Scalars are converted to the declared type. numba launches a kernel of one signature with any
    array: one of the same element size has its bytes read as the declared type; for another size
    or rank it reads memory that is not the array's, which is refused here.
    """
    wanted = parameters(function)
    if wanted is None:
        return kinds
    place = program.span(function.node if function.signature is None else function.signature)
    if len(wanted) != len(kinds):
        facts: dict[str, Fact] = {
            "rule": "argument-count",
            "name": function.node.name,
            "got": len(kinds),
            "wanted": len(wanted),
        }
        raise Stop(Finding("type-error", "error", place, facts=facts))
    result: list[Kind] = []
    for position, (kind, want) in enumerate(zip(kinds, wanted, strict=True)):
        if isinstance(kind, Scalar) and isinstance(want, Scalar):
            result.append(want)
            continue
        alike = isinstance(kind, Array) and isinstance(want, Array) and _same_layout(kind, want)
        if alike and isinstance(kind, Array) and isinstance(want, Array):
            result.append(Array(want.code, kind.ndim, kind.space, kind.ident))
            continue
        if want is not None and not alike:
            name = function.node.args.args[position].arg
            facts = {"rule": "argument-type", "name": name, "got": kind.name, "wanted": want.name}
            raise Stop(Finding("type-error", "error", place, facts=facts))
        result.append(kind)
    return tuple(result)


def _same_layout(kind: Array, want: Array) -> bool:
    """Whether memory of one type reads as the other: numba checks no array against the one signature."""
    return kind.ndim == want.ndim and np.dtype(kind.code).itemsize == np.dtype(want.code).itemsize


def parameters(function: Function) -> list[Kind | None] | None:
    """The types that the decorator's signature names, None for one that is not known to us.

    None where there is no signature.
    """
    node = _node(function)
    if isinstance(node, ast.Call):
        return [_type(function, item) for item in node.args]
    if isinstance(node, ast.Tuple):
        return [_type(function, item) for item in node.elts]
    return None


def returned(function: Function) -> Kind | None:
    """The type that the decorator's signature gives a device function's result; None where it names none."""
    node = _node(function)
    return _type(function, node.func) if isinstance(node, ast.Call) else None


def declared_types(function: Function) -> dict[str, Any] | None:
    """The signature as plain data, {"parameters": [type], "returns": type or None}.

    A type is {"dtype": name}, with "ndim" and "layout" ("C", "F" or "A") for an array. None where
    there is no signature, or where it names a type that is not known to us.
    """
    kinds, node = parameters(function), _node(function)
    if kinds is None or node is None:
        return None
    nodes = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
    types = [_described(kind, part) for kind, part in zip(kinds, nodes, strict=True)]
    given = returned(function)
    returns = {"dtype": given.name} if isinstance(given, Scalar) else None
    return None if None in types else {"parameters": types, "returns": returns}


def _described(kind: Kind | None, node: ast.expr) -> dict[str, Any] | None:
    if isinstance(kind, Scalar):
        return {"dtype": kind.name}
    if not isinstance(kind, Array) or not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    tight = [isinstance(part, ast.Slice) and part.step is not None for part in parts]
    layout = "C" if tight[-1] else "F" if tight[0] else "A"
    return {"dtype": Scalar(kind.code).name, "ndim": kind.ndim, "layout": layout}


def _node(function: Function) -> ast.expr | None:
    """The signature as an expression, out of its string or its list of one."""
    node = function.signature
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return None
    if isinstance(node, ast.List) and len(node.elts) == 1:
        node = node.elts[0]
    return node


def _type(function: Function, node: ast.expr) -> Kind | None:
    """The type that an annotation such as ``float32[:, ::1]`` names; None where it names none we know."""
    if isinstance(node, ast.Subscript):
        inner = _type(function, node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Array(inner.code, len(parts), "global") if isinstance(inner, Scalar) else None
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    try:
        found = Interpreter(function.scopes).value(node)
    except HostError:
        found = None
    if isinstance(found, Path):
        name = found.name.rsplit(".", 1)[-1]
    if name in ("bool", "complex"):
        return Scalar({"bool": "?", "complex": "D"}[name])
    short = {
        "f4": "f",
        "f8": "d",
        "i4": "i",
        "i8": "q",
        "u4": "I",
        "u8": "Q",
        "b1": "?",
        "i1": "b",
        "u1": "B",
    }
    code = CODES.get(name) or short.get(name)
    return Scalar(code) if code else None


def convert_argument(kind: Kind, value: Any) -> Any:
    """A scalar argument as the kernel gets it."""
    return cast_scalar(value, kind.code) if isinstance(kind, Scalar) and np.isscalar(value) else value
