"""Code frames: source lines with the places of a diagnostic marked beneath them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.records import Frame, Label
from grader.reporters.style import Role, Style, display_width

_TAB = 4
_LEAST_ROOM = 36  # columns below which a remark moves to the left instead of beneath its mark
_CONTEXT = 16  # columns kept before the first mark when a line is cut


@dataclass(frozen=True, slots=True)
class _Mark:
    """A label as drawn: terminal columns [start, end) and how."""

    start: int
    end: int
    character: str
    role: Role
    text: str


def render_frame(frame: Frame, style: Style, role: Role) -> list[str]:
    """Draw a frame: a header with the place, then each line under its number, marks beneath.

    The primary place is marked with ``^``, the secondary with ``-``.
    """
    gutter = max((len(str(number)) for number, _ in frame.lines), default=1)
    bar = style.paint("frame", " " * gutter + " |")
    place = f"{style.plain(frame.path)}:{frame.primary.span.line}:{frame.primary.span.column}"
    arrow = " " * gutter + "-->"
    lines = style.wrap(place, first=f"{arrow} ", rest="  ") if style.narrow else [f"{arrow} {place}"]
    out = [style.paint("frame", arrow) + lines[0].removeprefix(arrow), *lines[1:]]
    if not frame.lines:
        return out
    out.append(bar)
    previous = frame.lines[0][0] - 1
    for number, text in frame.lines:
        if number != previous + 1:
            out.append(style.paint("frame", "..."))
        previous = number
        labels = [(label, mark, r) for label, mark, r in _labels(frame, role) if label.span.line == number]
        shown, marks = _fit(text, number, labels, style, style.width - gutter - 3)
        out.append((style.paint("frame", f"{number:>{gutter}} |") + f" {shown}").rstrip())
        out += [f"{bar} {row}" for row in _rows(marks, style, style.width - gutter - 3)]
    return out


def _labels(frame: Frame, role: Role) -> Iterator[tuple[Label, str, Role]]:
    yield frame.primary, "^", role
    if frame.secondary is not None:
        yield frame.secondary, "-", "frame"


def _fit(
    text: str, number: int, labels: list[tuple[Label, str, Role]], style: Style, room: int
) -> tuple[str, list[_Mark]]:
    """Give a source line cut to the room that there is, and the marks that lie on it."""
    cells = _cells(text.rstrip(), style)
    edges = [0]
    for cell in cells:
        edges.append(edges[-1] + display_width(cell))
    spans = [(label, *_extent(label, number, len(cells)), mark, role) for label, mark, role in labels]
    low, high = 0, len(cells)
    if edges[-1] > room:
        first = min((start for _, start, *_ in spans), default=0)
        while edges[first] - edges[low] > _CONTEXT:
            low += 1
        while edges[high] - edges[low] > room - 6:
            high -= 1
    before, after = "..." if low else "", "..." if high < len(cells) else ""
    shift = len(before) - edges[low]
    marks = []
    for label, start, end, mark, role in spans:
        left = edges[min(max(start, low), high)] + shift
        right = max(edges[min(max(end, low), high)] + shift, left + 1)
        marks.append(_Mark(left, right, mark, role, style.plain(label.text)))
    return before + "".join(cells[low:high]) + after, marks


def _cells(text: str, style: Style) -> list[str]:
    """Give what each character of a source line looks like; a tab fills up to the next stop."""
    cells: list[str] = []
    column = 0
    for character in text:
        cell = " " * (_TAB - column % _TAB) if character == "\t" else style.plain(character)
        cells.append(cell)
        column += display_width(cell)
    return cells


def _extent(label: Label, number: int, length: int) -> tuple[int, int]:
    """Give a span's characters on its first line, from 0; a longer span reaches to the line's end."""
    start = min(max(label.span.column - 1, 0), length)
    end = label.span.end_column - 1 if label.span.end_line == number else length
    return start, max(min(end, length), start)


def _rows(marks: list[_Mark], style: Style, room: int) -> Iterator[str]:
    """Draw the marks of one line: on one row where they lie apart, their remarks right or beneath."""
    if len(marks) == 2 and not _overlap(*marks):
        left, right = sorted(marks, key=lambda mark: mark.start)
        lead = (
            " " * left.start + _stroke(left, style) + " " * (right.start - left.end) + _stroke(right, style)
        )
        yield from _remark(right, lead, style, room)
        if left.text:
            yield from _beneath(left, style, room)
        return
    for i, mark in enumerate(marks):
        if i and (mark.start, mark.end) == (marks[0].start, marks[0].end):
            if mark.text:
                yield from _beneath(mark, style, room)
        else:
            yield from _remark(mark, " " * mark.start + _stroke(mark, style), style, room)


def _overlap(one: _Mark, other: _Mark) -> bool:
    return one.start < other.end and other.start < one.end


def _stroke(mark: _Mark, style: Style) -> str:
    return style.paint(mark.role, mark.character * (mark.end - mark.start))


def _remark(mark: _Mark, lead: str, style: Style, room: int) -> Iterator[str]:
    """Draw the row of strokes, its remark behind it where that fits on the line, else beneath."""
    if not mark.text:
        yield lead
    elif mark.end + 1 + display_width(mark.text) <= room:
        yield f"{lead} {style.paint(mark.role, mark.text)}"
    else:
        yield lead
        yield from _beneath(mark, style, room)


def _beneath(mark: _Mark, style: Style, room: int) -> Iterator[str]:
    indent = min(mark.start, max(room - _LEAST_ROOM, 0))
    room = max(room, indent + 12)
    for line in style.wrap(mark.text, width=room - indent):
        yield " " * indent + style.paint(mark.role, line)
