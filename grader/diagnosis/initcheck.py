"""Wording for values that nobody set, that an earlier round left, or that were never stored."""

from __future__ import annotations

from grader.diagnosis import copies, grammar, picture, repair_places, skipped_store, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import part, plural, quote
from grader.diagnosis.passing import Reason, whole_tiles
from grader.diagnosis.wording import Wording, Writer

_REACHES = {
    "output": "the value goes into the result",
    "branch": "the value decides a branch",
    "trip-count": "the value decides how often a loop runs",
    "index": "the value is used as an index",
    "nothing": "the value reaches no output",
}


def _stale_shared_read(evidence: Evidence) -> Wording:
    code, slot = evidence.code("a shared slot"), evidence.slot() or "its slot"
    old = evidence.rounds_of("old_loops")
    left = f"the value from {old}" if old else "the value of an earlier round"
    skipped, block = evidence.count("skipped"), evidence.count("block_threads")
    skippers = part(skipped, block, "thread") if skipped is not None else "some threads"
    verb = "was" if skipped == 1 else "were"
    return Wording(
        headline=f"{code} reads {slot}, which still holds {left}",
        primary=f"{evidence.thread(0, 'a thread')} reads {slot}: {left}",
        secondary=skipped_store.skip_label(evidence, skippers),
        seen=(
            evidence.at_shape(),
            _when_read(evidence, slot, old),
            f"{skippers} of a block {verb} kept from storing{evidence.on_other_line(' by line ')}",
            _readers(evidence),
        ),
        because="shared memory keeps its values from one round of a loop to the next: a skipped store "
        "leaves the old value, and every thread that reads the slot gets it",
        hints=(
            "is the value of the earlier round wanted here?"
            if evidence.finding.severity == "note"
            else "what should a thread put into its slot when its element does not exist?",
            f"{evidence.other_code('the guard')}{evidence.on_other_line()} skips the store, not the read",
            _stale_action(evidence),
        ),
        picture=_gap_picture(evidence, f"left from {old}" if old else "left from an earlier round"),
        why_passed=_whole_k_tiles(evidence),
    )


def _stale_action(evidence: Evidence) -> str:
    """Fill the slot; a note is no fault known, since a slot may be meant to keep its value."""
    fill = skipped_store.fill_action(evidence)
    if evidence.finding.severity != "note":
        return fill
    return f"where the slot is to keep its value, change nothing; where it is to hold this round's, {fill}"


def _when_read(evidence: Evidence, slot: str, old: str) -> str:
    if not evidence.finding.loops:
        return ""
    last = f" and was last written when {old}" if old else ""
    return f"{slot} is read{evidence.in_round()}{last}"


def _uninitialised_shared_read(evidence: Evidence) -> Wording:
    if evidence.flag("under_way"):
        return copies.read_before_arrival(evidence)
    code, slot = evidence.code("a shared slot"), evidence.slot() or "a shared slot"
    skipped, block = evidence.count("skipped"), evidence.count("block_threads")
    guarded = skipped is not None and skipped > 0
    skippers = part(skipped, block, "thread") if skipped is not None else ""
    reaches = _REACHES.get(evidence.text("reaches"), "")
    return Wording(
        headline=f"{code} reads {slot}, which no thread has written",
        primary=grammar.sentence(f"{evidence.thread(0, 'a thread')} reads {slot}", reaches, joiner="; "),
        secondary=skipped_store.skip_label(evidence, skippers)
        if guarded
        else "nothing is stored in that slot between here and the read",
        seen=(
            evidence.at_shape(),
            f"{slot} is read{evidence.in_round()}" if evidence.finding.loops else "",
            f"{skippers} of a block stored nothing" if guarded else "",
            _readers(evidence),
        ),
        because="shared memory starts with whatever was there before; a slot has a value only once a thread "
        "of the same block has stored one",
        hints=(
            "which thread was to fill this slot, and did it?",
            skipped_store.pointer(evidence)
            if guarded
            else "compare the slots that are stored with the slots that are read",
            skipped_store.fill_action(evidence)
            if guarded
            else f"store a value in every slot that is read{evidence.on_line()}, before the barrier",
        ),
        picture=_gap_picture(evidence, "never written"),
        why_passed=_whole_k_tiles(evidence),
    )


def _readers(evidence: Evidence) -> str:
    threads = evidence.count("threads")
    return f"{plural(threads, 'thread reads', 'threads read')} such a slot" if threads else ""


