"""Wording for a value that one block hands to another past a fence and an atomic: a note, no fault."""

from __future__ import annotations

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.wording import Wording


def handed_over(evidence: Evidence) -> Wording:
    """What such a read rests on; whether the count lets it come too early is not worked out."""
    read, store = evidence.code("a global element"), evidence.other_code("a store")
    slot = evidence.slot() or "the element"
    return Wording(
        headline=f"{read} reads what another block stores in {store}, with a fence and an atomic between",
        primary=f"{evidence.thread(0, 'one thread')} reads {slot} here",
        secondary=f"{evidence.thread(1)} writes it here",
        seen=(evidence.at_shape(),),
        because="a block that counts itself done after `cuda.threadfence()` hands over what it stored "
        "before; a block that reads only when the count says that all are done gets it. What the count "
        "allows is not worked out here",
        hints=(
            "which value of the counter lets a block read?",
            "only the block that counts last may read what the others have stored",
            "nothing is to be changed where the read is reached only by the block that counts last",
        ),
        all_the_same="the order rests on the value of the counter",
    )
