"""Arguments of calls: how many there are, and what types they have to have."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt.context import Context, Run, Typed
from grader.simt.types import Kind, Scalar, Tuple
from grader.simt.values import Tainted, cast, join, strip

Handler = Callable[[Context, ast.Call, list[Typed]], Typed]


def scalars(context: Context, node: ast.Call, arguments: list[Typed], count: int = 1) -> list[Scalar]:
    """The types of ``count`` arguments that have to be numbers."""
    if len(arguments) != count:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(arguments), wanted=count)
    kinds = []
    for argument in arguments:
        if not isinstance(argument.kind, Scalar):
            context.fail(node, "argument-type", name=ast.unparse(node.func), got=argument.kind.name)
        kinds.append(argument.kind)
    return kinds


def refuse_types(context: Context, node: ast.Call, kinds: list[Scalar], wanted: str) -> None:
    """Stop: no version of the called function takes these types."""
    got = tuple(kind.name for kind in kinds)
    context.fail(node, "argument-type", name=ast.unparse(node.func), got=got, wanted=wanted)


def parts_of(value: Typed) -> list[Typed]:
    """The items of a tuple, each as an expression of its own."""
    assert isinstance(value.kind, Tuple)
    run = value.run

    def item(at: int) -> Run:
        return lambda fr, m: run(fr, m)[at]

    return [Typed(kind, item(position)) for position, kind in enumerate(value.kind.items)]


def mapped(function: Callable[..., Any], found: list[Any], code: str) -> Any:
    """``function`` of the values, as type ``code``, with the taint of what it was computed from."""
    value = function(*(strip(item) for item in found))
    if not isinstance(value, np.ndarray):
        value = np.asarray(value)[()]
    return join(cast(value, code), *found)


def with_taint(function: Callable[[Any], Any], value: Any) -> Any:
    """``function`` of one value, with its taint."""
    result = function(strip(value))
    return Tainted(result, value.taint) if type(value) is Tainted else result


def pair(first: str, second: str) -> Kind:
    """The type of a tuple of two numbers."""
    return Tuple((Scalar(first), Scalar(second)))
