"""The fastest kernels of a class: what the leaderboard's writers draw from, and its text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.records import Timing
from grader.reporters.style import Style, counted, display_width, pad
from grader.reporters.timing_text import milliseconds

__all__ = ["Board", "Standing", "rows_of", "terminal"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One kernel's place. ``who`` is a pseudonym, or an id where names were asked for.

    ``milliseconds`` is the geometric mean of the medians over the board's sizes, ``low`` and ``high``
    the interval within which a tie is a tie, ``share`` the geometric mean of the shares of cuBLAS (None
    where one is missing). ``timings`` has one for each size, in the board's order.
    """

    rank: int
    who: str
    milliseconds: float
    low: float
    high: float
    share: float | None
    timings: tuple[Timing, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """The ranking of one exercise on one kind of device. ``dims`` are the sizes that all were timed at.

    ``untimed`` counts students whose kernel passes and has no time that counts.
    """

    exercise: str
    title: str
    device: str
    dims: tuple[tuple[tuple[str, int], ...], ...]
    standings: tuple[Standing, ...]
    untimed: int = 0


def size_of(dims: Sequence[tuple[str, int]]) -> str:
    """Write a size as a column's name: ``4096 x 4096 x 4096``."""
    return " x ".join(str(size) for _, size in dims)


def rows_of(board: Board) -> tuple[list[str], list[list[str]]]:
    """Give the header and the rows of a board as plain text, for any table."""
    names = [size_of(dims) for dims in board.dims]
    header = ["Rank", "Kernel of", *[word for name in names for word in (name, "spread")], "of cuBLAS"]
    rows = []
    for one in board.standings:
        cells = [str(one.rank), one.who]
        for timing in one.timings:
            cells += [milliseconds(timing.milliseconds), f"{100 * timing.spread:.2f} %"]
        rows.append([*cells, "" if one.share is None else f"{100 * one.share:.1f} %"])
    return header, rows


def remark(board: Board) -> str:
    """Say what stands below a board: how it is ranked, and who is not on it."""
    text = "Ranked by the geometric mean of the medians; ties share a rank."
    if board.untimed:
        text += f" {counted(board.untimed, 'kernel passes', 'kernels pass')} and has no time that counts."
    return text


def terminal(boards: Sequence[Board], style: Style) -> str:
    """Write the boards as text that ends with a newline."""
    blocks = []
    for board in boards:
        header, rows = rows_of(board)
        table = [[style.plain(cell) for cell in row] for row in (header, *rows)]
        wide = [max(display_width(row[column]) for row in table) for column in range(len(header))]
        lines = [style.paint("strong", style.plain(f"{board.exercise}: {board.title}, {board.device}"))]
        for row in table:
            cells = [
                pad(cell, wide[i]) if i == 1 else " " * (wide[i] - display_width(cell)) + cell
                for i, cell in enumerate(row)
            ]
            lines.append(f"  {'  '.join(cells)}".rstrip())
        blocks.append("\n".join([*lines, *style.wrap(remark(board), first="  ")]))
    return "\n\n".join(blocks) + "\n"
