"""Wording for results that are wrong in a way that has a name, and for those that have none."""

from __future__ import annotations

from grader.diagnosis import source
from grader.diagnosis.dropped_sum import dropped_k_tail
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.figures import values, wrong
from grader.diagnosis.precision import precision_loss
from grader.diagnosis.repeated_sum import repeated_k_tail
from grader.diagnosis.result_patterns import EXCHANGES
from grader.diagnosis.unnamed_result import wrong_result
from grader.diagnosis.wording import Wording, Writer


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
        because="all accesses to an array have to agree on what its first index counts and what its second; "
        "an access with the two exchanged meets another element",
        hints=(
            "what does the first index of each array count, and what the second?",
            f"write beside each access which of row, column and k stands first; compare {where}",
            f"exchange the two indices in the loads of {where}"
            if rule in ("left", "right")
            else f"exchange the two indices of {code}{evidence.on_line()}",
        ),
        all_the_same="on a square, symmetric input it would be right",
    )


def _swapped_operands(evidence: Evidence) -> Wording:
    left, right = evidence.role("left", "the left factor"), evidence.role("right", "the right factor")
    tiles = evidence.text("rule") == "tiles"
    if tiles:
        left, right = f"the tile of {left}", f"the tile of {right}"
    headline = f"the result is the product {right} times {left}, not {left} times {right}"
    return Wording(
        headline=f"in each k-tile {right} is multiplied by {left}, not {left} by {right}"
        if tiles
        else headline,
        primary="the wrong sum is stored here" if tiles else "the factors have changed places",
        seen=(wrong(evidence), values(evidence)),
        because="a product of matrices depends on the order of its factors",
        hints=(
            "which factor does a row of the output take its row from?",
            f"an element needs a row of {left} and a column of {right}",
            f"multiply the row of {left} by the column of {right}, for each k"
            if tiles
            else f"load the row from {left} and the column from {right}{evidence.on_line(', see line ')}",
        ),
    )


def _accumulated_into_output(evidence: Evidence) -> Wording:
    out = evidence.array(evidence.role("out", "the output"))
    atomic = "atomic" in source.text_of(evidence.lines, evidence.finding.primary)
    pointer = f"look for `+=` on {out}{evidence.on_line(', on line ')}"
    action = f"sum in a local variable and store it with `=`{evidence.on_line()}"
    if atomic:
        pointer = f"{evidence.code()}{evidence.on_line()} adds to what is there already"
        action = (
            "let one thread form the whole sum of an element and store it with `=`; where several blocks "
            f"add to one element of {out}, it must be zero before any of them adds, say by an earlier launch"
        )
    return Wording(
        headline=f"the result is added to what {out} held before the launch",
        primary=f"adds to the old value of {out}" if atomic else f"reads the old value of {out}",
        seen=(wrong(evidence), values(evidence)),
        because=f"{out} is not zero when the kernel starts; what it holds then is no part of the result",
        hints=(f"what does {out} hold before the kernel runs?", pointer, action),
        all_the_same="it is right only where the output happens to be zero",
    )


WRITERS: dict[str, Writer] = {
    "dropped-k-tail": dropped_k_tail,
    "repeated-k-tail": repeated_k_tail,
    "transposed-result": _transposed_result,
    "swapped-operands": _swapped_operands,
    "accumulated-into-output": _accumulated_into_output,
    "precision-loss": precision_loss,
    "wrong-result": wrong_result,
}