def _gap_picture(evidence: Evidence, left: str) -> tuple[str, ...]:
    slot, settings = evidence.finding.slot, evidence.context.settings
    if slot is None:
        return ()
    skipped, block = evidence.count("skipped"), evidence.count("block_threads")
    for tile in settings.values():
        axis = picture.skipped_axis(slot.index, skipped, block, tile)
        if axis is not None:
            return picture.tile_with_gap(slot.array, slot.index, axis, tile, left)
    return ()


def _whole_k_tiles(evidence: Evidence) -> Reason:
    text = "there a skipped store leaves only slots that no stored result reads"
    return whole_tiles(["K"], evidence.context.settings, text)


def _uninitialised_local_read(evidence: Evidence) -> Wording:
    code, slot = evidence.code("a local element"), evidence.slot() or "the element"
    reaches = _REACHES.get(evidence.text("reaches"), "")
    return Wording(
        headline=f"{code} reads an element of a local array that was never set",
        primary=grammar.sentence(f"{evidence.thread(0, 'a thread')} reads {slot}", reaches, joiner="; "),
        secondary="the array starts without values",
        seen=(
            evidence.at_shape(),
            f"{slot}{evidence.in_round()}" if evidence.slot() else "",
            _readers(evidence),
        ),
        because="a local array is a thread's own memory and starts with whatever was there before",
        hints=(
            "where does each element of the local array get its first value?",
            f"{evidence.array('the array')} is made{evidence.on_other_line()} and never filled with zeros",
            f"set each element of {evidence.array('the local array')} to `0.0` in a loop before it is read",
        ),
    )


def _undefined_variable(evidence: Evidence) -> Wording:
    name = quote(evidence.text("variable")) or evidence.code("a variable")
    threads, block = evidence.count("threads"), evidence.count("block_threads")
    who = part(threads, block, "thread") if threads is not None else "some threads"
    return Wording(
        headline=f"{name} is read by {who} that never set it",
        primary=f"{evidence.thread(0, 'a thread')} has no value for {name} here",
        secondary="only threads that come through here set it",
        seen=(evidence.at_shape(), f"{who} read {name} without a value{evidence.in_round()}"),
        because="a variable that is set on one branch only compiles, and holds rubbish for the threads that "
        "took the other branch",
        hints=(
            f"which way through the kernel leads here without setting {name}?",
            f"find every assignment to {name} and the condition that it stands under",
            f"give {name} a value before the branch, for all threads",
        ),
    )


def _unwritten_output(evidence: Evidence) -> Wording:
    array = evidence.array(evidence.role("out", "the output"))
    unwritten, elements = evidence.count("unwritten"), evidence.count("elements")
    how_many = part(unwritten, elements, "element") if unwritten is not None else "some elements"
    first = f", the first is {evidence.slot()}" if evidence.slot() else ""
    # Where one changed line mends it the finding is at that line, and the store is the other place.
    traced = repair_places.traced(evidence)
    store = evidence.finding.secondary if traced else evidence.finding.primary
    at_store = evidence.on_other_line() if traced else evidence.on_line()
    guard = source.guard(evidence.lines, store)
    elsewhere = traced and guard is not None and guard.lineno != evidence.line
    test = quote(source.node_text(evidence.lines, guard.test)) if guard is not None else ""
    return Wording(
        headline=f"no thread stores {how_many} of {array}{first}",
        primary=repair_places.made_here(evidence) if traced else "this store never reaches them",
        secondary="this store never reaches them" if traced else "",
        seen=(evidence.at_shape(), f"{how_many} of {array} never stored{first}"),
        because="an element that no thread stores keeps what the memory held before the launch",
        hints=(
            f"which thread should store {evidence.slot() or 'the first missing element'}?",
            f"what does{evidence.on_line(' line ')} give that thread?"
            if elsewhere
            else f"the store{at_store} runs only where {test} is true"
            if test
            else "follow that thread from the top of the kernel to the store",
            f"correct {test} on line {guard.lineno} so that it holds for every element of {array}"
            if guard is not None and traced and not elsewhere
            else f"let every element of {array} have a thread for which {test} on line {guard.lineno} is true"
            if guard is not None and not elsewhere
            else f"let every element of {array} have a thread that reaches the store{at_store}",
        ),
        picture=picture.bar(
            elements - unwritten if elements is not None and unwritten is not None else None,
            elements,
            "elements stored",
            "never stored",
        ),
    )


WRITERS: dict[str, Writer] = {
    "undefined-variable": _undefined_variable,
    "uninitialised-shared-read": _uninitialised_shared_read,
    "uninitialised-local-read": _uninitialised_local_read,
    "stale-shared-read": _stale_shared_read,
    "unwritten-output": _unwritten_output,
}
