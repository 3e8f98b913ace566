from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grader.diagnosis import picture


def test_bar_is_to_scale() -> None:
    assert picture.bar(16, 32, "here", "elsewhere") == (
        "|" + "#" * 16 + "." * 16 + "|",
        "# 16 here   . 16 elsewhere",
    )


@given(st.integers(0, 3000), st.integers(1, 3000))
def test_bar_never_hides_a_part(filled: int, whole: int) -> None:
    drawn = picture.bar(filled, whole, "a", "b")
    if filled >= whole:
        assert drawn == ()
    else:
        assert (drawn[0].count("#") > 0) == (filled > 0)
        assert drawn[0].count(".") > 0


def test_skipped_columns_are_recognised_by_their_number() -> None:
    assert picture.skipped_axis((0, 8), 128, 256, 16) == 1
    assert picture.skipped_axis((8, 0), 128, 256, 16) == 0


def test_tile_is_not_drawn_where_the_numbers_do_not_prove_it() -> None:
    assert picture.skipped_axis((0, 8), 127, 256, 16) is None
    assert picture.skipped_axis((1, 8), 128, 256, 16) is None
    assert picture.skipped_axis((0, 8), 128, 128, 16) is None
    assert picture.skipped_axis((8,), 128, 256, 16) is None


def test_tile_with_stale_columns() -> None:
    assert picture.tile_with_gap("As", (0, 2), 1, 4, "old") == (
        "the tile As:",
        "row 0   . . o o",
        "row 1   . . o o",
        "row 2   . . o o",
        "row 3   . . o o",
        ".  written in this round   o  old",
    )


def test_tile_with_stale_rows() -> None:
    drawn = picture.tile_with_gap("Bs", (1, 0), 0, 4, "old")
    assert drawn[1:3] == ("row 0   . . . .", "row 1   o o o o")


def test_k_range_marks_the_missing_products() -> None:
    assert picture.k_range(10, ((8, 9),), 4, "missing") == (
        "k  0 |----|----|xx| 9",
        "-  added once   x  missing: k = 8..9",
    )


def test_k_range_may_lie_in_the_middle() -> None:
    assert picture.k_range(12, ((4, 7),), 4, "added twice")[0] == "k  0 |----|xxxx|----| 11"
    assert picture.k_range(10, ((3, 3), (7, 7)), 4, "added twice") == (
        "k  0 |---x|---x|--| 9",
        "-  added once   x  added twice: k = 3, 7",
    )


def test_row_end_points_at_the_element_that_is_hit() -> None:
    drawn = picture.row_end("C", (0, 37), (1, 0), 37)
    assert drawn == (
        "memory:  ...  C[0, 36]  C[1, 0]  ...",
        "                        ^ also reached as C[0, 37]",
    )
    assert drawn[1].index("^") == drawn[0].index("C[1, 0]")


def test_two_threads_side_by_side() -> None:
    first = picture.Step("thread (0, 0)", 19, "writes As[0, 0]")
    second = picture.Step("thread (3, 0)", 27, "reads As[0, 0]")
    rows = picture.two_threads(first, second, "no barrier")
    assert rows[0].index("thread (3, 0)") == rows[2].index("line 27")
    assert picture.two_threads(first, None, "no barrier") == ()
