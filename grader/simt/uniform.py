"""Expressions of which a function's text alone tells that all threads get the same value."""

from __future__ import annotations

import ast

from grader.simt.context import Context

CALLS = ("range", "min", "max", "int", "len", "abs")
ATTRIBUTES = ("shape", "size", "ndim")


def is_uniform_everywhere(context: Context, node: ast.expr) -> bool:
    """Whether an expression is made of parameters, constants and variables set once from such."""
    return _Uniform(context).value(node)


class _Uniform:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.body = context.function.node.body
        self.open: set[str] = set()

    def value(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return self._name(node)
            case ast.BinOp():
                return self.value(node.left) and self.value(node.right)
            case ast.UnaryOp():
                return self.value(node.operand)
            case ast.Attribute(value=ast.Name() as array, attr=attr):
                return attr in ATTRIBUTES and array.id in self.context.parameters and self._name(array)
            case ast.Subscript(value=ast.Attribute() as shape, slice=index):
                return self.value(shape) and self.value(index)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                known = name in CALLS and name not in self.context.locals
                return known and all(self.value(item) for item in args)
        return False

    def _name(self, node: ast.Name) -> bool:
        name = node.id
        if name not in self.context.locals:
            return isinstance(self.context.host_value(node), bool | int | float)
        stores = sum(
            isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
            for statement in self.body
            for part in ast.walk(statement)
        )
        if name in self.context.parameters:
            return not stores
        if stores != 1 or name in self.open:
            return False
        self.open.add(name)
        found = next((one for one in self.body if isinstance(one, ast.Assign) and _sets(one, name)), None)
        alike = found is not None and self.value(found.value)
        self.open.discard(name)
        return alike


def _sets(node: ast.Assign, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name for item in node.targets for part in ast.walk(item)
    )
