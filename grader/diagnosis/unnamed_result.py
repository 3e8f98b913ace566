"""Wording for a wrong result that has no name of its own, with what was counted and tried about it."""

from __future__ import annotations

from grader.diagnosis import figures, grammar, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.figures import values, where_in_sum, wrong
from grader.diagnosis.grammar import part
from grader.diagnosis.repair_places import made_here, stored_here, traced
from grader.diagnosis.result_patterns import PATTERNS
from grader.diagnosis.wording import Wording

_OWN_PRODUCTS = "an element is the sum of one product for each k below K, of its own row and its own column"


def wrong_result(evidence: Evidence) -> Wording:
    """Write up wrong values: their pattern, the products they lack, and the line where that is known."""
    out = evidence.array(evidence.role("out", "the output"))
    many, wrong_ones = _how_many(evidence)
    (pattern, _), products = PATTERNS.get(evidence.text("rule"), ("", "")), _products(evidence)
    error, tolerance = evidence.number("relative_error"), evidence.number("tolerance")
    judged = f"relative error {error:.1e}" if error is not None else ""
    allowed = f"allowed {tolerance:.1e}" if tolerance is not None else ""
    return Wording(
        headline=pattern or f"{many} of {out} {'is' if wrong_ones == 1 else 'are'} wrong" + products,
        primary=made_here(evidence) if traced(evidence) else stored_here(evidence),
        secondary=stored_here(evidence, secondary=True) if evidence.finding.secondary is not None else "",
        seen=(wrong(evidence), values(evidence), grammar.sentence(judged, allowed)),
        because=_because(evidence, bool(pattern or products)),
        hints=_hints(evidence),
    )


def _because(evidence: Evidence, understood: bool) -> str:
    if traced(evidence) or evidence.context.confirmed is not None:
        return _OWN_PRODUCTS
    if understood:
        return "so much the values show; which line is the cause they do not show"
    return "no pattern that the grader knows fits the wrong values, so the cause is not known"


def _hints(evidence: Evidence) -> tuple[str, str, str]:
    element = evidence.slot() or "the first wrong element"
    cure = PATTERNS.get(evidence.text("rule"), ("", ""))[1]
    question = f"can you work out {element} by hand and compare?"
    if traced(evidence):
        pointer = f"what does{evidence.on_line(' line ')} give the thread that owns that element?"
        if evidence.text("suspect") in ("range", "step"):
            pointer = f"for which k does the loop{evidence.on_line()} add a product?"
        return question, pointer, cure or f"change{evidence.on_line(' line ')}"
    if evidence.lines and source.test_owner(evidence.lines, evidence.finding.primary) is not None:
        pointer = f"for which k does the loop{evidence.on_line()} add a product?"
        action = f"let the loop{evidence.on_line()} come to every k below K, with the factors of that k"
        return question, pointer, cure or action
    is_store = not evidence.lines or source.is_store(evidence.lines, evidence.finding.primary)
    stored = evidence.on_line(", stored on line ") if is_store else ""
    check = f"check the indices of every load and store that lead to {element}{stored}"
    return (
        question,
        "take the smallest failing shape, and follow the thread that owns that element",
        cure or check,
    )


def _how_many(evidence: Evidence) -> tuple[str, int | None]:
    count, elements = evidence.count("wrong"), evidence.count("elements")
    shape = evidence.context.seen_on
    if shape is not None and shape.wrong and (count is None or not figures.of_this_shape(evidence)):
        count, elements = shape.wrong, shape.elements or None
    return (part(count, elements, "element") if count is not None else "some elements"), count


def _products(evidence: Evidence) -> str:
    """Which products the element lacks or has too often, as counted, or nothing."""
    if evidence.flag("misplaced"):
        return ": every product is added once, but of a wrong row or column"
    missing, repeated = evidence.ranges("missing"), evidence.ranges("repeated")
    where = where_in_sum(
        evidence.range_pairs("missing"), figures.depth_of(evidence), figures.tile_widths(evidence)
    )
    lacks = f"{evidence.slot() or 'an element'} lacks k = {missing}" if missing else ""
    lacks += f", {where}" if lacks and where else ""
    twice = f"{'' if missing else evidence.slot() or 'an element'} has k = {repeated} too often".strip()
    return (": " if missing or repeated else "") + grammar.sentence(lacks, twice if repeated else "")
