"""Wording for results that are wrong in a way that has a name, and for those that have none."""

from __future__ import annotations

from grader.diagnosis import figures, picture
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.figures import values, wrong
from grader.diagnosis.grammar import span_of_numbers
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.precision import precision_loss
from grader.diagnosis.repair_places import made_here, stored_here, traced
from grader.diagnosis.result_patterns import CUTS, EXCHANGES
from grader.diagnosis.unnamed_result import wrong_result
from grader.diagnosis.wording import Wording, Writer


def _runs(evidence: Evidence, key: str) -> tuple[tuple[int, int], ...]:
    """The runs of k that were counted, else the one that the pattern of the values tells."""
    first, last = evidence.count("first"), evidence.count("last")
    single = ((first, last),) if first is not None and last is not None else ()
    return evidence.range_pairs(key) or single


def _told(runs: tuple[tuple[int, int], ...]) -> str:
    return ", ".join(span_of_numbers(first, last) for first, last in runs)


def _k_picture(evidence: Evidence, runs: tuple[tuple[int, int], ...], marked: str) -> tuple[str, ...]:
    return picture.k_range(evidence.count("size"), runs, evidence.context.settings.get("TILE"), marked)


def _cut(evidence: Evidence) -> str:
    """Which part of the sum is missing, as the range of k shows."""
    first, last, size = (evidence.count(key) for key in ("first", "last", "size"))
    if first is None or last is None or size is None or last >= size - 1 > 0 < first:
        return "the loop over k ends too early"
    where = figures.where_in_sum([(first, last)], size, ()) or "some of the sum"
    at = f"k = {span_of_numbers(first, last)}, {where}, is left out"
    return f"the loop over k starts too late: {at}" if first == 0 and last < size - 1 else at


def _dropped_k_tail(evidence: Evidence) -> Wording:
    runs = _runs(evidence, "missing")
    missing = _told(runs)
    what, action = CUTS.get(evidence.text("cut"), (_cut(evidence), "let the loop over k cover 0..K-1"))
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
            f"work out by hand how often the loop over the k-tiles{evidence.on_line()} runs on this shape",
            f"{action}{evidence.on_line(' on line ')}",
        ),
        picture=_k_picture(evidence, runs, "missing"),
        why_passed=whole_tiles(["K"], evidence.context.settings, "there the last tile is full")
        if evidence.text("cut") == "full-tiles"
        else None,
    )


def _repeated_k_tail(evidence: Evidence) -> Wording:
    runs = _runs(evidence, "repeated")
    doubled, depth = _told(runs), evidence.count("size")
    slot = evidence.slot() or f"every element of {evidence.role('out', 'the output')}"
    times = evidence.count("times") or 2
    often = "twice" if times == 2 else f"{times} times"
    products = f"the products for k = {doubled}" if doubled else "some products"
    # One part of the sum comes again where a tile is used again; all of it, or bits of each tile, do not.
    tail = len(runs) < 2 and not (depth and runs == ((0, depth - 1),)) and not traced(evidence)
    place = "these products are added more than once" if tail else "the sum is formed in this loop"
    return Wording(
        headline=f"{slot} adds {products} {often}",
        primary=made_here(evidence) if traced(evidence) else place,
        secondary=stored_here(evidence, secondary=True) if traced(evidence) else "",
        seen=(wrong(evidence), f"added {often}: k = {doubled}" if doubled else "", values(evidence)),
        because="every product belongs into the sum once"
        + ("; a tile that is not refilled, or a round too many, adds some of them again" if tail else ""),
        hints=_tail_hints(evidence) if tail else _again_hints(evidence),
        picture=_k_picture(evidence, runs, f"added {often}"),
        why_passed=whole_tiles(["K"], evidence.context.settings, "there no tile is left partly filled")
        if tail
        else None,
    )


def _tail_hints(evidence: Evidence) -> tuple[str, str, str]:
    return (
        "what do the shared tiles hold in the last round?",
        "compare the k of each slot in the last round with the k that the sum still needs",
        f"refill every slot in every round, with `0.0` past K, and run one round for each "
        f"k-tile{evidence.on_line(': see line ')}",
    )


def _again_hints(evidence: Evidence) -> tuple[str, str, str]:
    return (
        "which statements add a product to the sum, and how often does each of them run?",
        f"for which k{evidence.on_line(' does line ')} add a product that is in the sum already?"
        if traced(evidence)
        else f"follow one element through{evidence.on_line(' the loop on line ')}, and count its products",
        f"let the sum get the product of each k once{evidence.on_line(': see line ')}",
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
        seen=(wrong(evidence), values(evidence)),
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
        seen=(wrong(evidence), values(evidence)),
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
        seen=(wrong(evidence), values(evidence)),
        because=f"{out} is not zero when the kernel starts; what it holds then is no part of the result",
        hints=(
            f"what does {out} hold before the kernel runs?",
            f"look for `+=` on {out}{evidence.on_line(', on line ')}",
            f"sum in a local variable and store it with `=`{evidence.on_line()}",
        ),
        all_the_same="it is right only where the output happens to be zero",
    )


WRITERS: dict[str, Writer] = {
    "dropped-k-tail": _dropped_k_tail,
    "repeated-k-tail": _repeated_k_tail,
    "transposed-result": _transposed_result,
    "swapped-operands": _swapped_operands,
    "accumulated-into-output": _accumulated_into_output,
    "precision-loss": precision_loss,
    "wrong-result": wrong_result,
}
