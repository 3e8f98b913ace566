"""Wording for sums that lack the products of their last k."""

from __future__ import annotations

import ast

from grader.diagnosis import figures, rounding, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.figures import values, wrong
from grader.diagnosis.grammar import span_of_numbers
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.repair_places import made_here, stored_here, traced
from grader.diagnosis.result_patterns import CUTS, ROUNDED_DOWN, ROUNDED_TO_NEAREST, WHOLE_TILES
from grader.diagnosis.wording import Wording

#: An action that names the number of rounds is done on the loop's own line.
_BEFORE_LINE = {WHOLE_TILES: " on line "}


def dropped_k_tail(evidence: Evidence) -> Wording:
    """Write up which products are lacking, and why where the pattern or the text of the loop tells."""
    runs, loop = figures.runs(evidence, "missing"), _loop(evidence) or traced(evidence)
    missing = figures.told(runs)
    what, action = _known(evidence)
    slot = evidence.slot() or f"every element of {evidence.role('out', 'the output')}"
    lacks = f"the products for k = {missing}" if missing else "the last products of its sum"
    return Wording(
        headline=f"{slot} lacks {lacks}",
        primary=made_here(evidence) if traced(evidence) else what,
        secondary=stored_here(evidence, secondary=True)
        if traced(evidence)
        else "the number of rounds comes from here",
        seen=(wrong(evidence), f"missing: k = {missing}" if missing else "", values(evidence)),
        because=f"{what}; an element of the product is the sum over every k below K",
        hints=(
            "for which values of k is a product added?",
            f"work out by hand how often the loop over the k-tiles{evidence.on_line()} runs on this shape"
            if _loop(evidence)
            else "work out by hand for which k the kernel loads and multiplies a tile on this shape",
            action + (evidence.on_line(_BEFORE_LINE.get(action, ": see line ")) if loop else ""),
        ),
        picture=figures.k_picture(evidence, runs, "missing"),
        why_passed=whole_tiles(["K"], evidence.context.settings, "there the last tile is full")
        if evidence.text("cut") == "full-tiles"
        else None,
    )


def _loop(evidence: Evidence) -> bool:
    """Whether the place is a loop's head; without the text, as far as is known."""
    owner = source.test_owner(evidence.lines, evidence.finding.primary)
    return not evidence.lines or isinstance(owner, ast.For | ast.While)


def _known(evidence: Evidence) -> tuple[str, str]:
    """What is left out, and what to do about it."""
    cut = evidence.text("cut")
    if cut != "full-tiles" or not evidence.lines:
        what, action = CUTS.get(cut, (_cut(evidence), "let the loop over k cover 0..K-1"))
        endless = action == WHOLE_TILES and _tests_nothing(evidence)
        return what, "let every k below K come into the sum" if endless else action
    rounded = rounding.of_loop(evidence.lines, evidence.finding.primary)
    if rounded:
        return (ROUNDED_DOWN if rounded == "down" else ROUNDED_TO_NEAREST), WHOLE_TILES
    return _cut(evidence), "let the last k-tile, which is only partly full, come into the sum too"


def _tests_nothing(evidence: Evidence) -> bool:
    owner = source.test_owner(evidence.lines, evidence.finding.primary)
    return isinstance(owner, ast.While) and isinstance(owner.test, ast.Constant)


def _cut(evidence: Evidence) -> str:
    """Which part of the sum is missing, as the range of k shows."""
    first, last, size = (evidence.count(key) for key in ("first", "last", "size"))
    known = first is not None and last is not None and size is not None
    if not known or last >= size - 1 > 0 < first:  # type: ignore[operator]
        if evidence.text("cut") == "full-tiles":
            return "on this shape the last tile of k, which is only partly full, is left out"
        if not known or _loop(evidence):
            return "the loop over k ends too early"
    assert first is not None
    assert last is not None
    assert size is not None
    where = figures.where_in_sum([(first, last)], size, ()) or "some of the sum"
    at = f"k = {span_of_numbers(first, last)}, {where}, is left out"
    return f"the loop over k starts too late: {at}" if first == 0 and last < size - 1 else at
