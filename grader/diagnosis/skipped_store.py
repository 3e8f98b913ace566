"""The test that kept threads from storing into their slots: which side, and what fills the slots."""

from __future__ import annotations

import ast

from grader.diagnosis import source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import quote


def pointer(evidence: Evidence) -> str:
    """Which tests keep threads from storing."""
    outer = _outer(evidence)
    if outer is None:
        return f"{evidence.other_code('the guard')}{evidence.on_other_line()} keeps threads from storing"
    test = quote(source.node_text(evidence.lines, outer.test))
    return f"{test} on line {outer.lineno} and the test below it keep threads from storing"


def skip_label(evidence: Evidence, skippers: str) -> str:
    """The remark under the guard; where the span is the store itself, under the store."""
    line = evidence.whole("store_line")
    if evidence.lines and source.test_owner(evidence.lines, evidence.finding.secondary) is None:
        return f"{skippers} do not come to this store"
    decided = "true" if _in_else(evidence) else "false"
    nested = _outer(evidence) is not None or _is_elif(evidence)
    reached = f"{decided}, or not reached," if nested else decided
    return f"{reached} for {skippers}, so " + (
        f"line {line} stores nothing for them" if line is not None else "nothing is stored"
    )


def _in_else(evidence: Evidence) -> bool:
    """Whether the store that was skipped stands on the other side of the test: where it is false."""
    owner, line = source.test_owner(evidence.lines, evidence.finding.secondary), evidence.whole("store_line")
    if not isinstance(owner, ast.If) or line is None or not owner.orelse:
        return False
    return owner.orelse[0].lineno <= line <= (owner.orelse[-1].end_lineno or 0)


def _is_elif(evidence: Evidence) -> bool:
    owner = source.test_owner(evidence.lines, evidence.finding.secondary)
    chain = source.enclosing(evidence.lines, evidence.finding.secondary)
    return any(isinstance(one, ast.If) and any(part is owner for part in one.orelse) for one in chain)


def _outer(evidence: Evidence) -> ast.If | None:
    """The ``if`` around the guard, which may be what keeps threads from storing."""
    return source.guard(evidence.lines, evidence.finding.secondary)


def fill_action(evidence: Evidence) -> str:
    """What gives the skipped slot a value, in the kernel's own names."""
    slot = evidence.finding.slot
    owner = source.test_owner(evidence.lines, evidence.finding.secondary)
    target = source.store_target(evidence.lines, owner, slot.array) if slot is not None else ""
    outer = _outer(evidence)
    if outer is not None:
        test = quote(source.node_text(evidence.lines, outer.test))
        return (
            f"let every thread fill its slot: take the store out of the `if` on line {outer.lineno}, {test}"
        )
    if isinstance(owner, ast.If) and target and not owner.orelse:
        return (
            f"add `else: {target} = 0.0` to the `if` on line {owner.lineno}: a zero adds nothing to the sum"
        )
    if _in_else(evidence) or _is_elif(evidence):
        first = _first_test(evidence)
        return f"let every branch of the `if` on line {first} fill the thread's own slot of the tile"
    where = evidence.on_other_line(" of line ")
    into = quote(target) or (evidence.array("the shared array") if slot is not None else "the slot")
    return f"store `0.0` in {into} where the condition{where} is false: a zero adds nothing to the sum"


def _first_test(evidence: Evidence) -> int | None:
    """The line of the outermost ``if`` of the chain of ``elif`` that the guard belongs to."""
    chain = source.enclosing(evidence.lines, evidence.finding.secondary)
    line = evidence.other_line
    for outer, inner in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        if isinstance(outer, ast.If) and (inner is outer.test or inner in outer.orelse):
            line = outer.lineno
    return line
