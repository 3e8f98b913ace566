from __future__ import annotations

import csv
import io

import pytest

from grader.reporters import csv_text


@pytest.mark.parametrize(
    "text",
    [
        "=cmd|' /C calc'!A0",
        "+1",
        "-1+2",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "  =1",
        "＝1+1",
        '=HYPERLINK("http://x")',
    ],
)
def test_no_cell_is_a_formula(text: str) -> None:
    written = csv_text.render(["a"], [[text]])
    ((_,), (cell,)) = list(csv.reader(io.StringIO(written, newline="")))
    assert cell[0] in "'�"


def test_numbers_stay_numbers() -> None:
    assert csv_text.render(["a"], [[-1.5], [2.0], [None], [3]]) == 'a\n-1.5\n2\n""\n3\n'


def test_what_is_written_reads_back() -> None:
    rows = [["a,b", 'say "x"', "two\nlines"], ["ü", "", "x"]]
    written = csv_text.render(["one", "two", "three"], rows)
    assert list(csv.reader(io.StringIO(written, newline="")))[1:] == rows
