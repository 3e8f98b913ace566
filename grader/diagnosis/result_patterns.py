"""What is known of the patterns that wrong results show, by the kebab code of the hypothesis that fits."""

from __future__ import annotations

WHOLE_TILES = "take the number of k-tiles from K, rounded up: `(K + TILE - 1) // TILE`"

#: Why only full tiles are summed, where the text of the loop shows it.
ROUNDED_DOWN = "only full tiles of k are summed: the number of tiles is rounded down"
ROUNDED_TO_NEAREST = (
    "the number of tiles is rounded to the nearest whole number, "
    "so a last tile that is at most half full is lost"
)

#: What the sum over k is cut at: the clause that says so, and what to do about it.
CUTS = {
    "one-tile": ("only the first tile of k is summed", WHOLE_TILES),
    "grid-tiles": (
        "as many tiles of k are summed as there are tiles along N, where K has its own number",
        WHOLE_TILES,
    ),
    "grid-y-tiles": (
        "as many tiles of k are summed as there are tiles along M, where K has its own number",
        WHOLE_TILES,
    ),
    "blocks-x": (
        "as many tiles of k are summed as the grid has blocks along x, where K has its own number",
        WHOLE_TILES,
    ),
    "blocks-y": (
        "as many tiles of k are summed as the grid has blocks along y, where K has its own number",
        WHOLE_TILES,
    ),
    "all-but-one-tile": ("the last tile of k is left out", WHOLE_TILES),
    "all-but-one": ("the last k is left out", "let the loop over k reach K - 1"),
    "all-but-two": ("the last two k are left out", "let the loop over k reach K - 1"),
    "M": ("the sum over k ends at M", "let the loop over k end at K"),
    "N": ("the sum over k ends at N", "let the loop over k end at K"),
}

#: Which array has its indices exchanged: what is known, and what to do about it.
EXCHANGES = {
    "stored-by-columns": "{out} is stored column by column, as if it were its transpose",
    "left": "the result is right for {left} read column by column, as if it were its transpose",
    "right": "the result is right for {right} read column by column, as if it were its transpose",
    "operand": "{code} has its two indices exchanged",
    "tile": "{code} has its two indices exchanged",
}

#: What the digits of the result look like when no single store is known.
PRECISIONS = {
    "half-precision": "the result has only the digits of float16",
    "few-digits": "the result is right to about three digits only",
    "truncated-result": "the result lacks its fractions: it is the right one cut to whole numbers",
    "truncated-operands": "the result is what factors cut to whole numbers give",
}

#: Wrong results that have a pattern but no name of their own, and where to look for each.
PATTERNS = {
    "last-tile-only": (
        "only the last tile of k is in the sums: what was summed before it is lost",
        "set the sum to zero once, before the loop over the k-tiles",
    ),
    "without-first-tile": (
        "the first tile of k is missing from the sums",
        "let the loop over the k-tiles start at 0, and load a tile before it is used",
    ),
    "without-first": ("k = 0 is missing from the sums", "let the loop over k start at 0"),
    "one-row-down": ("each row holds the result of the row above it", "correct the row index by one"),
    "one-row-up": ("each row holds the result of the row below it", "correct the row index by one"),
    "one-column-down": (
        "each column holds the result of the column to its left",
        "correct the column index by one",
    ),
    "one-column-up": (
        "each column holds the result of the column to its right",
        "correct the column index by one",
    ),
    "first-block-everywhere": (
        "every block holds the result of the first block",
        "let `cuda.blockIdx` come into the row and the column that are loaded",
    ),
    "at-zeros": (
        "the result is wrong only where an input is zero",
        "a zero is a number like any other: let no test of a loaded value end the sum or skip the store",
    ),
}
