"""The test that kept threads from storing into their slots: which side, and what fills the slots."""

from __future__ import annotations

import ast

from grader.diagnosis import source, thread_tests
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import listing, quote


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
    """The innermost ``if`` around the guard that may be what keeps part of a block from storing."""
    chain = source.enclosing(evidence.lines, evidence.finding.secondary)
    for outer, inner in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        if not (isinstance(outer, ast.If) and inner in outer.body):
            continue
        if thread_tests.may_differ(evidence.lines, evidence.finding.secondary, outer.test):
            return outer
    return None


def fill_action(evidence: Evidence) -> str:
    """What gives the skipped slot a value, in the kernel's own names."""
    if "suspect-guard" in evidence.context.repair_codes:
        return (
            "give each load a test of its own array's bounds alone, and its slot `0.0` where that is false: "
            "a zero adds nothing to the sum"
        )
    slot = evidence.finding.slot
    owner = source.test_owner(evidence.lines, evidence.finding.secondary)
    target = source.store_target(evidence.lines, owner, slot.array) if slot is not None else ""
    outer, shared = _outer(evidence), _other_stores(evidence, target)
    if shared:
        where = listing([str(line) for line in shared])
        filled = f"line {where} fills" if len(shared) == 1 else f"lines {where} fill"
        return (
            f"give every slot of {evidence.array()} that is read a value: compare the slots that {filled} "
            f"with those that are read{evidence.on_line()}"
        )
    if isinstance(owner, ast.If) and _in_else(evidence) and not _in_body(evidence, owner):
        return (
            f"{quote(target) or 'the slot'} is stored under more than one test: see to it that, whatever "
            f"they say, every thread runs a store of its own; line {owner.lineno} alone does not decide that"
        )
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


def _in_body(evidence: Evidence, owner: ast.If) -> bool:
    """Whether the side of an ``if`` that is taken where its test is true stores to the array too."""
    slot = evidence.finding.slot
    return slot is not None and any(source.stores_to(evidence.lines, one, slot.array) for one in owner.body)


def _other_stores(evidence: Evidence, target: str) -> tuple[int, ...]:
    """The lines of the stores to the array in and beside the guard, where they fill more than one slot each.

    A zero stored for the threads that fail the test would then overwrite what another thread has stored.
    """
    slot, span = evidence.finding.slot, evidence.finding.secondary
    owner = source.test_owner(evidence.lines, span)
    if slot is None or not isinstance(owner, ast.If) or not target:
        return ()
    chain = source.enclosing(evidence.lines, span)
    parent = chain[chain.index(owner) - 1] if owner in chain[1:] else None
    lists = [getattr(parent, field, ()) for field in ("body", "orelse")]
    beside = next((one for one in lists if isinstance(one, list) and owner in one), [])
    simple = [one for one in beside if isinstance(one, ast.Assign | ast.AugAssign)]
    stores = [
        pair for one in (*simple, *owner.body) for pair in source.stores_to(evidence.lines, one, slot.array)
    ]
    return tuple(sorted({line for _, line in stores})) if len({text for text, _ in stores}) > 1 else ()


def _first_test(evidence: Evidence) -> int | None:
    """The line of the outermost ``if`` of the chain of ``elif`` that the guard belongs to."""
    chain = source.enclosing(evidence.lines, evidence.finding.secondary)
    line = evidence.other_line
    for outer, inner in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        if isinstance(outer, ast.If) and (inner is outer.test or inner in outer.orelse):
            line = outer.lineno
    return line
