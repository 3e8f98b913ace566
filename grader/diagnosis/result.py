"""Wording for results that are wrong in a way that has a name, and for those that have none."""

from __future__ import annotations

import math

from grader.diagnosis import grammar, picture
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import number, part, quote, span_of_numbers
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.result_patterns import CUTS, EXCHANGES, PATTERNS, PRECISIONS
from grader.diagnosis.wording import Wording, Writer


def _wrong(evidence: Evidence) -> str:
    """How many elements are wrong by the finding's own count, else by the shape's."""
    wrong, elements = evidence.count("wrong"), evidence.count("elements")
    if wrong is None:
        return evidence.at_shape()
    return grammar.sentence(evidence.shape(), f"{part(wrong, elements, 'element')} wrong", joiner=": ")


def _values(evidence: Evidence) -> str:
    """What one element is and what it should be, or nothing."""
    got, expected = evidence.number("got"), evidence.number("expected")
    if got is None or expected is None:
        return ""
    return f"{evidence.slot_or('the first wrong element')} is {_value(got)} and should be {_value(expected)}"


def _value(value: float) -> str:
    return number(value) if math.isfinite(value) and value == int(value) else f"{value:.7g}"


def _range(evidence: Evidence) -> str:
    first, last = evidence.count("first"), evidence.count("last")
    return span_of_numbers(first, last) if first is not None and last is not None else ""


def _k_picture(evidence: Evidence, marked: str) -> tuple[str, ...]:
    size, first, last = (evidence.count(key) for key in ("size", "first", "last"))
    return picture.k_range(size, first, last, evidence.context.settings.get("TILE"), marked)


def _dropped_k_tail(evidence: Evidence) -> Wording:
    missing = _range(evidence)
    what, action = CUTS.get(
        evidence.text("cut"), ("the loop over k ends too early", "let the loop over k cover 0..K-1")
    )
    slot = evidence.slot() or f"every element of {evidence.role('out', 'the output')}"
    lacks = f"the products for k = {missing}" if missing else "the last products of its sum"
    return Wording(
        headline=f"{slot} lacks {lacks}",
        primary=what,
        secondary="the number of rounds comes from here",
        seen=(_wrong(evidence), f"missing: k = {missing}" if missing else "", _values(evidence)),
        because=f"{what}; an element of the product is the sum over every k below K",
        hints=(
            "for which values of k is a product added?",
            f"work out by hand how often the loop over the k-tiles{evidence.on_line()} runs on this shape",
            f"{action}{evidence.on_line(' on line ')}",
        ),
        picture=_k_picture(evidence, "missing"),
        why_passed=whole_tiles(["K"], evidence.context.settings, "there the last tile is full")
        if evidence.text("cut") == "full-tiles"
        else None,
    )


def _repeated_k_tail(evidence: Evidence) -> Wording:
    doubled = _range(evidence)
    slot = evidence.slot() or f"every element of {evidence.role('out', 'the output')}"
    times = evidence.count("times") or 2
    often = "twice" if times == 2 else f"{times} times"
    products = f"the products for k = {doubled}" if doubled else "some products"
    return Wording(
        headline=f"{slot} adds {products} {often}",
        primary="these products are added more than once",
        seen=(_wrong(evidence), f"added {often}: k = {doubled}" if doubled else "", _values(evidence)),
        because="every product belongs into the sum once; a tile that is not refilled, or a round too many, "
        "adds some of them again",
        hints=(
            "what do the shared tiles hold in the last round?",
            "compare the k of each slot in the last round with the k that the sum still needs",
            f"refill every slot in every round, with `0.0` past K, and run one round for each "
            f"k-tile{evidence.on_line(': see line ')}",
        ),
        picture=_k_picture(evidence, f"added {often}"),
        why_passed=whole_tiles(["K"], evidence.context.settings, "there no tile is left partly filled"),
    )


def _transposed_result(evidence: Evidence) -> Wording:
    out, code = evidence.role("out", "the output"), evidence.code("the access")
    rule = evidence.text("rule")
    left, right = evidence.role("left", "the left factor"), evidence.role("right", "the right factor")
    known = EXCHANGES.get(rule, "{out} holds the transpose of the right result")
    where = {"left": left, "right": right}.get(rule, code)
    return Wording(
        headline=known.format(out=out, left=left, right=right, code=code),
        primary="the two indices have changed places"
        if rule not in ("left", "right")
        else "the wrong sum is stored here",
        seen=(_wrong(evidence), _values(evidence)),
        because="the first index of an array is its row and the second its column; "
        "a thread's row comes from the y axis, its column from the x axis",
        hints=(
            "which index of each array is the row?",
            f"write beside each access which of row, column and k stands first; compare {where}",
            f"exchange the two indices in the loads of {where}"
            if rule in ("left", "right")
            else f"exchange the two indices of {code}{evidence.on_line()}",
        ),
        all_the_same="on a square, symmetric input it would be right",
    )


def _swapped_operands(evidence: Evidence) -> Wording:
    left, right = evidence.role("left", "the left factor"), evidence.role("right", "the right factor")
    return Wording(
        headline=f"the result is the product {right} times {left}, not {left} times {right}",
        primary="the factors have changed places",
        seen=(_wrong(evidence), _values(evidence)),
        because="a product of matrices depends on the order of its factors",
        hints=(
            "which factor does a row of the output take its row from?",
            f"an element needs a row of {left} and a column of {right}",
            f"load the row from {left} and the column from {right}{evidence.on_line(', see line ')}",
        ),
    )


