"""A call's arguments put to the parameters of a function of the submission."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from grader.simt.host_values import Function, HostError

Default = Callable[[ast.expr], Any]


def bound(
    node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any], default: Default
) -> dict[str, Any]:
    """The function's parameters by name; :class:`HostError` is the TypeError that Python would raise.

    ``default`` evaluates a parameter's default in the function's own scopes.
    """
    spec, name = function.node.args, function.node.name
    names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    only = [arg.arg for arg in spec.kwonlyargs]
    if len(arguments) > len(names) and not spec.vararg:
        counts = f"takes {len(names)} positional arguments but {len(arguments)} were given"
        raise HostError(node, "argument-count", f"TypeError: {name}() {counts}")
    local = dict(zip(names, arguments, strict=False))
    if spec.vararg:
        local[spec.vararg.arg] = tuple(arguments[len(names) :])
    extra: dict[str, Any] = {}
    by_name = {arg.arg for arg in spec.args} | set(only)
    for word, value in keywords.items():
        if word in local or (word not in by_name and not spec.kwarg):
            what = "multiple values for" if word in local else "an unexpected keyword"
            raise HostError(node, "argument-count", f"TypeError: {name}() got {what} argument '{word}'")
        (local if word in by_name else extra)[word] = value
    if spec.kwarg:
        local[spec.kwarg.arg] = extra
    defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
    defaults |= {word: one for word, one in zip(only, spec.kw_defaults, strict=True) if one is not None}
    for word in (*names, *only):
        if word not in local:
            if word not in defaults:
                text = f"TypeError: {name}() missing 1 required argument: '{word}'"
                raise HostError(node, "argument-count", text)
            local[word] = default(defaults[word])
    return local
