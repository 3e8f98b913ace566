"""Whether a kernel may do with fractions what it does not do with whole numbers.

A kernel whose loaded values only go through sums, differences and products of float32 or float64
computes the same polynomial of its inputs whatever they are. Where that came out right on whole
numbers, floats can only show rounding, and that does not hang on the shape, as long as nothing but
loaded values, 0 and 1 enters the sums: a large or tiny constant makes rounding do what it likes, and
may come in for some shapes only. Anything else that the values pass through (a cast to integers, half
precision, a comparison, a function) may tell them apart.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from grader.checks.places import function_node
from grader.rubric.model import KernelSpec
from grader.simt import Program

__all__ = ["conditions_on_values", "hangs_on_fractions"]

WIDE = ("float32", "float64")
#: Calls that take no values of arrays, or leave them as they are.
HARMLESS = frozenset(
    {"range", "min", "max", "int", "len", "abs", "grid", "gridsize", "syncthreads", "array", *WIDE}
)
STATEMENTS = (
    *(ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Expr),
    *(ast.Return, ast.Break, ast.Continue, ast.Pass),
)
JUDGED = (ast.Assign, ast.AugAssign, ast.Subscript, ast.If, ast.While, ast.IfExp, ast.For, ast.Expr)


def hangs_on_fractions(program: Program, kernel: KernelSpec) -> bool:
    """False where the text shows that values only pass through sums and products of wide floats."""
    node = function_node(program, kernel.name)
    arrays = [arg.dtype for arg in kernel.args.values() if arg.role == "array"]
    if node is None or any(dtype not in WIDE for dtype in arrays):
        return True
    body = [part for statement in node.body for part in ast.walk(statement)]
    if any(isinstance(part, ast.stmt) and not isinstance(part, STATEMENTS) for part in body):
        return True
    if any(isinstance(part, ast.Lambda | ast.NamedExpr | ast.comprehension) for part in body):
        return True
    calls = [part for part in body if isinstance(part, ast.Call)]
    if any(_called(call) not in HARMLESS or not _wide(call) for call in calls):
        return True
    judged = [part for part in body if isinstance(part, JUDGED)]
    names = _loaded(judged)
    return not all(_plain(part, names) for part in judged)


def conditions_on_values(function: ast.FunctionDef) -> list[ast.expr]:
    """The conditions that hang on what was loaded from an array, in the order of the text."""
    names = _loaded([part for part in ast.walk(function) if isinstance(part, JUDGED)])
    tests = [part.test for part in ast.walk(function) if isinstance(part, ast.If | ast.While | ast.IfExp)]
    found = [part for test in tests for part in _clauses(test) if _holds_values(part, names)]
    return sorted(found, key=lambda one: (one.lineno, one.col_offset))


def _clauses(test: ast.expr) -> list[ast.expr]:
    return [one for part in test.values for one in _clauses(part)] if isinstance(test, ast.BoolOp) else [test]


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _wide(node: ast.Call) -> bool:
    """Whether the array that a call makes, if it makes one, holds wide floats."""
    if _called(node) != "array":
        return True
    words = [word.value for word in node.keywords if word.arg == "dtype"]
    dtype = words[0] if words else node.args[1] if len(node.args) > 1 else None
    name = dtype.id if isinstance(dtype, ast.Name) else getattr(dtype, "attr", "")
    return name in WIDE


def _loaded(body: Sequence[ast.AST]) -> set[str]:
    """Names of variables that hold what was loaded from an array, or was computed from it."""
    names: set[str] = set()
    grown = True
    while grown:
        grown = False
        for node in body:
            if isinstance(node, ast.Assign | ast.AugAssign) and _holds_values(node.value, names):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                new = {part.id for target in targets for part in _stored(target)} - names
                names, grown = names | new, grown or bool(new)
    return names


def _stored(target: ast.expr) -> list[ast.Name]:
    return [
        part for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]


def _holds_values(node: ast.AST, names: set[str]) -> bool:
    return any(
        (isinstance(part, ast.Name) and part.id in names)
        or (isinstance(part, ast.Subscript) and not _is_size(part))
        for part in ast.walk(node)
    )


def _is_size(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _plain(node: ast.AST, names: set[str]) -> bool:
    """Whether what a node does with loaded values, if anything, is a sum, a product or a move."""
    match node:
        case ast.Assign(targets=targets, value=value):
            values = any(_holds_values(part, names) for part in (*targets, value))
            return not values or _polynomial(value, names)
        case ast.AugAssign(op=op, value=value):
            values = _holds_values(value, names) or _holds_values(node.target, names)
            return not values or (isinstance(op, ast.Add | ast.Sub | ast.Mult) and _polynomial(value, names))
        case ast.Subscript(slice=index):
            return not _holds_values(index, names)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return not _holds_values(test, names)
        case ast.For(iter=iterated):
            return not _holds_values(iterated, names)
        case ast.Expr(value=value):
            return not _holds_values(value, names)
    return True


def _polynomial(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is made of loaded values, 0 and 1 by sums and products."""
    match node:
        case ast.Constant(value=value):
            return value in (0, 1)
        case ast.Name(id=name) if name not in names:
            return False
        case ast.Name() | ast.Subscript():
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _polynomial(left, names) and _polynomial(right, names)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _polynomial(operand, names)
        case ast.IfExp(body=body, orelse=orelse):
            return _polynomial(body, names) and _polynomial(orelse, names)
        case ast.Call(args=[operand], keywords=[]) if _called(node) in WIDE:
            return _polynomial(operand, names)
        case ast.Tuple(elts=parts):
            return all(_polynomial(part, names) for part in parts)
    return False
