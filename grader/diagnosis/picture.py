"""Small drawings in plain characters: tiles, bars, two threads side by side.

A drawing is made only where the finding's own numbers prove it; otherwise it is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.diagnosis.grammar import number, span_of_numbers

#: Widest bar, in characters.
_BAR = 48
#: Rows of a tile that are drawn before the rest is left out.
_ROWS = 4
#: Widest tile that is drawn slot by slot.
_WIDEST = 32

Lines = tuple[str, ...]
Runs = tuple[tuple[int, int], ...]


def bar(filled: int | None, whole: int | None, filled_text: str, rest_text: str) -> Lines:
    """A bar of ``whole`` cells, the first ``filled`` of them full; to scale, and never rounded to none."""
    if filled is None or whole is None or not 0 <= filled < whole:
        return ()
    width = min(_BAR, whole)
    full = max(1 if filled else 0, min(width - 1, filled * width // whole))
    return (
        "|" + "#" * full + "." * (width - full) + "|",
        f"# {number(filled)} {filled_text}   . {number(whole - filled)} {rest_text}",
    )


def coverage(reached: int | None, size: int | None, noun: str) -> Lines:
    """An axis of the output and how far the grid's threads reach along it."""
    return bar(reached, size, f"{noun}s with a thread", f"{noun}s without one")


@dataclass(frozen=True, slots=True)
class Step:
    """One access of a race: the thread, the line, and what it does."""

    thread: str
    line: int
    action: str


def two_threads(first: Step | None, second: Step | None, between: str) -> Lines:
    """The two accesses of a race in two columns, with what stands (or does not stand) between them."""
    if first is None or second is None:
        return ()
    left = (first.thread, f"line {first.line}: {first.action}")
    right = (second.thread, f"line {second.line}: {second.action}")
    width = max(len(text) for text in left) + 4
    return (
        f"{left[0]:<{width}}{right[0]}",
        f"{left[1]:<{width}}",
        f"{'':<{width}}{right[1]}",
        f"({between})",
    )


def skipped_axis(
    index: Sequence[int], skipped: int | None, block_threads: int | None, tile: int | None
) -> int | None:
    """The axis along which a square tile's last slots were skipped, if the counts prove it; else None.

    ``index`` is the lowest skipped slot. Skipping the last ``tile - index[axis]`` columns (axis 1)
    or rows (axis 0) of every row or column of a tile of tile x tile threads skips exactly
    ``tile * (tile - index[axis])`` of them.
    """
    if tile is None or skipped is None or block_threads != tile * tile or len(index) != 2:
        return None
    for axis in (1, 0):
        if index[1 - axis] == 0 and 0 < index[axis] < tile and skipped == tile * (tile - index[axis]):
            return axis
    return None


def tile_with_gap(name: str, index: Sequence[int], axis: int | None, tile: int | None, left: str) -> Lines:
    """A square tile whose last rows or columns hold something else than the rest."""
    if axis is None or tile is None or tile > _WIDEST:
        return ()
    cut = index[axis]
    if axis == 1:
        row = ". " * cut + "o " * (tile - cut)
        rows = [f"row {i:<3} {row.rstrip()}" for i in range(min(tile, _ROWS))]
        rest = [f"        the other {tile - _ROWS} rows look the same"] if tile > _ROWS else []
    else:
        rows = [f"row {i:<3} {('. ' * tile).rstrip()}" for i in (cut - 1,)]
        rows += [f"row {i:<3} {('o ' * tile).rstrip()}" for i in (cut,)]
        above = "row 0" if cut == 1 else f"rows 0..{cut - 1}"
        below = f"row {cut}" if cut == tile - 1 else f"rows {cut}..{tile - 1}"
        rest = [f"        {above} like the first, {below} like the second"]
    return (f"the tile {name}:", *rows, *rest, f".  written in this round   o  {left}")


def row_end(array: str, index: Sequence[int], lands_on: Sequence[int], columns: int) -> Lines:
    """The end of a row in memory, and where an index past it lands: ``lands_on``, on a later row."""
    if columns < 1 or index[1] < columns or lands_on[0] <= index[0]:
        return ()
    last = f"{array}[{index[0]}, {columns - 1}]"
    landing = f"{array}[{lands_on[0]}, {lands_on[1]}]"
    lead = f"memory:  ...  {last}  {'' if index[1] == columns else '...  '}"
    pointer = f"^ also reached as {array}[{index[0]}, {index[1]}]"
    return (f"{lead}{landing}  ...", " " * len(lead) + pointer)


def k_range(total: int | None, runs: Runs, tile: int | None, marked: str) -> Lines:
    """The range of k in tiles, the runs of (first, last) marked as missing or doubled."""
    if total is None or not runs or not all(0 <= first <= last < total for first, last in runs):
        return ()
    width = min(total, 64)
    spans = [
        (first * width // total, max(first * width // total + 1, (last + 1) * width // total))
        for first, last in runs
    ]
    cells = ["x" if any(start <= at < end for start, end in spans) else "-" for at in range(width)]
    if tile and width == total:
        cells = ["|" + cell if at and at % tile == 0 else cell for at, cell in enumerate(cells)]
    told = ", ".join(span_of_numbers(first, last) for first, last in runs)
    return (
        "k  0 |" + "".join(cells) + f"| {total - 1}",
        f"-  added once   x  {marked}: k = {told}",
    )


def lanes(requests: int | None, sectors: int | None, ideal: float | None) -> Lines:
    """How many 32-byte sectors one request of a warp touches, beside the fewest that would do."""
    if not requests or sectors is None or not ideal or sectors <= ideal * requests:
        return ()
    mean = round(sectors / requests)
    return (
        f"here    {'#' * min(mean, 32)}  {number(sectors / requests)} sectors a request",
        f"needed  {'#' * max(1, round(ideal))}  {number(ideal)} sectors a request",
    )
