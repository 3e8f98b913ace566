"""Wording for shared slots that an asynchronous copy has not filled yet."""

from __future__ import annotations

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import plural
from grader.diagnosis.wording import Wording


def read_before_arrival(evidence: Evidence) -> Wording:
    """Word a read of a slot to which a copy is under way that nobody has waited for."""
    code, slot = evidence.code("a shared slot"), evidence.slot() or "a shared slot"
    copy, threads = evidence.other_code("the copy"), evidence.count("threads")
    return Wording(
        headline=f"{code} reads {slot}, and a copy to that array is still under way",
        primary=f"{evidence.thread(0, 'a thread')} reads {slot} here",
        secondary="the copy begins here",
        seen=(
            evidence.at_shape(),
            f"{slot} is read{evidence.in_round()}" if evidence.finding.loops else "",
            f"{plural(threads, 'thread reads', 'threads read')} such a slot" if threads else "",
        ),
        because="an asynchronous copy goes on while the thread computes: its slots hold nothing defined "
        "before the thread that began it has waited for it, and for all others before a barrier after that "
        "wait",
        hints=(
            "between the copy and this read, which call waits for it?",
            f"{copy}{evidence.on_other_line()} belongs to a group only once that is committed, and "
            "`cp_async_wait(n)` leaves the latest n groups under way",
            f"commit the copy's group, wait for it and meet at a barrier before the read{evidence.on_line()}",
        ),
        all_the_same="the copy may happen to be fast enough",
    )
