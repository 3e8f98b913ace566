"""Single edits that may mend a wrong result whose cause no other finding gives, the likeliest first.

A suspect is one expression or statement and what could stand there instead: another index, another
bound, the other operator. What is tried comes from the kernel itself, from the pairs that a matrix
product has in it (x and y, rows and columns), and from what its arrays are; nothing is a random change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from grader.checks.definitions import bindings
from grader.checks.guard_suspects import guard_suspects, joint_guards
from grader.checks.index_suspects import index_suspects, mirrored_suspects, uneven_suspects
from grader.checks.launching import Launcher
from grader.checks.loop_suspects import range_suspects, stride_suspects, test_suspects
from grader.checks.name_suspects import (
    alias_suspects,
    blank_suspects,
    buffer_suspects,
    counter_suspects,
    extent_suspects,
    flow_suspects,
    lane_suspects,
)
from grader.checks.places import base_name, device_functions, function_node, shared_arrays
from grader.checks.rewrite import Edit
from grader.checks.spots import Spot, spot
from grader.checks.sum_suspects import exchanged_factors, sum_suspects
from grader.checks.symmetry_suspects import symmetry_suspects
from grader.records import Span

__all__ = ["Suspect", "suspects"]


@dataclass(frozen=True, slots=True)
class Suspect:
    """An edit at a place. ``code`` is the text that would stand there; empty where a statement moves."""

    kind: str
    span: Span
    code: str
    apply: Callable[[Edit], bool]


def suspects(launcher: Launcher, name: str, *, misplaced: bool = False) -> Iterator[Suspect]:
    """The suspects of a finding's name, each of them once.

    ``misplaced`` says that every product is added once, but from a wrong row or column: only indices do that.
    """
    program = launcher.program
    kernel = function_node(program, launcher.kernel.name)
    if kernel is None:
        return
    functions = [kernel, *device_functions(program, kernel)]
    kinds = _KINDS.get(name, _KINDS["wrong-result"])
    if misplaced:
        kinds = (
            alias_suspects,
            uneven_suspects,
            symmetry_suspects,
            exchanged_factors,
            lane_suspects,
            _outputs,
            index_suspects,
            guard_suspects,
        )
    seen: set[tuple[int, int, str, int]] = set()
    for kind in kinds:
        for one in kind(launcher, functions):
            mark = (one.old.lineno, one.old.col_offset, one.code, one.places)
            if mark not in seen and one.sound:
                seen.add(mark)
                yield Suspect(one.kind, program.span(one.old), one.code, one.apply)


def _conversions(_: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """An array of another type than float32, and a value made whole on its way."""
    for function in functions:
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(attr="array"), args=args, keywords=keywords):
                    types = [*args[1:], *(one.value for one in keywords if one.arg == "dtype")]
                    yield from (spot("type", one, "float32") for one in types if _narrow(one))
                case ast.Call(func=ast.Name(id="int" | "round"), args=[value]):
                    yield spot("conversion", node, ast.unparse(value))
                case ast.Call(func=made, args=[value]) if _narrow(made):
                    yield spot("conversion", node, ast.unparse(value))


def _narrow(node: ast.expr) -> bool:
    name = ast.unparse(node).rpartition(".")[2]
    return name.startswith(("int", "uint", "float16", "bool"))


def _starts(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """What a sum or a counter starts from, and where."""
    del launcher
    for function in functions:
        added = _added(function)
        for one in bindings(function):
            name, value = base_name(one.target) or one.name, one.value
            if name not in added or name in {arg.arg for arg in function.args.args}:
                continue
            zero = _is_zero(value)
            if not zero and not any(isinstance(part, ast.Subscript | ast.BinOp) for part in ast.walk(value)):
                yield spot("start", value, "0" if isinstance(value, ast.Constant) else "0.0")
            if zero and one.alone and isinstance(one.statement, ast.Assign | ast.AnnAssign):
                yield spot("once", one.statement, "", lambda edit, span: edit.move_before_loops(span))


def _added(function: ast.FunctionDef) -> set[str]:
    """What something is added to: ``acc += x``, and ``acc = acc + x`` too."""
    added = {
        base_name(node.target) or ast.unparse(node.target)
        for node in ast.walk(function)
        if isinstance(node, ast.AugAssign)
    }
    for one in bindings(function):
        name = base_name(one.target) or one.name
        if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(one.value)):
            added.add(name)
    return added


def _fills(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """What a slot of a tile gets where there is no element for it: zero."""
    del launcher
    shared = shared_arrays(functions)
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case ast.Assign(targets=[ast.Subscript() as slot], value=value) if base_name(slot) in shared:
                plain = not any(isinstance(one, ast.Subscript | ast.Name) for one in _arguments(value))
                if plain and not _is_zero(value):
                    yield spot("start", value, "0.0")


def _arguments(value: ast.expr) -> list[ast.AST]:
    """The nodes of a value, but for the name of a type that it is made with."""
    inner = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 else value
    return list(ast.walk(inner))


def _is_zero(node: ast.expr) -> bool:
    inner = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else node
    return isinstance(inner, ast.Constant) and inner.value == 0


def _outputs(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """A stored value that is made of one sum, stored as it is."""
    del launcher
    kernel = functions[0]
    parameters = {arg.arg for arg in kernel.args.args}
    for node in ast.walk(kernel):
        match node:
            case ast.Assign(targets=[ast.Subscript() as target], value=value) if (
                base_name(target) in parameters
            ):
                called = [one.func for one in ast.walk(value) if isinstance(one, ast.Call)]
                values = {
                    ast.unparse(one)
                    for one in ast.walk(value)
                    if isinstance(one, ast.Name | ast.Subscript) and one not in called
                }
                sums = {one for one in values if "[" in one} or values
                if len(sums) == 1 and not isinstance(value, ast.Name | ast.Subscript):
                    yield spot("output", value, sums.pop())
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Attribute(attr="atomic")), args=[array, index, value]
                )
            ) if base_name(array) in parameters:
                stored = f"{ast.unparse(array)}[{ast.unparse(index).strip('()')}] = {ast.unparse(value)}"
                yield spot("output", node, stored)


def _every_type(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """All arrays of another type than float32 at once: one of two tiles mended leaves the other."""
    odd = [one for one in _conversions(launcher, functions) if one.kind == "type"]
    if len(odd) > 1:
        yield Spot("type", odd[0].old, "float32", lambda edit: all(one.apply(edit) for one in odd), len(odd))


_Kind = Callable[[Launcher, list[ast.FunctionDef]], Iterator[Spot]]

#: Which edits may mend what, the likeliest first.
_KINDS: Mapping[str, tuple[_Kind, ...]] = {
    "odd-type": (_conversions, _every_type),
    "precision-loss": (_conversions, _every_type, sum_suspects),
    "swapped-operands": (exchanged_factors, symmetry_suspects, mirrored_suspects),
    "transposed-result": (symmetry_suspects, exchanged_factors, index_suspects),
    "symptom": (
        symmetry_suspects,
        joint_guards,
        guard_suspects,
        buffer_suspects,
        range_suspects,
        alias_suspects,
    ),
    "unwritten-output": (
        stride_suspects,
        symmetry_suspects,
        extent_suspects,
        mirrored_suspects,
        guard_suspects,
        index_suspects,
    ),
    "dropped-k-tail": (
        counter_suspects,
        joint_guards,
        test_suspects,
        range_suspects,
        guard_suspects,
        _starts,
        extent_suspects,
        symmetry_suspects,
        flow_suspects,
        index_suspects,
        sum_suspects,
    ),
    "repeated-k-tail": (
        sum_suspects,
        symmetry_suspects,
        blank_suspects,
        _fills,
        _outputs,
        range_suspects,
        _starts,
        flow_suspects,
        index_suspects,
    ),
    "wrong-result": (
        alias_suspects,
        uneven_suspects,
        symmetry_suspects,
        exchanged_factors,
        sum_suspects,
        blank_suspects,
        lane_suspects,
        _starts,
        flow_suspects,
        _fills,
        _outputs,
        counter_suspects,
        joint_guards,
        guard_suspects,
        test_suspects,
        range_suspects,
        index_suspects,
        extent_suspects,
        _conversions,
    ),
}
