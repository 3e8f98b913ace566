"""Wording for warp-level operations that ask a lane which takes no part in them, or wait for it."""

from __future__ import annotations

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import plural, quote
from grader.diagnosis.source import guard, node_text
from grader.diagnosis.wording import Wording, Writer


def _seen(evidence: Evidence, what: tuple[str, str]) -> tuple[str, ...]:
    threads = evidence.count("threads")
    who = plural(threads, f"thread {what[0]}", f"threads {what[1]}") if threads is not None else ""
    return (evidence.at_shape(), f"{who}{evidence.in_round()}" if who else "")


def _shuffle_from_inactive_lane(evidence: Evidence) -> Wording:
    code, lane = evidence.code("a shuffle"), evidence.whole("lane")
    which = f"lane {lane}" if lane is not None else "a lane"
    around = guard(evidence.lines, evidence.finding.primary)
    test = quote(node_text(evidence.lines, around.test)) if around is not None else ""
    if evidence.flag("whole_warp"):
        return _part_of_a_warp(evidence, code, which, test)
    return Wording(
        headline=f"{code} takes a value from {which}, which does not take part",
        primary=f"{evidence.thread(0, 'a thread')} reads from {which} here",
        secondary="lanes that go the other way here do not come to the shuffle",
        seen=_seen(evidence, ("takes such a value", "take such a value")),
        because="a shuffle hands over what the other lane gives in the same call; a lane that has returned, "
        "is on another branch or lies past the end of the block gives nothing, and the value is undefined",
        hints=(
            "do all 32 lanes of the warp come to this call together?",
            f"{test} around the call keeps lanes from it"
            if test
            else "a warp may end with the block, or some of its lanes may have returned before",
            f"call the shuffle{evidence.on_line()} with every lane of the warp, and choose afterwards who "
            "uses the value",
        ),
        all_the_same="a device may hand over anything",
    )


def _part_of_a_warp(evidence: Evidence, code: str, absent: str, test: str) -> Wording:
    """An instruction of the whole warp, each lane giving and getting a part, that some lanes do not reach."""
    return Wording(
        headline=f"{code} is done by a warp as one, and {absent} does not take part",
        primary=f"{evidence.thread(0, 'a thread')} is here without it",
        secondary="lanes that go the other way here do not come to the call",
        seen=_seen(evidence, ("comes here without its whole warp", "come here without their whole warp")),
        because="every one of the 32 lanes holds a part of the operands and gets a part of the result; where "
        "a lane is missing, what the others get is undefined",
        hints=(
            "do all 32 lanes of the warp come to this call together?",
            f"{test} around the call keeps lanes from it"
            if test
            else "a warp may end with the block, or some of its lanes may have returned before",
            f"let every lane of the warp reach the call{evidence.on_line()}, and guard the store of the "
            "result",
        ),
        all_the_same="a device may give anything, or wait for ever",
    )


def _lane_not_in_mask(evidence: Evidence) -> Wording:
    code = evidence.code("a warp operation")
    return Wording(
        headline=f"{code} is called by lanes that its mask leaves out",
        primary=f"{evidence.thread(0, 'a thread')} calls it, and its own bit in the mask is 0",
        secondary="this decides which lanes come to the call",
        seen=_seen(evidence, ("calls it and is not in the mask", "call it and are not in the mask")),
        because="the mask names the lanes that take part, bit i for lane i, and every lane that calls must "
        "be among them; otherwise what the operation gives is undefined",
        hints=(
            "which lanes of the warp come to this line, and which bits has the mask?",
            "`0xFFFFFFFF` names all 32 lanes, `0xFFFF` the first 16 only",
            f"give the call{evidence.on_line()} a mask with the bit of every lane that reaches it, "
            "`0xFFFFFFFF` where the whole warp does",
        ),
        all_the_same="a device may hand over anything, or wait for ever",
    )


def _inactive_lane_in_mask(evidence: Evidence) -> Wording:
    code, lane = evidence.code("a warp operation"), evidence.whole("lane")
    which = f"lane {lane}" if lane is not None else "a lane"
    around = guard(evidence.lines, evidence.finding.primary)
    test = quote(node_text(evidence.lines, around.test)) if around is not None else ""
    if evidence.flag("other_mask"):
        return _other_mask(evidence, code, which)
    barrier = evidence.text("call") == "syncwarp"
    implied = barrier and "()" in code
    return Wording(
        headline=f"{code} names {which} in its mask, and {which} does not come to it",
        primary=f"{evidence.thread(0, 'a thread')}, {which} of its warp, is in the mask and not here",
        secondary="this decides which lanes come to the call",
        seen=_seen(evidence, ("is in the mask and does not call", "are in the mask and do not call")),
        because="the lanes of the mask wait for one another: each of them that has not returned must make "
        "the same call with the same mask, and otherwise what the call does is undefined"
        + ("; without an argument the mask is `0xFFFFFFFF`, the whole warp" if implied else ""),
        hints=(
            "which lanes of the warp come to this line, and which bits has the mask?",
            f"{test} around the call keeps lanes away that the mask names"
            if test
            else "`0xFFFFFFFF` names all 32 lanes of the warp, whichever of them come",
            f"move the call{evidence.on_line()} to where every lane of the warp comes, outside the condition"
            if barrier
            else f"make the call{evidence.on_line()} with every lane that the mask names, and choose "
            "afterwards who uses the value",
        ),
        all_the_same="a device may do anything, or wait for ever"
        if barrier
        else "a device may hand over anything, or wait for ever",
    )


def _other_mask(evidence: Evidence, code: str, which: str) -> Wording:
    """Lanes that come to the call together, one naming another that names other lanes."""
    return Wording(
        headline=f"{code} names {which} in the mask of one lane, and {which} comes with another mask",
        primary=f"{evidence.thread(0, 'a thread')}, {which} of its warp, is in a mask that is not its own",
        secondary="this decides which lanes come to the call",
        seen=_seen(
            evidence, ("is named by a lane with another mask", "are named by a lane with another mask")
        ),
        because="the lanes of the mask wait for one another: each of them that has not returned must make "
        "the same call with the same mask, and otherwise what the call does is undefined",
        hints=(
            "which mask has each lane of the warp at this call?",
            "lanes may form groups, but then every lane of a group needs the mask of just that group",
            f"give the call{evidence.on_line()} one mask for all lanes that it names",
        ),
        all_the_same="a device may do anything, or wait for ever",
    )


WRITERS: dict[str, Writer] = {
    "inactive-lane-in-mask": _inactive_lane_in_mask,
    "shuffle-from-inactive-lane": _shuffle_from_inactive_lane,
    "lane-not-in-mask": _lane_not_in_mask,
}
