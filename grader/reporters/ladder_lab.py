"""Lab 1 of the course: the ladder's table as one program prints it, three kernels and the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.perf.closed_forms import naive_intensity, tile_intensity
from grader.perf.rungs import LAB_RUNGS
from grader.reporters.ladder_words import error_words, size_words
from grader.reporters.model_words import three

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.perf.climb import Climb, Row, Sizes
    from grader.reporters.style import Style

_MARGIN = "  "


def render(climb: Climb, tables: Mapping[Sizes, Sequence[Row]], style: Style) -> str:
    """Write for each size the columns variant, ms, GFLOP/s, speedup, max rel err, and PASSED or FAILED."""
    blocks = [[style.paint("strong", f"Lab 1: the optimisation ladder on {style.plain(climb.gpu)}")]]
    for sizes, rows in tables.items():
        chosen = [row for name in LAB_RUNGS for row in rows if row.rung.name == name]
        blocks.append([size_words(sizes), "", *_table(chosen, style)])
    blocks.append(_footer(style))
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks) + "\n"


def passed(tables: Mapping[Sizes, Sequence[Row]]) -> bool:
    """Whether there is a row for each of the lab's variants at every size, and all passed."""
    for rows in tables.values():
        here = {row.rung.name: row for row in rows}
        if not all(name in here and here[name].milliseconds is not None for name in LAB_RUNGS):
            return False
    return bool(tables)


def _table(rows: Sequence[Row], style: Style) -> list[str]:
    lines = [["variant", "ms", "GFLOP/s", "speedup", "max rel err", ""]]
    lines += [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    out = []
    for first, *numbers, verdict in lines:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(numbers, widths[1:]))]
        painted = style.paint("pass" if verdict == "PASSED" else "fail", verdict)
        out.append(_MARGIN + "   ".join([*cells, painted]).rstrip())
    return out


def _cells(row: Row) -> list[str]:
    error = row.climbed.max_relative_error if row.climbed is not None else None
    ms, gflops, speed_up = row.milliseconds, row.gflops, row.speed_up
    return [
        row.rung.title,
        "-" if ms is None else f"{ms:.4g}",
        "-" if gflops is None else f"{gflops:,.0f}",
        "-" if speed_up is None else f"{speed_up:.1f}x",
        "-" if error is None else error_words(error),
        "PASSED" if ms is not None else "FAILED",
    ]


def _footer(style: Style) -> list[str]:
    """Each variant's analytic intensity, which the measured order should follow."""
    from grader.perf.rungs import RUNGS

    kernels = {rung.title: rung.kernel for rung in RUNGS if rung.name in LAB_RUNGS and rung.kernel}
    said = ", ".join(
        f"{title} {three(tile_intensity(kernel.bm, kernel.bn) if kernel.staged else naive_intensity())}"
        for title, kernel in kernels.items()
    )
    return [
        *style.wrap(f"analytic intensity, FLOP per byte: {said}", first=_MARGIN),
        *style.wrap(
            "Relative to a float64 reference, inputs in (0, 1]; an error of sqrt(K) times 6e-8 is rounding, "
            "more than 1e-4 would be a fault.",
            first=_MARGIN,
        ),
    ]
