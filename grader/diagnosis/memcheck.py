"""Wording for accesses outside an array."""

from __future__ import annotations

import ast

from grader.diagnosis import alignment, grammar, index_guard, outside, picture, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import part, plural, quote
from grader.diagnosis.passing import Reason, whole_tiles
from grader.diagnosis.wording import Wording, Writer


def _threads(evidence: Evidence, verb: str, verb_many: str) -> str:
    threads, accesses = evidence.count("threads"), evidence.count("accesses")
    who = plural(threads, f"thread {verb}", f"threads {verb_many}") if threads is not None else ""
    repeated = accesses is not None and accesses != threads
    times = f"{plural(accesses or 0, 'access', 'accesses')} in all" if repeated else ""
    return grammar.sentence(
        f"{who} {'outside the array' if outside.before(evidence) else 'past the end'}" if who else "", times
    )


def _landing(evidence: Evidence) -> str:
    """What the address belongs to: another element, or nothing of the array."""
    slot = evidence.finding.slot
    aliases = evidence.numbers("aliases")
    if aliases and slot is not None:
        return quote(grammar.element(slot.array, aliases))
    return _wrapped(evidence)


def _wrapped(evidence: Evidence) -> str:
    """The element that a negative index stands for, or nothing."""
    slot, axis, size = evidence.finding.slot, evidence.whole("axis"), evidence.whole("size")
    if slot is None or axis is None or size is None or not 0 <= axis < len(slot.index):
        return ""
    index = list(slot.index)
    if not -size <= index[axis] < 0:
        return ""
    index[axis] += size
    return quote(grammar.element(slot.array, index))


def _out_of_bounds_read(evidence: Evidence) -> Wording:
    code, slot, array = evidence.code("a read"), evidence.slot() or "an element", evidence.array()
    bounds, landing = outside.bounds(evidence), _landing(evidence)
    lands = f"the address is that of {landing}" if landing else "the address is outside the array"
    return Wording(
        headline=f"{code} reads {slot}, {outside.beyond(evidence, f' of {array}')}",
        primary=f"{evidence.thread(0, 'a thread')} reads {slot}"
        + (f"; {array} has {bounds}" if bounds else ""),
        secondary="this does not keep it inside",
        seen=(
            evidence.at_shape(),
            _threads(evidence, "reads", "read"),
            grammar.sentence(lands, _when(evidence)),
        ),
        because=outside.unchecked_read(evidence),
        hints=(
            "for which threads does the element that is read not exist?",
            grammar.sentence(
                index_guard.origin(evidence) or f"look at the index in {code}{evidence.on_line()}",
                index_guard.guard_of_read(evidence),
                joiner="; ",
            ),
            index_guard.keep_inside(evidence, "read", "; use `0.0` elsewhere"),
        ),
        why_passed=_why_passed(evidence, "there every thread's element exists"),
        all_the_same="the value read may be anything, and outside the allocation the launch may fail",
    )


def _out_of_bounds_write(evidence: Evidence) -> Wording:
    code, slot, array = evidence.code("a store"), evidence.slot() or "an element", evidence.array()
    bounds, landing = outside.bounds(evidence), _landing(evidence)
    lands = (
        f"the address is that of {landing}, so that element is overwritten"
        if landing
        else "the address is outside the array: other data is overwritten, or the launch fails"
    )
    target = _store_text(evidence) or code
    return Wording(
        headline=f"{target} stores to {slot}"
        + (f", which is really {landing}" if landing else f", {outside.beyond(evidence, f' of {array}')}"),
        primary=f"{evidence.thread(0, 'a thread')} stores to {slot}"
        + (f"; {array} has {bounds}" if bounds else ""),
        secondary="this does not keep it inside",
        seen=(evidence.at_shape(), _threads(evidence, "stores", "store"), lands),
        because=outside.row_overrun(evidence),
        hints=(
            "which threads have no element of their own to store?"
            if outside.is_global(evidence)
            else f"which values does the index take, and how far does {array} reach?",
            index_guard.guard_of_store(evidence),
            index_guard.keep_inside(evidence, "store", ""),
        ),
        picture=_row_end(evidence),
        why_passed=_why_passed(evidence, "there every thread has an element of its own"),
        all_the_same="what lies at that address may be another array next time",
    )


def _row_end(evidence: Evidence) -> tuple[str, ...]:
    slot, aliases = evidence.finding.slot, evidence.numbers("aliases")
    axis, size = evidence.whole("axis"), evidence.whole("size")
    if slot is None or size is None or len(aliases) != 2 or axis != 1 or len(slot.index) != 2:
        return ()
    return picture.row_end(slot.array, slot.index, aliases, size)


def _store_text(evidence: Evidence) -> str:
    slot = evidence.finding.slot
    chain = source.enclosing(evidence.lines, evidence.finding.primary)
    statement = source.innermost(chain, ast.Assign, ast.AugAssign)
    return quote(source.store_target(evidence.lines, statement, slot.array)) if slot is not None else ""


def _why_passed(evidence: Evidence, text: str) -> Reason | None:
    """Whole tiles explain why nothing goes past an end; with an index below 0 they have nothing to do."""
    if outside.before(evidence):
        return None
    return whole_tiles(_dimensions(evidence), evidence.context.settings, text)


def _dimensions(evidence: Evidence) -> list[str]:
    """The name of the size that is overrun, or all that it may be."""
    size = evidence.whole("size")
    name = evidence.context.dimension_of_size(size) if size is not None else None
    return [name] if name is not None else ["M", "N", "K"]


def _when(evidence: Evidence) -> str:
    return f"first met when {evidence.rounds()}" if evidence.finding.loops else ""


def _negative_index(evidence: Evidence) -> Wording:
    code, index = evidence.code("an access"), quote(index_guard.index(evidence)) or "the index"
    threads, landing = evidence.count("threads"), _landing(evidence)
    block = evidence.count("block_threads")
    who = part(threads, block, "thread") if threads is not None else "some threads"
    name = quote(evidence.finding.slot.array) if evidence.finding.slot is not None else "the array"
    return Wording(
        headline=f"the index {index} of {code} is negative for {who}"
        if index_guard.index(evidence)
        else f"{code} has a negative index for {who}",
        primary=f"negative for {evidence.thread(0, 'a thread')}; counted from the end of {name}",
        seen=(
            evidence.at_shape(),
            f"{evidence.slot()} is meant as {landing}" if landing and evidence.slot() else "",
            grammar.sentence(f"{who}", _when(evidence)),
        ),
        because="as in Python, -1 is the last element: the access stays inside the array, "
        "but at its other end, and no error is raised",
        hints=(
            "is the element before the first one meant to be the last one?",
            f"look for a subtraction in {index}, and at the thread for which it goes below 0",
            f"guard the access{evidence.on_line()} against an index below 0, or write the wrap with `%`",
        ),
        all_the_same="in C and C++ the same index reads before the start of the array",
    )


WRITERS: dict[str, Writer] = {
    "out-of-bounds-read": _out_of_bounds_read,
    "out-of-bounds-write": _out_of_bounds_write,
    "misaligned-access": alignment.misaligned_access,
    "negative-index": _negative_index,
}
