"""Wording for a grid that has no thread for some elements of the output."""

from __future__ import annotations

from grader.diagnosis import picture, rounding
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import axis_name, span_of_numbers
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.wording import Wording

_LOST = {
    "down": "the division rounds down, so a last block that is only partly full is lost",
    "nearest": "`round` goes to the nearest whole number, so a last block that is at most half full is lost",
}


def grid_too_small(evidence: Evidence) -> Wording:
    """Write up which elements have no thread, and why where the text or the numbers of blocks tell."""
    array, axis = evidence.array("the output"), evidence.whole("axis")
    reached, size = evidence.count("reached"), evidence.count("size")
    noun = axis_name(axis, 2 if axis in (0, 1) else None) if axis is not None else "index"
    missing = _missing(noun, reached, size)
    side = {0: "y", 1: "x"}.get(axis if axis is not None else -1, "that axis")
    name = evidence.context.dimension_of_size(size) if size is not None else None
    rounded = "(M + TILE - 1) // TILE".replace("M", name or "size")
    return Wording(
        headline=f"the grid is too small: no thread computes {missing} of {array}",
        primary="the last thread's index stops short of the end",
        seen=(
            evidence.at_shape(),
            f"{noun}s of {array}: {size}, reached: {reached}" if None not in (size, reached) else "",
            f"grid {evidence.context.grid}, block {evidence.context.block} as (x, y, z)"
            if evidence.context.grid and evidence.context.block
            else "",
        ),
        because="each element belongs to one thread; where the grid has no thread, nothing is ever stored",
        hints=(
            f"how many blocks does it take to cover {size if size is not None else 'all'} {noun}s?",
            *_hints(evidence, axis, side, rounded),
        ),
        picture=picture.coverage(reached, size, noun),
        why_passed=whole_tiles(
            [name] if name else ["M", "N"],
            evidence.context.settings,
            "there the division leaves no remainder, so rounding loses nothing"
            if _rounding(evidence, axis)
            else "",
        ),
    )


def _missing(noun: str, reached: int | None, size: int | None) -> str:
    if reached is None or size is None or reached >= size:
        return f"the last {noun}s"
    plural_noun = noun if size - reached == 1 else f"{noun}s"
    return f"{plural_noun} {span_of_numbers(reached, size - 1)}"


def _rounding(evidence: Evidence, axis: int | None) -> rounding.Rounding:
    """How the number of blocks along an axis of the output is rounded, where the text shows it."""
    if axis not in (0, 1):
        return ""
    return rounding.of_grid(evidence.lines, evidence.finding.primary, 1 - axis)


def _hints(evidence: Evidence, axis: int | None, side: str, rounded: str) -> tuple[str, str]:
    lost = _LOST.get(_rounding(evidence, axis), "")
    if lost:
        return lost, f"round the number of blocks up: `{rounded}` along {side}"
    if _exchanged(evidence, axis):
        return (
            "x counts the blocks along a row, over the columns; y counts them from row to row",
            f"exchange the numbers of blocks along x and y{evidence.on_line()}",
        )
    return (
        f"compare the number of blocks along {side} with the number that is needed",
        f"let the grid have as many blocks along {side} as are needed, the last one partly full: `{rounded}`",
    )


def _exchanged(evidence: Evidence, axis: int | None) -> bool:
    """Whether the grid has along x what y needs, and along y what another size needs along x."""
    grid, block, size = evidence.context.grid, evidence.context.block, evidence.count("size")
    shape = evidence.context.seen_on
    if axis not in (0, 1) or grid is None or block is None or size is None or shape is None:
        return False
    own, other = 1 - axis, axis  # x is axis 1 of the output
    if grid[own] == grid[other] or grid[other] != -(-size // block[own]):
        return False
    return any(grid[own] == -(-value // block[other]) for value in shape.dims.values() if value != size)
