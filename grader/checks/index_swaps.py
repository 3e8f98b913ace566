"""Exchanged indices: which accesses a finding may come from, and the repair that exchanges them back."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from grader.checks.launching import Launcher
from grader.checks.places import base_name, function_node, parameters, thread_names
from grader.checks.repairs import Repair
from grader.checks.rewrite import Edit
from grader.checks.wrong_result import own_name
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


def index_swaps(launcher: Launcher, findings: Sequence[Finding]) -> Iterator[tuple[Repair, Finding]]:
    """The accesses that may have their two indices exchanged, each with what this would confirm."""
    program = launcher.program
    function = function_node(program, launcher.kernel.name)
    if function is None:
        return
    outputs = {own_name(launcher, name) for name in launcher.kernel.outputs}
    inputs = set(parameters(function)) - outputs
    nodes = [one for one in ast.walk(function) if isinstance(one, ast.Subscript) and _has_a_pair(one)]
    usual = thread_names([function])
    nodes.sort(
        key=lambda one: (
            base_name(one) not in outputs,
            base_name(one) not in inputs,
            # A slot named by y and then x is as it should be: the other access has them exchanged.
            _indices_of(one) == usual,
            one.lineno,
        )
    )
    for node in nodes:
        span, array = program.span(node), base_name(node) or ""
        rule = "result" if array in outputs else "operand" if array in inputs else "tile"
        if not any(_may_come_of(finding, span, array, rule) for finding in findings):
            continue

        def swap(edit: Edit, span: Span = span) -> bool:
            found = edit.at(span, ast.Subscript)
            return isinstance(found, ast.Subscript) and edit.swap_indices(found)

        slot = Slot(array, "shared" if rule == "tile" else "global", ())
        found = Finding("transposed-result", "error", span, slot=slot, facts={"rule": rule, "array": array})
        yield Repair("swap-indices", span.line, swap), found


def _may_come_of(finding: Finding, span: Span, array: str, rule: str) -> bool:
    if finding.name in _OF_THE_ACCESS:
        return span.line in {one.line for one in (finding.primary, finding.secondary) if one is not None}
    if finding.name in _OF_THE_ARRAY:
        return finding.slot is None or finding.slot.array == array
    if finding.name in _OF_THE_OUTPUT:
        return rule == "result"
    return finding.name in _OF_ANY and not ({"missing", "repeated"} & finding.facts.keys())


def _indices_of(node: ast.Subscript) -> tuple[str, ...]:
    return tuple(ast.unparse(one) for one in node.slice.elts) if isinstance(node.slice, ast.Tuple) else ()


def _has_a_pair(node: ast.Subscript) -> bool:
    """A row and a column, perhaps behind the number of a buffer."""
    return (
        isinstance(node.slice, ast.Tuple)
        and len(node.slice.elts) in (2, 3)
        and isinstance(node.value, ast.Name)
    )
