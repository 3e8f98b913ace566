"""CSV that a spreadsheet opens as text: no cell of a student's making is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from grader.reporters.style import number

__all__ = ["Cell", "cell", "render"]

Cell = str | int | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")


def render(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table with a header line; lines end in a newline alone."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell(name) for name in header])
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def cell(value: Cell) -> str:
    """Write one value. A text that a spreadsheet would compute is led in by an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return number(float(value)) if isinstance(value, float) else str(value)
    text = "".join(character if character >= " " or character in "\n\t" else "�" for character in value)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text
