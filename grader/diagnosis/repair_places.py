"""What is made at the place of a trial repair, said so that it does not give the repair away."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from grader.diagnosis import source
from grader.diagnosis.evidence import Evidence

#: By the kind of the edit that was tried there. What to write instead is told at the last hint level only.
_MADE: Mapping[str, str] = {
    "type": "the type is chosen here",
    "conversion": "the value is converted here",
    "sum": "the sum is formed here",
    "again": "products are added here",
    "start": "this is the value to start from",
    "once": "the sum is set to its first value here",
    "output": "the value to store is formed here",
    "guard": "this decides which elements are reached",
    "range": "the rounds of the loop are counted here",
    "step": "the loop goes on from here",
    "grid-order": "`cuda.grid(2)` gives the number along x first",
    "mirrored": "the index is made here",
    "axes": "the index is made here",
    "offset": "the index is made here",
    "index": "the index is made here",
    "alias": "both tiles are this one array",
    "shape": "the shape is given here",
    "test": "this decides when the loop ends",
    "rebinding": "the name gets another value here",
    "each-round": "this is done once, before the loop",
    "flip": "the number of the buffer is chosen here",
    "buffers": "the number of buffers is given here",
    "lane": "the lane is chosen here",
    "blank": "the value of the slot is chosen here",
    "value-test": "this hangs on a value that was loaded",
}


def traced(evidence: Evidence) -> bool:
    """Whether the finding's place is that of a trial repair, and its secondary span the store."""
    return bool(evidence.text("suspect"))


def made_here(evidence: Evidence) -> str:
    """The remark under the place of a trial repair."""
    return _MADE.get(evidence.text("suspect"), "the values go wrong here")


def stored_here(evidence: Evidence, secondary: bool = False) -> str:
    """The remark under the place where wrong values leave the kernel: a store, or the loop that sums them."""
    span = evidence.finding.secondary if secondary else evidence.finding.primary
    if span is None or not evidence.lines or source.is_store(evidence.lines, span):
        return "the wrong values are stored here"
    owner = source.test_owner(evidence.lines, span)
    if isinstance(owner, ast.For | ast.While):
        return "the sum is formed in this loop"
    return "the wrong values come from here" if owner is None else "this decides what comes into the sum"
