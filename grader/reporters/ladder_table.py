"""The ladder as a table for a terminal: measured beside predicted, or the prediction alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grader.reporters.ladder_words import (
    error_words,
    factor_words,
    measured_notes,
    predicted_notes,
    share_words,
    size_words,
)
from grader.reporters.model_words import limit_words, milliseconds, three
from grader.reporters.style import display_width, stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.perf.climb import Climb, Row, Sizes
    from grader.perf.devices import Device
    from grader.perf.gemm import Prediction
    from grader.reporters.style import Style

    Column = tuple[str, str, Callable[[Row], str]]

_MARGIN = "  "
_GAP = "  "
_NONE = "-"
_BOUND = "bound by"


def render_measured(
    climb: Climb, device: Device | None, tables: Mapping[Sizes, Sequence[Row]], style: Style
) -> str:
    """Write a run: one table for each size where it fits the width, else two, and what they mean."""
    title = f"The ladder on {style.plain(climb.gpu)}, {style.plain(climb.date)}"
    blocks = [[style.paint("strong", line) for line in style.wrap(title)]]
    for sizes, rows in tables.items():
        whole = _table(rows, (*_MEASURED, *_MODEL))
        parts = (
            [whole]
            if _fits(whole, style)
            else [_part(rows, _MEASURED, style), _part(_kernels(rows), _MODEL, style)]
        )
        blocks.append([*style.wrap(size_words(sizes)), "", *_spaced(parts), *_problems(rows, style)])
    blocks.append(_wrapped(measured_notes(climb, device), style))
    return _joined(blocks)


def render_predicted(
    device: Device, reason: str, missing: str, tables: Mapping[Sizes, Sequence[Row]], style: Style
) -> str:
    """Write what the model says of the kernels.

    ``reason`` is why nothing was measured, ``missing`` why registers are estimated (empty: they are not).
    """
    title = f"The ladder on {style.plain(device.title)}, as the model predicts it"
    blocks = [
        [style.paint("strong", line) for line in style.wrap(title)],
        _wrapped([f"Nothing was measured: {reason}."], style),
    ]
    for sizes, rows in tables.items():
        whole = _table(rows, (*_PREDICTED, *_BLOCK))
        parts = (
            [whole] if _fits(whole, style) else [_part(rows, _PREDICTED, style), _part(rows, _BLOCK, style)]
        )
        blocks.append([*style.wrap(size_words(sizes)), "", *_spaced(parts)])
    there = {row.rung.name for rows in tables.values() for row in rows}
    notes = predicted_notes("the same reason" if missing == reason else missing, there)
    blocks.append(_wrapped(notes, style))
    return _joined(blocks)


def _kernels(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not row.rung.is_library]


def _joined(blocks: Sequence[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks) + "\n"


def _spaced(parts: Sequence[Sequence[str]]) -> list[str]:
    return [line for part in parts for line in (*part, "")][:-1]


def _wrapped(notes: Sequence[str], style: Style) -> list[str]:
    return [line for note in notes for line in style.wrap(note, first=_MARGIN)]


def _fits(table: Sequence[str], style: Style) -> bool:
    return max(map(display_width, table)) <= style.width


def _problems(rows: Sequence[Row], style: Style) -> list[str]:
    """Why a rung has no time, below the table."""
    out = [""]
    for row in rows:
        said = row.climbed.problem if row.climbed is not None else ""
        if not said and row.is_right is False:
            said = "the result is wrong, so its time does not count"
        elif not said and row.milliseconds is None:
            said = "nothing was verified, so there is no time"
        if said:
            out += style.wrap(f"{row.rung.title}: {said}", first=_MARGIN, rest=_MARGIN * 2)
    return out if len(out) > 1 else []


def _part(rows: Sequence[Row], columns: Sequence[Column], style: Style) -> list[str]:
    """Some columns as a table; where even they are too wide, each figure on a line of its own."""
    table = _table(rows, columns)
    if _fits(table, style):
        return table
    heading = ["rung", *(_heading(above, below) for above, below, _ in columns)]
    return stacked(heading, ([row.rung.title, *(cell(row) for _, _, cell in columns)] for row in rows), style)


def _heading(above: str, below: str) -> str:
    """The two lines of a heading as one: ``of cuBLAS``, ``FLOP/byte``, ``speed-up``."""
    return f"{above}{below}" if below[:1] in "/-" else f"{above} {below}".strip()


def _table(rows: Sequence[Row], columns: Sequence[Column]) -> list[str]:
    """A heading of two lines and a line for each row: the rung's title, and numbers flush to the right."""
    lines = [["", *(above for above, _, _ in columns)], ["rung", *(below for _, below, _ in columns)]]
    lines += [[row.rung.title, *(cell(row) for _, _, cell in columns)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    out = []
    for first, *cells in lines:
        # Words are flush to the left, numbers to the right.
        padded = [
            cell.ljust(width) if below == _BOUND else cell.rjust(width)
            for cell, width, (_, below, _) in zip(cells, widths[1:], columns)
        ]
        out.append((_MARGIN + first.ljust(widths[0]) + _GAP + _GAP.join(padded)).rstrip())
    return out


def _predicted(row: Row, figure: Callable[[Prediction], float | None], write: Callable[[float], str]) -> str:
    return _NONE if row.prediction is None else _optional(figure(row.prediction), write)


def _optional(value: float | None, write: Callable[[float], str]) -> str:
    return _NONE if value is None else write(value)


def _registers(row: Row) -> str:
    if row.resources is None:
        return _NONE
    return ("~" if row.resources.source == "estimate" else "") + str(row.resources.registers)


def _bound(row: Row) -> str:
    prediction = row.prediction
    if prediction is None or prediction.bound_by is None:
        return "cannot run"
    return limit_words(prediction.bound_by, prediction.kernel.dtype)


_INTENSITY: Final[Column] = (
    "FLOP",
    "/byte",
    lambda row: _predicted(row, lambda found: found.hbm_intensity, three),
)
_BLOCK: Final[tuple[Column, ...]] = (
    ("", "regs", _registers),
    ("shared", "bytes", lambda row: f"{row.resources.shared_bytes:,}" if row.resources else _NONE),
    ("", "occ.", lambda row: _optional(row.occupancy, lambda part: f"{part:.0%}")),
)
_MEASURED: Final[tuple[Column, ...]] = (
    ("", "ms", lambda row: _optional(row.milliseconds, three)),
    ("", "GFLOP/s", lambda row: _optional(row.gflops, lambda rate: f"{rate:,.0f}")),
    ("speed", "-up", lambda row: _optional(row.speed_up, factor_words)),
    ("of", "cuBLAS", lambda row: _optional(row.share, share_words)),
    ("max rel", "error", lambda row: _optional(_error(row), error_words)),
)
_MODEL: Final[tuple[Column, ...]] = (
    _INTENSITY,
    ("model", "ms", lambda row: _optional(row.predicted_milliseconds, three)),
    ("model", "/time", lambda row: _optional(row.achieved, lambda ratio: f"{ratio:.2f}")),
    *_BLOCK,
)
_PREDICTED: Final[tuple[Column, ...]] = (
    _INTENSITY,
    ("", "ms", lambda row: _predicted(row, lambda found: found.seconds, milliseconds)),
    (
        "",
        "GFLOP/s",
        lambda row: _predicted(row, lambda found: found.flops_per_second, lambda rate: f"{rate / 1e9:,.0f}"),
    ),
    ("", _BOUND, _bound),
)


def _error(row: Row) -> float | None:
    return row.climbed.max_relative_error if row.climbed is not None else None
