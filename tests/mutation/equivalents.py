"""Why the mutants that no oracle can tell from a correct kernel are equivalent, by what was changed."""

from __future__ import annotations

from tests.mutation.mutant import Mutant

#: (operator, text in what was changed or "", reason); the first that fits counts.
REASONS = (
    (
        "move barrier",
        "in_dot",
        "a barrier before or after each product still stands between loads and products",
    ),
    ("move barrier", "", "at the start of a round, or once a round, it still separates the same accesses"),
    ("duplicate barrier", "", "a second barrier at the same place orders nothing more"),
    (
        "barrier under a condition",
        "K > TILE",
        "with a single k-tile there is no next tile to overwrite this one",
    ),
    ("return before barriers", " and ", "threads beyond both edges load only slots that they alone read"),
    ("nested guards", "", "what the outer test skips is read only by threads beyond the edge of C"),
    (
        "strengthen guard",
        "0 <",
        "the second tile onwards never holds k = 0, so the test is always true there",
    ),
    (
        "other value in else",
        "",
        "the other tile holds a zero for the same k, or the row or column is beyond C",
    ),
    ("number of k-tiles", "", "a tile past K holds zeros only"),
    ("range of products", "- 1, -1, -1", "the products of a tile may be added in any order"),
    ("launch configuration", "", "threads beyond C load zeros and store nothing"),
    ("shared type", "float64", "float64 holds every float32"),
    ("shared shape", "PITCH", "a wider row leaves one slot unused"),
    (
        "initial value",
        "",
        "zero is zero in any type; the sum is float64 then, which is slower and no less right",
    ),
    ("sum", "in float64", "the product is rounded later, not otherwise"),
    ("store", "twice", "the same value is stored again"),
    ("store", "every tile", "the last store of an element is the whole sum"),
)


def reason(mutant: Mutant) -> str:
    for operator, text, why in REASONS:
        if mutant.operator == operator and text in mutant.what:
            return why
    return "no oracle shows a fault; the operator did not expect that"
