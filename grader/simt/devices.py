"""Calls of device functions: compiled anew for each set of argument types, in the caller's launch."""

from __future__ import annotations

import ast
from typing import Any

from grader.simt import arithmetic, expressions, types
from grader.simt.context import Context, Frame, Typed
from grader.simt.host import Function
from grader.simt.types import NONE, Array, Clash, Kind, Scalar, Tuple, plain
from grader.simt.values import select
from grader.simt.variables import assign


def call(context: Context, node: ast.Call, function: Function) -> Typed:
    """Compile a call of a jitted function of the submission."""
    name = function.node.name
    if not function.jit:
        context.fail(node, "plain-function", name=name)
    if name in context.kernel.device_stack:
        context.fail(node, "recursion", name=name)
    if not function.device and function.jit == "numba.cuda.jit" and context.kernel.device_stack == ():
        pass  # numba compiles a @cuda.jit function called from a kernel as a device function
    arguments = [expressions.expression(context, item) for item in _positional(context, node, function)]
    return _compile(context, node, function, arguments)


def _positional(context: Context, node: ast.Call, function: Function) -> list[ast.expr]:
    names = [arg.arg for arg in function.node.args.args]
    given: dict[str, ast.expr] = dict(zip(names, node.args, strict=False))
    for word in node.keywords:
        if word.arg in given or word.arg not in names:
            context.fail(node, "argument-count", name=function.node.name, got=len(node.args), wanted=len(names))
        given[word.arg] = word.value
    if len(node.args) > len(names) or len(given) != len(names):
        context.fail(node, "argument-count", name=function.node.name, got=len(given), wanted=len(names))
    return [given[name] for name in names]


def _compile(context: Context, node: ast.Call, function: Function, arguments: list[Typed]) -> Typed:
    from grader.simt import kernel

    names = [arg.arg for arg in function.node.args.args]
    kinds: dict[str, Kind] = {name: plain(a.kind) for name, a in zip(names, arguments, strict=True)}
    inner = kernel.context_for(context.kernel, function, kinds)
    inner.is_device = True
    inner.guard = context.guard
    for name, part in zip(names, node.args, strict=False):
        if isinstance(part, ast.Name):
            inner.aliases[name] = context.alias(part.id)
    stack = context.kernel.device_stack
    context.kernel.device_stack = (*stack, function.node.name)
    body = kernel.body_of(inner)
    context.kernel.device_stack = stack
    slots = [inner.slot(name, kinds[name]) for name in names]
    runs = [argument.run for argument in arguments]
    result = _result_kind(context, node, inner)
    size = len(inner.slots)

    def execute(fr: Any, m: Any) -> Any:
        frame = Frame(fr.mc, size)
        for slot, run in zip(slots, runs, strict=True):
            assign(frame, slot, run(fr, m), None)
        body(frame, m)
        return _merged(frame, result)

    return Typed(result, execute)


def _result_kind(context: Context, node: ast.Call, inner: Context) -> Kind:
    kind: Kind = inner.returns[0] if inner.returns else NONE
    for other in inner.returns[1:]:
        kind = types.unify(kind, other)
    if isinstance(kind, Clash):
        context.fail(node, "no-common-type", got=(kind.left.name, kind.right.name))
    return kind


def _merged(frame: Frame, kind: Kind) -> Any:
    """The value that each thread returned."""
    found: Any = None
    for position, (mask, value) in enumerate(frame.returned):
        if isinstance(kind, Scalar):
            value = arithmetic.cast(value, kind.code)
        if position == 0 or mask is None:
            found = value
        elif isinstance(value, tuple):
            found = tuple([select(mask.array, a, b) for a, b in zip(value, found, strict=True)])
        else:
            found = select(mask.array, value, found)
    return found


__all__ = ["Array", "Tuple", "call"]
