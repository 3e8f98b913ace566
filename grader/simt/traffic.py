"""Notes on accesses that cost more of the memory system than they need to."""

from __future__ import annotations

from grader.records import Fact, Finding
from grader.simt.requests import BANK_BYTES, SECTOR_BYTES
from grader.simt.tally import ArrayCounters, Tally

#: How many times the sectors of a warp that reads consecutive elements an access may touch.
LENIENCY = 2


def traffic_notes(tally: Tally) -> tuple[Finding, ...]:
    """``uncoalesced-access`` and ``bank-conflict`` for each place that earns one, as notes."""
    found = []
    for (_, kind), (site, counters) in tally.by_site.items():
        if site.space == "global":
            requests, sectors = getattr(counters, f"{kind}_requests"), getattr(counters, f"{kind}_sectors")
            wide = LENIENCY * tally.warp * site.itemsize // SECTOR_BYTES
            ideal = _ideal(counters, kind)
            if sectors > wide * requests and sectors > LENIENCY * ideal:
                counts = {"requests": requests, "sectors": sectors}
                facts: dict[str, Fact] = {"array": site.array, "ideal_sectors": ideal, "kind": kind}
                found.append(Finding("uncoalesced-access", "note", site.span, counts=counts, facts=facts))
            continue
        requests, extra = getattr(counters, f"{kind}_requests"), getattr(counters, f"{kind}_bank_conflicts")
        # A request wider than a bank is served in passes, and can have a conflict in each.
        passes = requests * max(1, site.itemsize // BANK_BYTES)
        if passes and extra >= passes:
            counts = {"conflicts": extra, "requests": requests}
            facts = {"array": site.array, "degree": 1 + extra // passes, "kind": kind}
            found.append(Finding("bank-conflict", "note", site.span, counts=counts, facts=facts))
    return tuple(found)


def _ideal(counters: ArrayCounters, kind: str) -> int:
    """Sectors of the whole launch if each warp's elements lay side by side."""
    requests: int = getattr(counters, f"{kind}_requests")
    asked: int = getattr(counters, f"{kind}_bytes")
    return max(requests, -(-asked // SECTOR_BYTES))
