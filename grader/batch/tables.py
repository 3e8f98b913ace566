"""Tables that people made: CSV as spreadsheets and campus systems write it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from grader.batch.problems import BatchError, printable

__all__ = ["Row", "Table", "read_table"]

MOST_BYTES = 20_000_000
_DELIMITERS = ",;\t"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its line in the file, and its cells."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its first row's headings as they are written, the line they stand in, and the other rows."""

    headings: tuple[str, ...]
    line: int
    rows: tuple[Row, ...]
    delimiter: str = ","


def read_table(path: Path, what: str) -> Table:
    """Read a table; ``what`` names it in messages.

    Commas, semicolons or tabs, with Excel's ``sep=`` line or without, in UTF-8 with a byte order mark or
    without, or in UTF-16 with one. Rows of empty cells are left out.

    Raises
    ------
    BatchError
        The file cannot be read, is in another encoding, or is no CSV.
    """
    try:
        data = path.read_bytes()[:MOST_BYTES]
    except OSError as error:
        raise BatchError(f"{path}: the {what} cannot be read: {error.strerror}") from None
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError:
        raise BatchError(f"{path}: the {what} is not UTF-8; save it as CSV UTF-8") from None
    delimiter, skipped = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    line = 1
    try:
        for cells in reader:
            if line > skipped and any(cell.strip() for cell in cells):
                rows.append(Row(line, tuple(cells)))
            line = reader.line_num + 1
    except csv.Error as error:
        raise BatchError(f"{path}:{line}: the {what} is not CSV: {printable(str(error))}") from None
    if not rows:
        return Table((), 1, (), delimiter)
    return Table(rows[0].cells, rows[0].line, tuple(rows[1:]), delimiter)


def _delimiter(text: str) -> tuple[str, int]:
    """Give the delimiter, and how many lines say nothing else."""
    first, _, rest = text.partition("\n")
    if first.strip().casefold().startswith("sep=") and len(first.strip()) <= 5:
        # strip() takes the tab of "sep=<tab>" too.
        return first.strip()[4:] or "\t", 1
    while not first.strip() and rest:
        first, _, rest = rest.partition("\n")
    return max(_DELIMITERS, key=first.count), 0
