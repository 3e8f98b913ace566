"""Blocks that hand values over: store, fence, atomic; in the other block the atomic, then the load.

The last block to count itself done may read what the others stored before their fence. The order
comes from the atomic's own value, which no schedule-free rule sees, so a conflict between blocks in
that shape is kept as a note.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from grader.records import Finding
from grader.simt.context import Context, Kernel, Typed
from grader.simt.types import NONE


def fence(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``cuda.threadfence()``: no effect on values here; its place is kept."""
    if arguments:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(arguments), wanted=0)
    context.kernel.fences.append(context.program.span(node).line)
    return Typed(NONE, lambda fr, m: None)


def handed_over(finding: Finding, kernel: Kernel) -> Finding:
    """The finding, as a note where a fence and an atomic stand between its store and its load."""
    later, earlier = finding.primary, finding.secondary
    if finding.name != "global-read-write-race" or finding.facts.get("scope") != "grid":
        return finding
    if later is None or earlier is None:
        return finding
    fenced = [line for line in kernel.fences if earlier.line < line]
    counted = [line for line in kernel.counters if fenced and min(fenced) <= line <= later.line]
    return replace(finding, severity="note") if counted else finding
