from __future__ import annotations

from grader.diagnosis.barrier_place import Place, between
from tests.unit.diagnosis.examples import TILED, edited, place

LINES = tuple(TILED.splitlines())


def test_between_store_and_loop_that_reads() -> None:
    text = edited("        cuda.syncthreads()\n        for k", "        for k")
    found = between(tuple(text.splitlines()), place(text, "As[ty, tx]"), place(text, "As[ty, k]"))
    assert found == Place(after=25)


def test_store_that_follows_in_the_next_round_needs_it_at_the_loops_end() -> None:
    text = edited("Bs[k, tx]\n        cuda.syncthreads()\n", "Bs[k, tx]\n")
    found = between(tuple(text.splitlines()), place(text, "As[ty, k]"), place(text, "As[ty, tx]"))
    assert found == Place(after=28, loop="for t in range((K + TILE - 1) // TILE):")


def test_place_under_an_if_names_its_test() -> None:
    text = "def f(s, i):\n    if i < 4:\n        s[i] = 1\n        x = s[i + 1]\n"
    found = between(tuple(text.splitlines()), place(text, "s[i]"), place(text, "s[i + 1]"))
    assert found == Place(after=3, test="i < 4")


def test_one_statement_cannot_be_split() -> None:
    text = "def f(s, i):\n    s[i] = s[i + 1]\n"
    found = between(tuple(text.splitlines()), place(text, "s[i + 1]"), place(text, "s[i]"))
    assert found == Place(after=2, same_statement=True)


def test_two_branches_of_an_if_have_no_place_between_them() -> None:
    text = "def f(s, i):\n    if i < 4:\n        s[i] = 1\n    else:\n        x = s[0]\n"
    found = between(tuple(text.splitlines()), place(text, "s[i]"), place(text, "s[0]"))
    assert found is None


def test_missing_span_or_text_gives_none() -> None:
    assert between(LINES, None, place(TILED, "As[ty, k]")) is None
    assert between((), place(TILED, "As[ty, k]"), place(TILED, "As[ty, tx]")) is None
