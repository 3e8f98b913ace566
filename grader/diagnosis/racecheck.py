"""Wording for two accesses to one word that nothing puts in an order."""

from __future__ import annotations

from grader.diagnosis import barrier_action, fences, grammar, not_barriers, picture, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import plural, quote
from grader.diagnosis.passing import Reason
from grader.diagnosis.wording import Wording, Writer

_IN_WARP = (
    "since Volta even the threads of one warp may run apart, and only luck put the two accesses in order"
)
_UNORDERED = (
    "the warps of a block run in any order, and only luck put the two accesses in the right one; "
    "another device, driver or block size may not"
)


def _shared_read_before_barrier(evidence: Evidence) -> Wording:
    read, write = evidence.code("a shared slot"), evidence.other_code("the store")
    return Wording(
        headline=f"{read} is read with no barrier after {write} wrote it",
        primary=f"{evidence.thread(0, 'one thread')} reads {evidence.slot() or 'the slot'} here",
        secondary=f"{evidence.thread(1)} writes it here",
        seen=_seen(evidence),
        because="a thread may read what another thread wrote to shared memory only after a "
        "`cuda.syncthreads()` that both have reached; before it the slot may still hold its old value",
        hints=(
            "how does a thread know that the others have stored their share of the tile?",
            f"between line {evidence.other_line} and line {evidence.line} nothing makes the threads wait"
            if evidence.other_line is not None and evidence.line not in (None, evidence.other_line)
            else "between the store and the read nothing makes the threads wait",
            barrier_action.action(evidence, "the tile is stored and before it is read"),
        ),
        picture=_columns(evidence, "reads", "writes"),
        all_the_same=_luck(evidence),
    )


def _shared_overwrite_before_barrier(evidence: Evidence) -> Wording:
    write, read = evidence.code("a shared slot"), evidence.other_code("the read")
    return Wording(
        headline=f"{write} is overwritten while other threads may still read {read}",
        primary=f"{evidence.thread(0, 'one thread')} overwrites {evidence.slot() or 'the slot'} here",
        secondary=f"{evidence.thread(1)} reads it here, before that",
        seen=_seen(evidence),
        because="a thread that has finished its reads goes on to the next store at once; without a "
        "`cuda.syncthreads()` after the reads it replaces values that slower threads still need",
        hints=(
            "can a fast thread begin the next round while a slow one is still in this one?",
            f"follow a fast thread from line {evidence.other_line} to line {evidence.line}: "
            "nothing makes it wait for the others"
            if evidence.other_line is not None and evidence.line not in (None, evidence.other_line)
            else "follow a fast thread from the read to the next store: nothing makes it wait for the others",
            barrier_action.action(evidence, "the tile has been read and before it is overwritten"),
        ),
        picture=_columns(evidence, "overwrites", "reads"),
        why_passed=_single_tile(evidence),
        all_the_same=_luck(evidence),
    )


def _seen(evidence: Evidence) -> tuple[str, ...]:
    words, name = evidence.count("words"), evidence.array("shared memory")
    met = f"{plural(words, 'word')} of {name}, over all blocks and rounds" if words is not None else ""
    first = grammar.sentence(met, f"the first is {evidence.slot()}" if evidence.slot() else "", joiner="; ")
    lookalike = not_barriers.between(evidence.lines, evidence.finding.secondary, evidence.finding.primary)
    return evidence.at_shape(), first, _rounds(evidence), lookalike


def _rounds(evidence: Evidence) -> str:
    """The loop values of both accesses: "line 33 when t = 1, line 41 when t = 0, k = 5"."""
    own, other = evidence.rounds(), evidence.rounds_of("other_loops")
    if evidence.line is None or not own:
        return ""
    second = f"line {evidence.other_line} when {other}" if other and evidence.other_line is not None else ""
    return grammar.sentence(f"line {evidence.line} when {own}", second)


def _luck(evidence: Evidence) -> str:
    return _IN_WARP if evidence.text("scope") == "warp" else _UNORDERED


def _single_tile(evidence: Evidence) -> Reason:
    tile = max(evidence.context.settings.values(), default=0)
    text = "with a single k-tile no slot is ever overwritten"
    return Reason(text, lambda sizes: sizes.get("K", tile + 1) <= tile, ("K",))


def _columns(evidence: Evidence, own: str, other: str) -> tuple[str, ...]:
    finding, before = evidence.finding, evidence.text("other_slot")
    slot = grammar.slot_name(finding.slot) if finding.slot is not None else ""
    if len(finding.threads) < 2 or finding.primary is None or finding.secondary is None or not slot:
        return ()
    here = picture.Step(evidence.thread(0), finding.primary.line, f"{own} {slot}")
    there = picture.Step(evidence.thread(1), finding.secondary.line, f"{other} {before or slot}")
    return picture.two_threads(there, here, "no barrier in between: either may come first")


