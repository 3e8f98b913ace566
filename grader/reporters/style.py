"""Plain text for a terminal: harmless characters, widths, wrapping, and colour as an extra."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["error", "warning", "note", "pass", "fail", "quiet", "frame", "strong", "hint"]

_ANSI: dict[Role, str] = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "pass": "1;32",
    "fail": "1;31",
    "quiet": "2",
    "frame": "34",
    "strong": "1",
    "hint": "36",
}

# What the messages and drawings use beyond ASCII, spelled for a console that lacks it.
_SPELLED = str.maketrans(
    {
        "·": "-", "•": "*", "×": "x", "…": "...", "–": "-", "—": "-", "−": "-", "‘": "'", "’": "'",
        "“": '"', "”": '"', "→": "->", "←": "<-", "↑": "^", "↓": "v", "≤": "<=", "≥": ">=", "≠": "!=",
        "≈": "~", "√": "sqrt", "½": "1/2", "²": "^2", "³": "^3", "│": "|", "┃": "|", "─": "-", "━": "-",
        "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+",
        "█": "#", "▓": "#", "▒": "+", "░": ".", "■": "#", "□": ".", "▲": "^", "▼": "v", "✓": "+", "✗": "x",
    }
)  # fmt: skip
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")


#: Columns from which a report is laid out with columns side by side, and the fewest it is laid out for.
COMFORTABLE, NARROWEST = 64, 40


@dataclass(frozen=True, slots=True)
class Style:
    """How to put text on one particular terminal."""

    colour: bool
    width: int
    unicode: bool

    @property
    def narrow(self) -> bool:
        """Whether there is no room for columns side by side."""
        return self.width < COMFORTABLE

    def paint(self, role: Role, text: str) -> str:
        """Colour a text, which has to be readable without."""
        return f"\x1b[{_ANSI[role]}m{text}\x1b[0m" if self.colour and text else text

    def plain(self, text: str) -> str:
        """Make a text harmless: nothing in it moves the cursor, hides or reorders other text."""
        text = _UNSAFE.sub("�" if self.unicode else "?", text)
        if self.unicode:
            return text
        return text.translate(_SPELLED).encode("ascii", "replace").decode("ascii")

    def wrap(
        self, text: str, *, first: str = "", rest: str | None = None, width: int | None = None
    ) -> list[str]:
        """Break a text into lines within the width, the first led in by ``first``, others by ``rest``.

        On a narrow terminal a long lead stands on a line of its own, and a word that fits no line is broken.
        """
        rest = " " * len(first) if rest is None else rest
        text = self.plain(text)
        if self.narrow and first.strip() and len(first) > self.width // 2:
            below = " " * min(len(rest), 4)
            return [first.rstrip(), *self.wrap(text, first=below, rest=below)] if text else [first.rstrip()]
        width = max(width or self.width, max(len(first), len(rest)) + (12 if self.narrow else 24))
        # Most texts fit as they are, and breaking is what a report spends its time on.
        if len(first) + len(text) <= width and text and text == text.strip():
            return [first + text]
        return textwrap.wrap(
            text,
            width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=self.narrow,
            break_on_hyphens=False,
        ) or [first.rstrip()]


def display_width(text: str) -> int:
    """Columns that a text fills on a terminal: none for combining marks, two for wide characters."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def stacked(heading: Sequence[str], rows: Iterable[Sequence[str]], style: Style) -> list[str]:
    """A table too wide for the terminal: each row's first cell, and below it the others by their headings."""
    lines: list[str] = []
    for first, *cells in rows:
        lines += style.wrap(first, first="  ", rest="    ")
        for name, cell in zip(heading[1:], cells, strict=True):
            lines += (
                style.wrap(f"{name}: {cell}" if name else cell, first="    ", rest="      ") if cell else []
            )
    return lines


def pad(text: str, width: int) -> str:
    """Fill a text up with spaces to a number of terminal columns."""
    return text + " " * max(width - display_width(text), 0)


def number(value: float) -> str:
    """Write points: whole where they are whole, else with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Write a count with its noun."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
