"""Exchanged indices: which accesses a finding may come from, and the repair that exchanges them back."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from grader.checks.definitions import thread_names
from grader.checks.launching import Launcher
from grader.checks.names import own_name
from grader.checks.places import base_name, device_functions, function_node, parameters
from grader.checks.repairs import Repair
from grader.checks.rewrite import Edit
from grader.records import Finding, Slot, Span

__all__ = ["index_swaps"]

#: Findings about the very access whose indices are at fault.
_OF_THE_ACCESS = frozenset(
    {"out-of-bounds-read", "out-of-bounds-write", "shared-write-conflict", "global-write-conflict"}
)
#: Findings that another access of the same array may bring about.
_OF_THE_ARRAY = frozenset({"uninitialised-shared-read", "stale-shared-read"})
#: Findings that a store to the output brings about.
_OF_THE_OUTPUT = frozenset({"unwritten-output", "grid-too-small"})
#: Findings that any access may bring about, unless the products of a wrong sum were counted: then each came
#: from the right row and column.
_OF_ANY = frozenset(
    {"transposed-result", "swapped-operands", "wrong-result", "dropped-k-tail", "repeated-k-tail"}
)

#: What an array is to the kernel, the likeliest to have its indices exchanged first.
_ORDER = ("result", "operand", "tile")


def index_swaps(launcher: Launcher, findings: Sequence[Finding]) -> Iterator[tuple[Repair, Finding]]:
    """The accesses that may have their two indices exchanged, each with what this would confirm."""
    program = launcher.program
    function = function_node(program, launcher.kernel.name)
    if function is None:
        return
    outputs = {own_name(launcher, name) for name in launcher.kernel.outputs}
    roles = dict.fromkeys(parameters(function), "operand") | dict.fromkeys(outputs, "result")
    usual = thread_names([function])
    accesses = [
        (node, role)
        for one, names in _with_roles([function, *device_functions(program, function)], roles)
        for node in ast.walk(one)
        if isinstance(node, ast.Subscript | ast.Call) and (array := _array_of(node)) is not None
        for role in [names.get(array, "tile")]
    ]
    # A slot named by y and then x is as it should be: the other access has them exchanged.
    accesses.sort(key=lambda one: (_ORDER.index(one[1]), _indices_of(one[0]) == usual, one[0].lineno))
    for node, rule in accesses:
        span, array = program.span(node), _array_of(node) or ""
        if not any(_may_come_of(finding, span, array, rule) for finding in findings):
            continue

        def swap(edit: Edit, span: Span = span) -> bool:
            found = edit.at(span, ast.Subscript, ast.Call)
            return isinstance(found, ast.Subscript | ast.Call) and edit.swap_indices(found)

        slot = Slot(array, "shared" if rule == "tile" else "global", ())
        found = Finding("transposed-result", "error", span, slot=slot, facts={"rule": rule, "array": array})
        yield Repair("swap-indices", span.line, swap), found


def _with_roles(
    functions: Sequence[ast.FunctionDef], roles: Mapping[str, str]
) -> Iterator[tuple[ast.FunctionDef, Mapping[str, str]]]:
    """Each function with the roles of its names, those of a device function as its first call has them."""
    known: dict[str, Mapping[str, str]] = {functions[0].name: roles}
    for caller in functions:
        own = known.setdefault(caller.name, {})
        for call in (one for one in ast.walk(caller) if isinstance(one, ast.Call)):
            called = next((one for one in functions[1:] if one.name == base_name(call.func)), None)
            if called is not None:
                passed = zip(parameters(called), map(base_name, call.args), strict=False)
                known.setdefault(called.name, {name: own[arg] for name, arg in passed if arg and arg in own})
    return ((one, known[one.name]) for one in functions)


def _may_come_of(finding: Finding, span: Span, array: str, rule: str) -> bool:
    if finding.name in _OF_THE_ACCESS:
        return span.line in {one.line for one in (finding.primary, finding.secondary) if one is not None}
    if finding.name in _OF_THE_ARRAY:
        return finding.slot is None or finding.slot.array == array
    if finding.name in _OF_THE_OUTPUT:
        return rule == "result"
    return finding.name in _OF_ANY and not ({"missing", "repeated"} & finding.facts.keys())


def _indices_of(node: ast.Subscript | ast.Call) -> tuple[str, ...]:
    index = node.slice if isinstance(node, ast.Subscript) else node.args[1]
    return tuple(ast.unparse(one) for one in index.elts) if isinstance(index, ast.Tuple) else ()


def _array_of(node: ast.AST) -> str | None:
    """The array of an access by row and column, perhaps behind a buffer's number; an atomic operation too."""
    match node:
        case (
            ast.Subscript(value=ast.Name(id=array), slice=ast.Tuple(elts=elts))
            | ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="atomic")),
                args=[ast.Name(id=array), ast.Tuple(elts=elts), *_],
            )
        ):
            return array if len(elts) in (2, 3) else None
    return None
