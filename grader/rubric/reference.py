"""What a kernel must compute, from a rubric's array expression, with a bound on float rounding.

The language: names, numbers, ``+ - * / @``, unary minus, ``x.T``, and the functions ``sum(x)``,
``sum(x, axis)``, ``min``, ``max`` (of one array, or of two element by element), ``abs``, ``sqrt`` and
``shift(x, i, ...)``, which moves x by whole elements along each axis and fills with zeros.

Every value carries two more numbers for the error of a float kernel that computes the same in any
order: ``magnitude``, the same expression over absolute values with every minus a plus, and
``terms``, how many roundings one element collects. Accumulating n terms of magnitude S makes an
error of about sqrt(n) * eps * S (N. Higham and T. Mary, SIAM J. Sci. Comput. 41(5), 2019).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BadReference", "Estimate", "check_reference", "evaluate_reference", "matrix_product"]

Array = npt.NDArray[Any]
FUNCTIONS = ("abs", "max", "min", "shift", "sqrt", "sum")


class BadReference(ValueError):
    """The text is no array expression; ``str()`` is one line."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value in float64, the magnitude that its rounding errors scale with, and their number."""

    value: Array
    magnitude: Array
    terms: int = 0


def check_reference(text: str, names: Iterable[str]) -> None:
    """Raise ``BadReference`` where ``text`` is not in the language or uses another name."""
    known = set(names)
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.Name) and node.id not in known and node.id not in FUNCTIONS:
            raise BadReference(
                f"{node.id!r} in the reference is no input; the inputs are {', '.join(sorted(known))}"
            )


def matrix_product(text: str) -> tuple[str, str] | None:
    """The two names of a reference that is a plain product such as ``A @ B``, else None."""
    match _parsed(text):
        case ast.BinOp(left=ast.Name(id=left), op=ast.MatMult(), right=ast.Name(id=right)):
            return left, right
    return None


def evaluate_reference(text: str, values: Mapping[str, Array | float | int]) -> Estimate:
    """The expression over float64 copies of ``values``. Raises ``BadReference``."""
    return _value(_parsed(text), values)


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.expr:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadReference(f"cannot read {text!r} as an array expression") from None
    _check(tree, 20)
    return tree


def _check(node: ast.expr, depth: int) -> None:
    if depth == 0:
        raise BadReference("the reference is nested too deeply")
    match node:
        case ast.Constant(value=int() | float()) | ast.Name():
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, depth - 1)
            _check(right, depth - 1)
        case ast.UnaryOp(op=ast.USub(), operand=operand) | ast.Attribute(value=operand, attr="T"):
            _check(operand, depth - 1)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS and args:
            for argument in args:
                _check(argument, depth - 1)
        case _:
            raise BadReference(f"{ast.unparse(node)!r} is not allowed in a reference")


def _value(node: ast.expr, values: Mapping[str, Array | float | int]) -> Estimate:
    match node:
        case ast.Constant(value=int() | float() as value):
            return _exact(value)
        case ast.Name(id=name):
            return _exact(values[name])
        case ast.UnaryOp(operand=operand):
            inner = _value(operand, values)
            return Estimate(-inner.value, inner.magnitude, inner.terms)
        case ast.Attribute(value=operand):
            inner = _value(operand, values)
            return Estimate(inner.value.T, inner.magnitude.T, inner.terms)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, [_value(argument, values) for argument in args])
    raise BadReference("not an array expression")


def _exact(value: Array | float | int) -> Estimate:
    array = np.asarray(value, dtype=np.float64)
    return Estimate(array, np.abs(array))


def _add(x: Estimate, y: Estimate) -> Estimate:
    return Estimate(x.value + y.value, x.magnitude + y.magnitude, max(x.terms, y.terms) + 1)


def _subtract(x: Estimate, y: Estimate) -> Estimate:
    return Estimate(x.value - y.value, x.magnitude + y.magnitude, max(x.terms, y.terms) + 1)


def _multiply(x: Estimate, y: Estimate) -> Estimate:
    return Estimate(x.value * y.value, x.magnitude * y.magnitude, x.terms + y.terms + 1)


def _divide(x: Estimate, y: Estimate) -> Estimate:
    value = x.value / y.value
    # The relative error of the divisor carries over: its magnitude may exceed its value.
    return Estimate(value, x.magnitude * y.magnitude / np.square(y.value), x.terms + y.terms + 1)


def _product(x: Estimate, y: Estimate) -> Estimate:
    return Estimate(x.value @ y.value, x.magnitude @ y.magnitude, x.terms + y.terms + x.value.shape[-1])


def _call(name: str, args: list[Estimate]) -> Estimate:
    x = args[0]
    match name, len(args):
        case "sum", 1 | 2:
            axis = int(args[1].value) if len(args) == 2 else None
            count = x.value.size if axis is None else x.value.shape[axis]
            return Estimate(x.value.sum(axis=axis), x.magnitude.sum(axis=axis), x.terms + count)
        case "abs", 1:
            return Estimate(np.abs(x.value), x.magnitude, x.terms)
        case "sqrt", 1:
            return Estimate(np.sqrt(x.value), np.sqrt(x.magnitude), x.terms + 1)
        case (("max" | "min"), 1):
            chosen: Array = np.asarray(x.value.max() if name == "max" else x.value.min())
            return Estimate(chosen, np.asarray(x.magnitude.max()), x.terms)
        case (("max" | "min"), 2):
            pick: Callable[[Array, Array], Array] = np.maximum if name == "max" else np.minimum
            magnitude = np.maximum(x.magnitude, args[1].magnitude)
            return Estimate(pick(x.value, args[1].value), magnitude, max(x.terms, args[1].terms))
        case "shift", _ if len(args) == 1 + x.value.ndim:
            steps = [int(step.value) for step in args[1:]]
            return Estimate(_shifted(x.value, steps), _shifted(x.magnitude, steps), x.terms)
    raise BadReference(f"{name}() is called with {len(args)} values")


def _shifted(array: Array, steps: list[int]) -> Array:
    moved = np.zeros_like(array)
    if any(abs(step) >= size for step, size in zip(steps, array.shape, strict=True)):
        return moved
    target = tuple(
        slice(max(step, 0), size + min(step, 0)) for step, size in zip(steps, array.shape, strict=True)
    )
    origin = tuple(
        slice(max(-step, 0), size + min(-step, 0)) for step, size in zip(steps, array.shape, strict=True)
    )
    moved[target] = array[origin]
    return moved


_OPERATORS: dict[type[ast.operator], Callable[[Estimate, Estimate], Estimate]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
    ast.MatMult: _product,
}
