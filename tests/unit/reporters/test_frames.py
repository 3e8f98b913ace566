from __future__ import annotations

import pytest

from grader.records import Frame, Label, Span
from grader.reporters.frames import render_frame
from grader.reporters.style import Style, display_width


def draw(
    *lines: tuple[int, str],
    primary: Label,
    secondary: Label | None = None,
    width: int = 80,
    unicode: bool = True,
) -> list[str]:
    frame = Frame("k.py", primary, secondary, lines)
    return render_frame(frame, Style(colour=False, width=width, unicode=unicode), "error")


def at(line: int, start: int, end: int, text: str = "", end_line: int | None = None) -> Label:
    return Label(Span(line, start, end_line or line, end), text)


def test_both_places_stand_in_line_order() -> None:
    assert draw(
        (9, "if a:"), (10, "    x = b"), primary=at(10, 9, 10, "read"), secondary=at(9, 4, 5, "guard")
    ) == [
        "  --> k.py:10:9",
        "   |",
        " 9 | if a:",
        "   |    - guard",
        "10 |     x = b",
        "   |         ^ read",
    ]


def test_a_gap_between_lines_is_marked() -> None:
    rows = draw((3, "a"), (7, "b"), primary=at(7, 1, 2), secondary=at(3, 1, 2))
    assert rows[2:] == ["3 | a", "  | -", "...", "7 | b", "  | ^"]


def test_two_places_on_one_line_share_a_row_of_marks() -> None:
    rows = draw(
        (5, "s[tx] = s[tx + 1]"), primary=at(5, 9, 18, "the read"), secondary=at(5, 1, 6, "the write")
    )
    assert rows[2:] == [
        "5 | s[tx] = s[tx + 1]",
        "  | -----   ^^^^^^^^^ the read",
        "  | the write",
    ]


def test_one_place_with_two_remarks_is_marked_once() -> None:
    rows = draw((5, "C[0] = v"), primary=at(5, 1, 5, "thread 1"), secondary=at(5, 1, 5, "thread 0"))
    assert rows[2:] == ["5 | C[0] = v", "  | ^^^^ thread 1", "  | thread 0"]


def test_overlapping_places_have_a_row_each() -> None:
    rows = draw((5, "C[i] += v"), primary=at(5, 1, 10, "all"), secondary=at(5, 1, 5, "slot"))
    assert rows[3:] == ["  | ^^^^^^^^^ all", "  | ---- slot"]


@pytest.mark.parametrize(("source", "column", "mark"), [("\tx = y", 6, 8), ("ab\tx", 4, 4), ("\t\tz", 3, 8)])
def test_marks_stand_under_their_text_behind_tabs(source: str, column: int, mark: int) -> None:
    rows = draw((1, source), primary=at(1, column, column + 1))
    assert rows[3].index("^") - len("  | ") == mark
    assert rows[2][rows[3].index("^")] == source[column - 1]


def test_wide_characters_take_two_columns() -> None:
    rows = draw((1, "行列 = x"), primary=at(1, 6, 7))
    assert rows[3].index("^") == len("  | ") + 7
    assert draw((1, "e\u0301 = x"), primary=at(1, 6, 7))[3].index("^") == len("  | ") + 4


def test_a_long_line_is_cut_around_its_mark() -> None:
    source = "value = " + " + ".join(f"term{i}" for i in range(60))
    column = source.index("term40") + 1
    rows = draw((1, source), primary=at(1, column, column + 6, "here"), width=60)
    assert all(display_width(row) <= 60 for row in rows)
    mark = rows[3].index("^^^^^^")
    assert rows[2][mark : mark + 6] == "term40"
    assert rows[2].startswith("1 | ...")
    assert rows[2].endswith("...")


def test_a_span_of_many_lines_is_marked_to_the_end_of_its_first() -> None:
    rows = draw((1, "x = f(a,   "), primary=at(1, 5, 3, end_line=4))
    assert rows[2:] == ["1 | x = f(a,", "  |     ^^^^"]


@pytest.mark.parametrize(("start", "end"), [(90, 95), (5, 5), (0, 1)])
def test_a_place_outside_its_line_still_gets_a_mark(start: int, end: int) -> None:
    rows = draw((1, "x = 1"), primary=at(1, start, end, "here"))
    assert rows[3].count("^") == 1
    assert rows[3].endswith("here")


def test_a_remark_without_room_goes_beneath_and_wraps() -> None:
    remark = "a remark of some length that has to be broken into several lines to be read at all"
    rows = draw((1, " " * 30 + "x"), primary=at(1, 31, 32, remark), width=60)
    assert all(len(row) <= 60 for row in rows)
    assert " ".join(row.partition("|")[2].strip() for row in rows[4:]) == remark


def test_escape_sequences_in_the_source_are_shown_as_one_harmless_character() -> None:
    assert draw((1, 's = "\x1b[31m"'), primary=at(1, 1, 2))[2] == '1 | s = "\ufffd[31m"'
    assert draw((1, 's = "\x1b[31m"'), primary=at(1, 1, 2), unicode=False)[2] == '1 | s = "?[31m"'


def test_a_frame_without_lines_still_says_where() -> None:
    assert draw(primary=at(4, 2, 3)) == [" --> k.py:4:2"]
