"""Wording for a barrier that is lacking between two accesses: where to put it, and what does without it."""

from __future__ import annotations

from grader.diagnosis import barrier_place
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import quote


def _place(evidence: Evidence) -> barrier_place.Place | None:
    """Where a barrier would part the two accesses of a finding."""
    first, second = evidence.finding.secondary, evidence.finding.primary
    own, other = evidence.finding.loops, evidence.pairs("other_loops")
    apart = 0
    if first is not None and second is not None and first.line == second.line and len(own) == len(other):
        differing = (at for at, pair in enumerate(zip(own, other, strict=True)) if pair[0] != pair[1])
        at = next(differing, len(own))
        apart = len(own) - at
    return barrier_place.between(evidence.lines, first, second, rounds_apart=apart)


def action(evidence: Evidence, when: str) -> str:
    """What to do: add a barrier at a place of the text, else where ``when`` says."""
    place = _place(evidence)
    barrier = "`cuda.syncthreads()`"
    if place is None:
        return f"add {barrier} where {when}"
    if place.split:
        outside = f"outside of the `if` on line {place.split}, whose test may differ between threads"
        apart = "the read into a variable and the store" if place.same_statement else "the two accesses"
        return f"put {barrier} between {apart}, {outside}: end that `if` before it, begin it anew after it"
    if place.same_statement:
        return (
            f"split line {place.after}: read into a variable, then {barrier}, then store; "
            "all threads must have read before one stores"
        )
    if place.loop:
        return f"add {barrier} after line {place.after}, as the last statement of {quote(place.loop)}"
    text = f"add {barrier} after line {place.after}"
    if place.test:
        text += f", where all threads of the block must take the branch {quote(place.test)}"
    return text


def nothing_waits(evidence: Evidence) -> str:
    """The sentence that no thread waits between two accesses to one element."""
    if evidence.line is None or evidence.other_line is None:
        return "nothing makes the threads wait between the two accesses"
    if evidence.line == evidence.other_line:
        return f"nothing makes the threads wait between the read and the write of line {evidence.line}"
    return f"nothing makes the threads wait between line {evidence.other_line} and line {evidence.line}"
