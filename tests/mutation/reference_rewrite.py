"""Rewriting a kernel for the reference checker: barriers stop a generator, subscripts call a recorder."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np


class Refused(Exception):
    """The compiler for the device would not take the kernel."""


class Rewrite(ast.NodeTransformer):
    """Barriers to ``yield``, subscripts of arrays to calls of the recorder, tests through ``truth``."""

    def __init__(self, arrays: set[str]) -> None:
        self.arrays = arrays

    def _array(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in self.arrays
        )

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(func=ast.Attribute(attr="syncthreads")):
                return ast.Expr(ast.Yield(ast.Constant(node.lineno)))
            case ast.Call(func=ast.Attribute(attr="syncwarp")):
                return ast.Pass()
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        index = self.visit(node.slice)
        if not self._array(node) or not isinstance(node.ctx, ast.Load):
            node.slice = index
            return node
        return _call("load", node.value, index)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        value = self.visit(node.value)
        if isinstance(target, ast.Subscript) and self._array(target):
            return ast.Expr(_call("store", target.value, self.visit(target.slice), value))
        node.value = value
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        value = self.visit(node.value)
        if isinstance(node.target, ast.Subscript) and self._array(node.target):
            index = self.visit(node.target.slice)
            old = _call("load", node.target.value, index)
            new = ast.BinOp(old, node.op, value)
            return ast.Expr(_call("store", node.target.value, index, new, ast.Constant(True)))
        node.value = value
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.test = _call("truth", node.test)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = _call("truth", node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = _call("truth", node.test)
        return node


def _call(method: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("_me", ast.Load()), method, ast.Load()), list(args), [])


def rewritten(source: str, tile: int) -> dict[str, Any]:
    """The module's names, its functions rewritten. ``cuda`` stands for the launched thread."""
    tree = ast.parse(source.replace("TILE = 16\n", f"TILE = {tile}\n"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.decorator_list]
    for function in functions:
        _refuse_shapes(function)
        arrays = {arg.arg for arg in function.args.args if arg.arg in ("A", "B", "C", "As", "Bs")} | {
            "As",
            "Bs",
        }
        arrays |= {"acc"} if _is_local(function) else set()
        Rewrite(arrays).visit(function)
        function.decorator_list = []
    kept = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.Assign) and not _unrelated(n)]
    module = ast.fix_missing_locations(ast.Module(kept, []))
    names: dict[str, Any] = {"cuda": SimpleNamespace(), "_me": None}
    names |= {"float32": _number, "float64": float, "float16": _half, "int32": _whole}
    exec(compile(module, "mutant", "exec"), names)
    return names


def _unrelated(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in ("main", "milliseconds", "naive_matmul")


def _is_local(function: ast.FunctionDef) -> bool:
    return "cuda.local" in ast.unparse(function)


def _refuse_shapes(function: ast.FunctionDef) -> None:
    """A shared shape may hold names and literals, no arithmetic on them and no attribute."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "cuda.shared.array":
            for part in ast.walk(node.args[0]):
                if isinstance(part, ast.BinOp | ast.Attribute):
                    raise Refused


def _number(value: Any) -> Any:
    """A float; a value that is undefined stays so."""
    return float(value) if isinstance(value, int | float) else value


def _half(value: Any) -> float:
    return float(np.float16(value))


def _whole(value: Any) -> int:
    return int(value)
