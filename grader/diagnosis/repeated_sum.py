"""Wording for sums that hold some of their products more than once."""

from __future__ import annotations

from grader.diagnosis import figures, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.figures import values, wrong
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.repair_places import made_here, stored_here, traced
from grader.diagnosis.wording import Wording

#: Patterns of values that a tile leaves which is used once more than it is filled.
_USED_AGAIN = frozenset({"stale-tile", "last-tile-twice"})


def repeated_k_tail(evidence: Evidence) -> Wording:
    """Write up which products come again, and how often where that is one number for all of them."""
    runs = figures.runs(evidence, "repeated")
    doubled, often = figures.told(runs), _often(evidence)
    slot = evidence.slot() or f"every element of {evidence.role('out', 'the output')}"
    products = f"the products for k = {doubled}" if doubled else "some products"
    again = _used_again(evidence, runs)
    place = "the sum is formed in this loop" if _is_loop(evidence) else "the wrong sum is stored here"
    return Wording(
        headline=f"{slot} adds {products} {often}",
        primary=made_here(evidence)
        if traced(evidence)
        else "these products are added more than once"
        if again
        else place,
        secondary=stored_here(evidence, secondary=True) if traced(evidence) else "",
        seen=(wrong(evidence), f"added {often}: k = {doubled}" if doubled else "", values(evidence)),
        because="every product belongs into the sum once"
        + ("; a tile that is not refilled, or a round too many, adds some of them again" if again else ""),
        hints=_tail_hints(evidence) if again else _again_hints(evidence),
        picture=figures.k_picture(evidence, runs, f"added {often}"),
        why_passed=whole_tiles(["K"], evidence.context.settings, "there no tile is left partly filled")
        if again
        else None,
    )


def _often(evidence: Evidence) -> str:
    counted, times = evidence.numbers("often"), evidence.count("times") or 2
    if len(counted) > 1:
        return "more than once"
    return "twice" if times == 2 else f"{times} times"


def _used_again(evidence: Evidence, runs: tuple[tuple[int, int], ...]) -> bool:
    """Whether the products that come again are those of one tile at the end, each of them twice.

    Where more of them come again, or some of them more often, no slot need be stale: a sum that is
    not begun anew, say, is added in every round.
    """
    depth, first = evidence.count("size"), evidence.count("first")
    if traced(evidence) or len(runs) > 1 or len(evidence.numbers("often")) > 1:
        return False
    if not depth or first is None or not runs:
        return evidence.text("rule") in _USED_AGAIN
    width = runs[0][1] - runs[0][0] + 1
    tiles = figures.tile_widths(evidence)
    at_the_end = any(runs[0][0] >= depth - tile and width <= tile for tile in tiles) and width < depth
    return at_the_end and (evidence.count("times") or 2) == 2


def _is_loop(evidence: Evidence) -> bool:
    return source.test_owner(evidence.lines, evidence.finding.primary) is not None


def _tail_hints(evidence: Evidence) -> tuple[str, str, str]:
    return (
        "what do the shared tiles hold in the last round?",
        "compare the k of each slot in the last round with the k that the sum still needs",
        f"refill every slot in every round, with `0.0` past K, and run one round for each "
        f"k-tile{evidence.on_line(': see line ')}",
    )


def _again_hints(evidence: Evidence) -> tuple[str, str, str]:
    follow = f"{evidence.on_line(' the loop on line ')}" if _is_loop(evidence) else " the kernel"
    return (
        "which statements add a product to the sum, and how often does each of them run?",
        f"for which k{evidence.on_line(' does line ')} add a product that is in the sum already?"
        if traced(evidence)
        else f"follow one element through{follow}, and count its products",
        f"let the sum get the product of each k once{evidence.on_line(': see line ')}",
    )
