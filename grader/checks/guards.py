"""Guards that repairs put around accesses: tests of indices, and a test around every later store."""

from __future__ import annotations

import ast
import copy

from grader.checks.places import base_name

__all__ = ["StoresGuarded", "is_barrier", "within"]


class StoresGuarded(ast.NodeTransformer):
    """Puts array stores under the test of a name."""

    def __init__(self, live: str, parameters: set[str], loads: bool) -> None:
        self.live = live
        self.parameters = parameters
        self.loads = loads

    def top(self, node: ast.stmt) -> ast.stmt:
        """The guarded form of a statement at the level of the return itself."""
        return self._guard(node) if isinstance(node, ast.Assign | ast.AugAssign) else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Guard the stores of every block below the node."""
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for statement in block:
                    self.visit(statement)
                setattr(node, name, [self.top(one) for one in block])
        return node

    def _guard(self, node: ast.Assign | ast.AugAssign) -> ast.stmt:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        to_global = isinstance(target, ast.Subscript) and base_name(target) in self.parameters
        if not isinstance(target, ast.Subscript) or not (to_global or self.loads):
            return node
        other: list[ast.stmt] = []
        if not to_global and isinstance(node, ast.Assign):
            other = [ast.Assign([copy.deepcopy(target)], ast.Constant(0))]
        return ast.If(ast.Name(self.live, ast.Load()), [node], other)


def is_barrier(node: ast.Expr) -> bool:
    """Whether a statement is a call of ``syncthreads``, however it is imported."""
    match node.value:
        case ast.Call(func=ast.Attribute(attr="syncthreads")) | ast.Call(func=ast.Name(id="syncthreads")):
            return True
    return False


def within(subscript: ast.Subscript) -> ast.expr:
    """The test that each index is at least zero and below its axis's extent."""
    index = subscript.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    tests: list[ast.expr] = []
    for axis, part in enumerate(parts):
        shape = ast.Attribute(copy.deepcopy(subscript.value), "shape", ast.Load())
        extent = ast.Subscript(shape, ast.Constant(axis), ast.Load())
        below = ast.Compare(copy.deepcopy(part), [ast.Lt()], [extent])
        tests += [ast.Compare(copy.deepcopy(part), [ast.GtE()], [ast.Constant(0)]), below]
    return ast.BoolOp(ast.And(), tests)
