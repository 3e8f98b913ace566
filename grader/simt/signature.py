"""Signatures given to ``cuda.jit``: the types that numba compiles for, whatever is passed."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.records import Fact, Finding
from grader.simt.host import Function, HostError, Interpreter, Path
from grader.simt.machine import Stop
from grader.simt.program import Program
from grader.simt.type_names import NUMBA_TYPES, code_of_path
from grader.simt.types import Array, Kind, Scalar
from grader.simt.values import cast_scalar


def declared(
    program: Program, function: Function, kinds: tuple[Kind, ...], layouts: tuple[str, ...] = ()
) -> tuple[Kind, ...]:
    """Types of the parameters under the decorator's signature; ``kinds`` where it has none.

    Scalars are converted to the declared type. numba launches a kernel of one signature with any
    array: one of the same element size has its bytes read as the declared type; for another size,
    rank or order of the elements it reads others than those meant, which is refused here. ``layouts``
    holds the orders, "C" and "F", that each array's elements have.
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
    for position, (kind, want, node) in enumerate(zip(kinds, wanted, _parts(function), strict=True)):
        if isinstance(kind, Scalar) and isinstance(want, Scalar):
            result.append(want)
            continue
        order = layouts[position] if layouts else "C"
        alike = isinstance(kind, Array) and isinstance(want, Array) and _same_layout(kind, want)
        ordered = not isinstance(want, Array) or want.ndim < 2 or _layout(node) in ("A", *order)
        if alike and ordered and isinstance(kind, Array) and isinstance(want, Array):
            result.append(Array(want.code, kind.ndim, kind.space, kind.ident))
            continue
        if want is not None:
            name = function.node.args.args[position].arg
            got, asked = kind.name, want.name
            if alike:
                got, asked = (
                    f"{one[:-1]}, {how})" for one, how in ((got, order[:1] or "A"), (asked, _layout(node)))
                )
            facts = {"rule": "argument-type", "name": name, "got": got, "wanted": asked}
            raise Stop(Finding("type-error", "error", place, facts=facts))
        result.append(kind)
    return tuple(result)


def layout_of(array: np.ndarray[Any, Any]) -> str:
    """The orders that an array's elements lie in: "C" row by row, "F" column by column; both, or neither."""
    flags = array.flags
    return "C" * bool(flags.c_contiguous) + "F" * bool(flags.f_contiguous)


def _same_layout(kind: Array, want: Array) -> bool:
    """Whether memory of one type reads as the other: numba checks no array against the one signature."""
    return kind.ndim == want.ndim and np.dtype(kind.code).itemsize == np.dtype(want.code).itemsize


def _parts(function: Function) -> list[ast.expr]:
    """The annotations that the decorator's signature has for the parameters."""
    node = _node(function)
    return node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []


def _layout(node: ast.expr) -> str:
    """The order "C", "F" or "A" (any) of an array, which its annotation tells by the place of ``::1``."""
    axes = node.slice if isinstance(node, ast.Subscript) else None
    parts = axes.elts if isinstance(axes, ast.Tuple) else [axes]
    tight = [isinstance(part, ast.Slice) and part.step is not None for part in parts]
    return "C" if tight[-1] else "F" if tight[0] else "A"


def parameters(function: Function) -> list[Kind | None] | None:
    """The types that the decorator's signature names, None for one that is not known to us.

    None where there is no signature.
    """
    if not isinstance(_node(function), ast.Call | ast.Tuple):
        return None
    return [_type(function, item) for item in _parts(function)]


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
    types = [_described(kind, part) for kind, part in zip(kinds, _parts(function), strict=True)]
    given = returned(function)
    returns = {"dtype": given.name} if isinstance(given, Scalar) else None
    return None if None in types else {"parameters": types, "returns": returns}


def _described(kind: Kind | None, node: ast.expr) -> dict[str, Any] | None:
    if isinstance(kind, Scalar):
        return {"dtype": kind.name}
    if not isinstance(kind, Array) or not isinstance(node, ast.Subscript):
        return None
    layout = _layout(node)
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
        name = found.name.rpartition(".")[2]
        if code_of_path(found.name) is not None:
            return Scalar(code_of_path(found.name) or "")
    code = {"complex": "D"}.get(name) or NUMBA_TYPES.get(name)
    return Scalar(code) if code else None


def convert_argument(kind: Kind, value: Any) -> Any:
    """A scalar argument as the kernel gets it."""
    return cast_scalar(value, kind.code) if isinstance(kind, Scalar) and np.isscalar(value) else value
