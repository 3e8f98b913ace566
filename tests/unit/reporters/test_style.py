from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reporters.style import Style, counted, display_width, number, pad


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (35.0, "35"), (2.5, "2.5"), (1 / 3, "0.33"), (100, "100"), (0.001, "0")]
)
def test_points_are_written_short(value: float, text: str) -> None:
    assert number(value) == text


def test_counts_have_their_noun() -> None:
    assert [counted(1, "shape"), counted(2, "shape"), counted(1850, "element")] == [
        "1 shape",
        "2 shapes",
        "1,850 elements",
    ]


def test_ascii_spells_what_it_lacks() -> None:
    style = Style(colour=False, width=80, unicode=False)
    assert style.plain("A × B ≤ 2 · √K … 行") == "A x B <= 2 - sqrtK ... ?"


def test_the_first_line_of_a_paragraph_may_have_a_lead_of_its_own() -> None:
    style = Style(colour=False, width=40, unicode=True)
    assert style.wrap("one two three four five six seven", first="= seen: ", rest="   ") == [
        "= seen: one two three four five six",
        "   seven",
    ]


def test_padding_counts_columns() -> None:
    assert display_width(pad("行", 5)) == 5


@given(
    st.text(st.sampled_from("ab \u00a0\u3000-\t\n\u0301"), max_size=80),
    st.integers(0, 9),
    st.integers(30, 70),
)
def test_a_text_that_fits_is_laid_out_as_any_other(text: str, lead: int, width: int) -> None:
    style = Style(colour=False, width=width, unicode=True)
    expected = textwrap.wrap(
        style.plain(text),
        width,
        initial_indent="*" * lead,
        subsequent_indent=" " * lead,
        break_long_words=False,
        break_on_hyphens=False,
    ) or ["*" * lead]
    if width >= lead + 24:
        assert style.wrap(text, first="*" * lead) == expected
