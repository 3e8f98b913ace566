"""Functions defined inside a kernel: numba inlines them, so that they see the kernel's variables."""

from __future__ import annotations

import ast

from grader.simt.constants import constant_typed
from grader.simt.context import Context, Typed
from grader.simt.host import Function
from grader.simt.types import Device


def inner_function(context: Context, node: ast.FunctionDef | ast.Lambda) -> Typed:
    """A ``def`` or ``lambda`` inside a function; what it uses of the function's variables is passed along."""
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
        node = ast.copy_location(_definition("lambda", node.args, body), node)
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.posonlyargs:
        context.unsupported(node, "parameters")
    own = {arg.arg for arg in node.args.args}
    used: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            (own if isinstance(part.ctx, ast.Store) else used).add(part.id)
        if isinstance(part, ast.Nonlocal | ast.Yield):
            context.unsupported(part)
    captured = {name for name in used - own if name in context.locals}
    for name in tuple(captured):  # a function that it calls brings its own variables
        kind = context.kinds.get(name)
        if isinstance(kind, Device):
            captured |= set(context.kernel.devices[kind.ident].captured)
    function = Function(node, context.function.scopes, "closure", True, captured=tuple(sorted(captured)))
    return constant_typed(context, node, function)


def _definition(name: str, parameters: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.parse(f"def {name}_(): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.args, made.body = parameters, body
    return made