def _write_conflict(evidence: Evidence, space: str) -> Wording:
    write, other = evidence.code(f"a {space} word"), evidence.other_code("another store")
    target = _target(evidence) or write
    same_line = evidence.finding.primary == evidence.finding.secondary or evidence.finding.secondary is None
    words, modify, same_value = (
        evidence.count("words"),
        evidence.flag("read_modify"),
        evidence.flag("same_value"),
    )
    name = evidence.array(space + " memory")
    many = f"{plural(words, 'word')} of {name}, over all blocks and rounds" if words is not None else ""
    what = (
        "the same value"
        if same_value
        else "different values"
        if "same_value" in evidence.finding.facts
        else ""
    )
    headline = (
        f"several threads update {target} at once, and updates are lost"
        if modify
        else f"several threads store to one element through {target}"
        if same_line
        else f"{target} stores to a word that {other} also stores to"
    )
    return Wording(
        headline=headline,
        primary=f"{evidence.thread(0, 'one thread')} stores to {evidence.slot() or 'a word'} here",
        secondary="" if same_line else f"{evidence.thread(1)} stores to it here",
        seen=(
            evidence.at_shape(),
            f"{evidence.thread(0)} and {evidence.thread(1)} store to {evidence.slot()}{evidence.in_round()}"
            if evidence.slot() and len(evidence.finding.threads) > 1
            else "",
            grammar.sentence(many, _shared_by(modify, what) if many else "", joiner="; "),
        ),
        because=_conflict_reason(space, modify, same_value),
        hints=(
            "which thread should own this element?",
            f"the index in {target} is the same for several threads"
            if same_line
            else f"the indices in {target} and {other} meet in one element",
            _conflict_action(evidence, target, space, modify, same_line),
        ),
        all_the_same="which of the stores comes last is left to the device",
    )


def _shared_by(modify: bool, what: str) -> str:
    if modify:
        return "each updated by several threads"
    return f"each gets {what} from several threads" if what else "each stored by several threads"


def _target(evidence: Evidence) -> str:
    """The stored subscript, when the primary span is the whole statement."""
    slot = evidence.finding.slot
    if slot is None:
        return ""
    chain = source.enclosing(evidence.lines, evidence.finding.primary)
    return quote(source.store_target(evidence.lines, chain[-1] if len(chain) > 1 else None, slot.array))


def _conflict_reason(space: str, modify: bool, same_value: bool) -> str:
    if modify:
        return (
            "`x += y` reads, adds and writes back in three steps; a thread that reads between another's "
            "read and write undoes that one's work"
        )
    if same_value:
        return "two stores to one word are unordered; equal values hide it only as long as they stay equal"
    ordered = "a barrier between them" if space == "shared" else "nothing short of a new launch"
    return f"of two stores to one word the last one stays, and {ordered} decides which one is last"


def _conflict_action(evidence: Evidence, target: str, space: str, modify: bool, same_line: bool) -> str:
    if modify:
        own = f"where each thread has an element of its own, put its index into {target}{evidence.on_line()}"
        return f"{own}; where the sum over the threads is meant, use `cuda.atomic.add`"
    if space == "global":
        return f"make the index of {target}{evidence.on_line()} different for every thread of the grid"
    if not same_line:
        lines = f"line {evidence.other_line}{evidence.on_line(' and on line ')}"
        return f"let a thread store to one and the same element on {lines}"
    return (
        f"make the index of {target}{evidence.on_line()} different for every thread of the block, "
        "say with both `cuda.threadIdx.x` and `cuda.threadIdx.y` in it"
    )


def _shared_write_conflict(evidence: Evidence) -> Wording:
    return _write_conflict(evidence, "shared")


def _global_write_conflict(evidence: Evidence) -> Wording:
    return _write_conflict(evidence, "global")


def _global_read_write_race(evidence: Evidence) -> Wording:
    if evidence.finding.severity == "note":
        return fences.handed_over(evidence)
    code, other = evidence.code("a global element"), evidence.other_code("the other access")
    across = evidence.text("scope") == "grid" or evidence.same_block is False
    own = "writes" if source.is_store(evidence.lines, evidence.finding.primary) else "reads"
    theirs = "writes" if source.is_store(evidence.lines, evidence.finding.secondary) else "reads"
    whom = "threads of other blocks" if across else "other threads of the block"
    return Wording(
        headline=f"{code} and {other} race for one element",
        primary=f"{evidence.thread(0, 'one thread')} {own} {evidence.slot() or 'the element'} here",
        secondary=f"{evidence.thread(1)} {theirs} it here",
        seen=_seen(evidence),
        because="`cuda.syncthreads()` orders the threads of one block only; "
        "between blocks nothing is ordered until the launch ends"
        if across
        else "two accesses to one element, one of them a write, need a `cuda.syncthreads()` between them",
        hints=(
            f"can {whom} have changed this element already, or not yet?",
            "blocks run in any order, and some start when others have ended"
            if across
            else barrier_action.nothing_waits(evidence),
            "write to a second array, and let a second launch read it"
            if across
            else "where only threads of one block meet in an element, put `cuda.syncthreads()` between the "
            "two accesses; where several blocks do, write to a second array: no barrier orders blocks",
        ),
        picture=_columns(evidence, own, theirs),
        all_the_same="the order of the blocks is left to the device" if across else _luck(evidence),
    )


WRITERS: dict[str, Writer] = {
    "shared-read-before-barrier": _shared_read_before_barrier,
    "shared-overwrite-before-barrier": _shared_overwrite_before_barrier,
    "shared-write-conflict": _shared_write_conflict,
    "global-write-conflict": _global_write_conflict,
    "global-read-write-race": _global_read_write_race,
}
