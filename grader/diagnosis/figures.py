"""The figures of a wrong result: how many elements, what one of them is, and which products it lacks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.diagnosis import grammar, picture
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import number, part

Ranges = Sequence[tuple[int, int]]


def of_this_shape(evidence: Evidence) -> bool:
    """Whether the finding's own figures were counted on the shape that the message names."""
    shape, own = evidence.context.seen_on, dict(evidence.pairs("shape"))
    elements = evidence.count("elements")
    if shape is None:
        return True
    if own and own != dict(shape.dims):
        return False
    return elements is None or not shape.elements or elements == shape.elements


def wrong(evidence: Evidence) -> str:
    """How many elements are wrong by the finding's own count, else by the shape's."""
    many, elements = evidence.count("wrong"), evidence.count("elements")
    if many is None or not of_this_shape(evidence):
        return evidence.at_shape()
    return grammar.sentence(evidence.shape(), f"{part(many, elements, 'element')} wrong", joiner=": ")


def values(evidence: Evidence) -> str:
    """What one element is and what it should be, or nothing."""
    got, expected = evidence.number("got"), evidence.number("expected")
    if got is None or expected is None or not of_this_shape(evidence):
        return ""
    return f"{evidence.slot_or('the first wrong element')} is {_value(got)} and should be {_value(expected)}"


def _value(value: float) -> str:
    return number(value) if math.isfinite(value) and value == int(value) else f"{value:.7g}"


def runs(evidence: Evidence, key: str) -> tuple[tuple[int, int], ...]:
    """The runs of k that were counted, else the one that the pattern of the values tells."""
    first, last = evidence.count("first"), evidence.count("last")
    single = ((first, last),) if first is not None and last is not None else ()
    return evidence.range_pairs(key) or single


def told(ranges: Ranges) -> str:
    """Ranges of k in a sentence: 0..3, 8..11."""
    return ", ".join(grammar.span_of_numbers(first, last) for first, last in ranges)


def k_picture(evidence: Evidence, ranges: tuple[tuple[int, int], ...], marked: str) -> tuple[str, ...]:
    """A bar of all k with these ranges marked."""
    return picture.k_range(evidence.count("size"), ranges, evidence.context.settings.get("TILE"), marked)


def where_in_sum(ranges: Ranges, depth: int | None, tiles: Sequence[int]) -> str:
    """Where ranges of k lie: at the start or the end of the sum, or of each tile; else nothing.

    ``depth`` is K. ``tiles`` are the widths that a tile may have.
    """
    if not ranges:
        return ""
    if len(ranges) == 1:
        (first, last), end = ranges[0], None if depth is None else depth - 1
        if first == 0:
            return "all of the sum" if last == end else "the start of the sum"
        return "the end of the sum" if last == end else ""
    for tile in tiles:
        if all(first % tile == 0 and last < first + tile - 1 for first, last in ranges):
            return "the start of each tile"
        if all(last % tile == tile - 1 and last - tile + 1 < first for first, last in ranges):
            return "the end of each full tile"
    return ""


def tile_widths(evidence: Evidence) -> list[int]:
    """The constants of the submission that may be a tile's width."""
    return [value for value in evidence.context.settings.values() if value > 1]


def depth_of(evidence: Evidence) -> int | None:
    """How many products a sum has: the finding's own count, else the size named K."""
    shape = evidence.context.seen_on
    return evidence.count("size") or (shape.dims.get("K") if shape is not None else None)
