"""Wording for digits and fractions lost on the way from the inputs to the output."""

from __future__ import annotations

from grader.diagnosis import figures, grammar, repair_places
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import quote
from grader.diagnosis.result_patterns import PRECISIONS
from grader.diagnosis.wording import Wording


def precision_loss(evidence: Evidence) -> Wording:
    """Write up a store that narrows its values, or a result whose digits tell that something did."""
    known = PRECISIONS.get(evidence.text("rule"), "")
    traced = repair_places.traced(evidence)
    if not known and not traced:
        return _narrowing_store(evidence)
    return Wording(
        headline=_lost_here(evidence) or known or f"digits are lost on the way{evidence.on_line()}",
        primary=repair_places.made_here(evidence) if traced else "the result is stored here",
        secondary="the result is stored here",
        seen=_seen(evidence),
        because="an integer keeps whole numbers only, and float16 about three digits; "
        "what a conversion cuts off does not come back",
        hints=(
            "what type has each value on the way from the inputs to the output?",
            f"look at {evidence.code()}{evidence.on_line()}"
            if traced
            else "look at the type of every shared and local array, and at every conversion",
            f"keep the values float32{evidence.on_line()}"
            if traced
            else "make every array and every sum on the way float32",
        ),
        all_the_same="whole numbers survive it, other values do not",
    )


def _lost_here(evidence: Evidence) -> str:
    """What loses the digits, where a trial repair showed it; else nothing."""
    kind, code = evidence.text("suspect"), evidence.code("")
    name = code.strip("`").split("(")[0].rpartition(".")[2].strip()
    whole = name.startswith(("int", "uint", "round", "bool"))
    lost = "the fractions are" if whole else "digits are"
    if kind == "conversion" and code:
        return f"{lost} cut off by {code}"
    if kind == "type" and code:
        return f"{lost} lost in an array of type {code}"
    return ""


def _seen(evidence: Evidence) -> tuple[str, ...]:
    threads, error = evidence.count("threads"), evidence.number("relative_error")
    return (
        evidence.at_shape(),
        f"{grammar.plural(threads, 'thread stores', 'threads store')} such a value" if threads else "",
        f"greatest relative error {error:.1e}" if error is not None else "",
        figures.values(evidence),
    )


def _narrowing_store(evidence: Evidence) -> Wording:
    from_type, to_type = evidence.text("from_type"), evidence.text("to_type")
    lost = "fractions" if to_type.startswith(("int", "uint")) else "digits"
    types = f"{from_type or 'a wider type'} becomes {to_type or 'a narrower one'}"
    array = evidence.array()
    return Wording(
        headline=f"{evidence.code('a store')} loses {lost}: {types}",
        primary=types,
        secondary=f"declared {to_type} here" if to_type else "its type comes from here",
        seen=_seen(evidence),
        because="a store converts the value to the type of the array: "
        "an integer array keeps whole numbers only, float16 about three digits",
        hints=(
            "what type has each array on the way from the inputs to the output?",
            f"look where the type of {array} is set{evidence.on_other_line(', on line ')}",
            f"give {array} the type {quote(from_type) or 'of the values stored in it'}"
            f"{evidence.on_other_line(' on line ')}",
        ),
        all_the_same="whole numbers survive it, other values do not",
    )
