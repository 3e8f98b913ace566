"""Wording for sums that lack the products of their last k."""

from __future__ import annotations

import ast

from grader.diagnosis import figures, rounding, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.figures import values, wrong
from grader.diagnosis.grammar import quote, span_of_numbers
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.repair_places import made_here, stored_here, traced
from grader.diagnosis.result_patterns import CUTS, ROUNDED_DOWN, ROUNDED_TO_NEAREST, WHOLE_TILES
from grader.diagnosis.wording import Wording

#: An action that names the number of rounds is done on the loop's own line.
_BEFORE_LINE = {WHOLE_TILES: " on line "}

#: What to do at the place of a trial repair, by its kind.
_AT_PLACE = {
    "guard": "give each load a test of its own array's bounds alone",
    "rebinding": "let the name keep the value that it had",
}
_EVERY_K = "let every k below K come into the sum"


def dropped_k_tail(evidence: Evidence) -> Wording:
    """Write up which products are lacking, and why where the pattern or the text of the loop tells."""
    runs = figures.runs(evidence, "missing")
    missing = figures.told(runs)
    what, action = _known(evidence)
    slot = evidence.slot() or f"every element of {evidence.role('out', 'the output')}"
    lacks = f"the products for k = {missing}" if missing else "the last products of its sum"
    kept = _kept_out(evidence)
    placed = _loop(evidence) or traced(evidence) or evidence.flag("inside")
    return Wording(
        headline=f"{slot} lacks {lacks}",
        primary=_label(evidence, what),
        secondary=_other_label(evidence),
        seen=(
            wrong(evidence),
            f"missing: k = {missing}" if missing else "",
            f"no thread loads {kept}" if kept else "",
            values(evidence),
        ),
        because=f"{what}; an element of the product is the sum over every k below K",
        hints=(
            "for which values of k is a product added?",
            _pointer(evidence),
            action + (evidence.on_line(_BEFORE_LINE.get(action, ": see line ")) if placed else ""),
        ),
        picture=figures.k_picture(evidence, runs, "missing"),
        why_passed=whole_tiles(["K"], evidence.context.settings, "there the last tile is full")
        if evidence.text("cut") == "full-tiles"
        else None,
    )


def _label(evidence: Evidence, what: str) -> str:
    if traced(evidence):
        return made_here(evidence)
    if not evidence.flag("inside"):
        return what
    kept = _kept_out(evidence)
    return f"this keeps {kept} from being loaded" if kept else stored_here(evidence)


def _other_label(evidence: Evidence) -> str:
    if not traced(evidence):
        return "the number of rounds comes from here"
    same = evidence.finding.secondary == evidence.finding.primary
    return "" if same else stored_here(evidence, secondary=True)


def _pointer(evidence: Evidence) -> str:
    kept = _kept_out(evidence)
    if kept and not traced(evidence):
        return f"which thread should load {kept}, and is the test{evidence.on_line()} true for it?"
    if evidence.text("suspect") == "rebinding":
        return f"what does the name hold before{evidence.on_line(' line ')}, and what does it hold there?"
    if not _loop(evidence):
        return "work out by hand for which k the kernel loads and multiplies a tile on this shape"
    if traced(evidence) or evidence.flag("inside"):
        return f"for which k does the loop{evidence.on_line()} add a product?"
    return f"work out by hand how often the loop over the k-tiles{evidence.on_line()} runs on this shape"


def _kept_out(evidence: Evidence) -> str:
    """The factor of the last product that is lacking, where it is never loaded, quoted; or nothing."""
    array, slot, runs = evidence.text("kept_out"), evidence.finding.slot, figures.runs(evidence, "missing")
    if not array or slot is None or len(slot.index) != 2 or not runs:
        return ""
    k, (row, column) = runs[-1][1], slot.index
    index = (row, k) if array == evidence.context.names.get("left") else (k, column)
    return quote(f"{array}[{index[0]}, {index[1]}]")


def _loop(evidence: Evidence) -> bool:
    """Whether the place is a loop's head; without the text, as far as is known."""
    owner = source.test_owner(evidence.lines, evidence.finding.primary)
    return not evidence.lines or isinstance(owner, ast.For | ast.While)


def _known(evidence: Evidence) -> tuple[str, str]:
    """What is left out, and what to do about it."""
    cut = evidence.text("cut")
    if traced(evidence):
        return CUTS.get(cut, (_left_out(evidence), ""))[0], _AT_PLACE.get(evidence.text("suspect"), _EVERY_K)
    if evidence.flag("inside"):
        return f"{_left_out(evidence)}, though the loop over k does come to it", _EVERY_K
    if cut != "full-tiles" or not evidence.lines:
        what, action = CUTS.get(cut, (_cut(evidence), "let the loop over k cover 0..K-1"))
        endless = action == WHOLE_TILES and _tests_nothing(evidence)
        return what, _EVERY_K if endless else action
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
    at = _left_out(evidence)
    return f"the loop over k starts too late: {at}" if first == 0 and last < size - 1 else at  # type: ignore[operator]


def _left_out(evidence: Evidence) -> str:
    """Which part of the sum is missing, with no word of why."""
    first, last, size = (evidence.count(key) for key in ("first", "last", "size"))
    if first is None or last is None or size is None:
        return "the end of the sum is left out"
    where = figures.where_in_sum([(first, last)], size, ()) or "some of the sum"
    return f"k = {span_of_numbers(first, last)}, {where}, is left out"