def _accumulated_into_output(evidence: Evidence) -> Wording:
    out = evidence.array(evidence.role("out", "the output"))
    return Wording(
        headline=f"the result is added to what {out} held before the launch",
        primary=f"reads the old value of {out}",
        seen=(_wrong(evidence), _values(evidence)),
        because=f"{out} is not zero when the kernel starts; what it holds then is no part of the result",
        hints=(
            f"what does {out} hold before the kernel runs?",
            f"look for `+=` on {out}{evidence.on_line(', on line ')}",
            f"sum in a local variable and store it with `=`{evidence.on_line()}",
        ),
        all_the_same="it is right only where the output happens to be zero",
    )


def _precision_loss(evidence: Evidence) -> Wording:
    from_type, to_type = evidence.text("from_type"), evidence.text("to_type")
    code, threads = evidence.code("a store"), evidence.count("threads")
    lost = "fractions" if to_type.startswith(("int", "uint")) else "digits"
    types = f"{from_type or 'a wider type'} becomes {to_type or 'a narrower one'}"
    known = PRECISIONS.get(evidence.text("rule"))
    array = evidence.array()
    error = evidence.number("relative_error")
    return Wording(
        headline=f"{known[0]}: {known[1]}" if known else f"{code} loses {lost}: {types}",
        primary="the result is stored here" if known else types,
        secondary=f"declared {to_type} here" if to_type else "its type comes from here",
        seen=(
            evidence.at_shape(),
            f"{grammar.plural(threads, 'thread stores', 'threads store')} such a value" if threads else "",
            f"greatest relative error {error:.1e}" if error is not None else "",
            _values(evidence),
        ),
        because="a store converts the value to the type of the array: "
        "an integer array keeps whole numbers only, float16 about three digits",
        hints=(
            "what type has each array on the way from the inputs to the output?",
            "look at the type of every shared and local array, and at every conversion"
            if known
            else f"look where the type of {array} is set{evidence.on_other_line(', on line ')}",
            "make every array and every sum on the way float32"
            if known
            else f"give {array} the type {quote(from_type) or 'of the values stored in it'}"
            f"{evidence.on_other_line(' on line ')}",
        ),
        all_the_same="whole numbers survive it, other values do not",
    )


def _wrong_result(evidence: Evidence) -> Wording:
    out = evidence.array(evidence.role("out", "the output"))
    element = evidence.slot() or "the first wrong element"
    many, wrong = _how_many(evidence)
    (pattern, cure), products = PATTERNS.get(evidence.text("rule"), ("", "")), _products(evidence)
    error, tolerance = evidence.number("relative_error"), evidence.number("tolerance")
    traced = bool(evidence.text("suspect"))
    judged = f"relative error {error:.1e}" if error is not None else ""
    allowed = f"allowed {tolerance:.1e}" if tolerance is not None else ""
    return Wording(
        headline=pattern or f"{many} of {out} {'is' if wrong == 1 else 'are'} wrong" + products,
        primary="changed here alone, every shape is right" if traced else "the wrong values are stored here",
        secondary="the wrong values are stored here" if traced else "",
        seen=(_wrong(evidence), _values(evidence), grammar.sentence(judged, allowed)),
        because="an element is the sum of one product for each k below K, of its own row and its own column"
        if traced
        else "so much the values show; which line is the cause they do not show"
        if pattern or products
        else "no known pattern fits the wrong values: they are neither a sum cut short, nor a transpose, "
        "nor exchanged factors, nor one added to the old output. The cause is not known",
        hints=(
            f"can you work out {element} by hand and compare?",
            f"what does{evidence.on_line(' line ')} give the thread that owns that element?"
            if traced
            else "take the smallest failing shape, and follow the thread that owns that element",
            cure or f"change{evidence.on_line(' line ')}"
            if traced
            else cure
            or f"check the indices of every load and store that lead to {element}"
            f"{evidence.on_line(', stored on line ')}",
        ),
    )


def _how_many(evidence: Evidence) -> tuple[str, int | None]:
    wrong, elements = evidence.count("wrong"), evidence.count("elements")
    shape = evidence.context.seen_on
    if wrong is None and shape is not None and shape.wrong:
        wrong, elements = shape.wrong, shape.elements or None
    return (part(wrong, elements, "element") if wrong is not None else "some elements"), wrong


def _products(evidence: Evidence) -> str:
    """Which products the element lacks or has too often, as counted, or nothing."""
    if evidence.flag("misplaced"):
        return ": every product is added once, but of a wrong row or column"
    missing, repeated = evidence.ranges("missing"), evidence.ranges("repeated")
    lacks = f"{evidence.slot() or 'an element'} lacks k = {missing}" if missing else ""
    twice = f"{'' if missing else evidence.slot() or 'an element'} has k = {repeated} too often".strip()
    return (": " if missing or repeated else "") + grammar.sentence(lacks, twice if repeated else "")


WRITERS: dict[str, Writer] = {
    "dropped-k-tail": _dropped_k_tail,
    "repeated-k-tail": _repeated_k_tail,
    "transposed-result": _transposed_result,
    "swapped-operands": _swapped_operands,
    "accumulated-into-output": _accumulated_into_output,
    "precision-loss": _precision_loss,
    "wrong-result": _wrong_result,
}
