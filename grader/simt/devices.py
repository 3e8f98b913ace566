"""Calls of device functions: compiled anew for each set of argument types, in the caller's launch."""

from __future__ import annotations

import ast
from typing import Any

from grader.simt import arithmetic, expressions, signature, types
from grader.simt.context import Context, Frame, Typed
from grader.simt.host import Function
from grader.simt.types import NONE, Array, Clash, Kind, Scalar, Tuple
from grader.simt.values import cast, select
from grader.simt.variables import assign


def call(context: Context, node: ast.Call, function: Function) -> Typed:
    """Compile a call of a jitted function of the submission, or of one defined inside the kernel.

    numba compiles any ``@cuda.jit`` function that a kernel calls as a device function.
    """
    name = function.node.name
    if not function.jit:
        context.fail(node, "plain-function", name=name)
    if name in context.kernel.device_stack:
        context.unsupported(node, "recursion")
    arguments = [expressions.expression(context, item) for item in _given(context, node, function)]
    return _compile(context, node, function, arguments)


def _given(context: Context, node: ast.Call, function: Function) -> list[ast.expr]:
    """The expression for each parameter: as passed, by keyword, by default, or captured."""
    spec, name = function.node.args, function.node.name
    names = [arg.arg for arg in spec.args]
    if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs:
        context.unsupported(function.node, "parameters")
    given: dict[str, ast.expr] = dict(zip(names, node.args, strict=False))
    for word in node.keywords:
        if word.arg is None or word.arg in given or word.arg not in names:
            context.fail(node, "argument-count", name=name, got=len(node.args), wanted=len(names))
        given[word.arg] = word.value
    for parameter, default in zip(reversed(names), reversed(spec.defaults), strict=False):
        given.setdefault(parameter, default)
    if len(node.args) > len(names) or len(given) != len(names):
        context.fail(node, "argument-count", name=name, got=len(given), wanted=len(names))
    captured = [ast.copy_location(ast.Name(used, ast.Load()), node) for used in function.captured]
    return [given[parameter] for parameter in names] + captured


def _compile(context: Context, node: ast.Call, function: Function, arguments: list[Typed]) -> Typed:
    from grader.simt import kernel

    names = [*(arg.arg for arg in function.node.args.args), *function.captured]
    arguments, wanted = _declared(context, node, function, arguments)
    kinds: dict[str, Kind] = {name: a.kind for name, a in zip(names, arguments, strict=True)}
    inner = kernel.context_for(context.kernel, function, kinds)
    inner.locals |= frozenset(function.captured)
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
    result = wanted or _result_kind(context, node, inner)
    return Typed(result, _execution(body, slots, [argument.run for argument in arguments], inner, result))


def _execution(body: Any, slots: list[int], runs: list[Any], inner: Context, result: Kind) -> Any:
    def execute(fr: Any, m: Any) -> Any:
        frame = Frame(fr.mc, len(inner.slots))
        for slot, run in zip(slots, runs, strict=True):
            assign(frame, slot, run(fr, m), None)
        body(frame, m)
        return _merged(frame, result)

    return execute


def _declared(
    context: Context, node: ast.Call, function: Function, arguments: list[Typed]
) -> tuple[list[Typed], Kind | None]:
    """The arguments as the function's signature has them, and the type that it returns."""
    wanted = signature.parameters(function)
    if wanted is None:
        return arguments, None
    if len(wanted) != len(arguments):
        name = function.node.name
        context.fail(node, "argument-count", name=name, got=len(arguments), wanted=len(wanted))
    for have, want in zip(arguments, wanted, strict=True):
        if not isinstance(want, Array):
            continue
        alike = isinstance(have.kind, Array) and (have.kind.code, have.kind.ndim) == (want.code, want.ndim)
        if not alike:
            name = ast.unparse(node.func)
            context.fail(node, "argument-type", name=name, got=have.kind.name, wanted=want.name)
    converted = [
        Typed(want, arithmetic.convert(have, want.code))
        if isinstance(want, Scalar) and isinstance(have.kind, Scalar)
        else have
        for have, want in zip(arguments, wanted, strict=True)
    ]
    given = signature.returned(function)
    return converted, given if isinstance(given, Scalar) else None


def _result_kind(context: Context, node: ast.Call, inner: Context) -> Kind:
    kind: Kind = inner.returns[0] if inner.returns else NONE
    if NONE in inner.returns and any(other != NONE for other in inner.returns):
        context.unsupported(node, "optional-result")
    for other in inner.returns[1:]:
        kind = types.unify(kind, other)
    if isinstance(kind, Clash):
        context.fail(node, "no-common-type", got=(kind.left.name, kind.right.name))
    return kind


def _merged(frame: Frame, kind: Kind) -> Any:
    """The value that each thread returned."""
    found: Any = None
    for position, (mask, value) in enumerate(frame.returned):
        given = cast(value, kind.code) if isinstance(kind, Scalar) and value is not None else value
        if position == 0 or mask is None:
            found = given
        elif isinstance(given, tuple):
            found = tuple([select(mask.array, a, b) for a, b in zip(given, found, strict=True)])
        else:
            found = select(mask.array, given, found)
    if found is None and isinstance(kind, Scalar):
        return cast(0, kind.code)  # no thread came to a return
    if found is None and isinstance(kind, Tuple):
        return tuple([cast(0, item.code) if isinstance(item, Scalar) else None for item in kind.items])
    return found


__all__ = ["call"]
