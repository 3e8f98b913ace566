from __future__ import annotations

import ast

import pytest

from grader.diagnosis import source
from grader.records import Span
from tests.unit.diagnosis.examples import TILED, place

LINES = tuple(TILED.splitlines())


def test_text_of_a_span() -> None:
    assert source.text_of(LINES, place(TILED, "As[ty, k]")) == "As[ty, k]"


def test_text_over_several_lines_becomes_one() -> None:
    lines = ("total = (a +", "         b)")
    assert source.text_of(lines, Span(1, 9, 2, 12)) == "(a + b)"


@pytest.mark.parametrize("span", [None, Span(0, 1, 0, 4), Span(99, 1, 99, 4), Span(3, 1, 2, 1)])
def test_span_outside_the_text_gives_nothing(span: Span | None) -> None:
    assert source.text_of(LINES, span) == ""
    assert source.enclosing(LINES, Span(99, 1, 99, 4))[1:] == ()


def test_columns_count_characters_where_the_parser_counts_bytes() -> None:
    lines = ("größe = a[i]",)
    module = source.tree(lines)
    assert module is not None
    assign = module.body[0]
    assert isinstance(assign, ast.Assign)
    assert source.span_of(lines, assign.value) == Span(1, 9, 1, 13)
    assert source.node_text(lines, assign.value) == "a[i]"


def test_guard_is_the_nearest_if_with_the_span_in_its_true_branch() -> None:
    found = source.guard(LINES, place(TILED, "A[row, a_col]"))
    assert found is not None
    assert source.node_text(LINES, found.test) == "row < M and a_col < K"
    assert source.guard(LINES, place(TILED, "As[ty, tx] = 0.0")) is None


def test_owner_of_a_test_is_the_statement_it_decides() -> None:
    owner = source.test_owner(LINES, place(TILED, "row < M and a_col < K"))
    assert isinstance(owner, ast.If)
    assert isinstance(source.test_owner(LINES, place(TILED, "(K + TILE - 1) // TILE")), ast.For)


def test_store_below_a_test_is_not_the_test() -> None:
    assert source.test_owner(LINES, place(TILED, "As[ty, tx]")) is None


def test_index_on_an_axis() -> None:
    span = place(TILED, "A[row, a_col]")
    assert [source.index_text(LINES, span, axis) for axis in (0, 1, 2)] == ["row", "a_col", ""]


def test_index_of_a_chained_subscript() -> None:
    text = "x = tile[i][j + 1]"
    assert source.index_text((text,), place(text, "tile[i][j + 1]"), 1) == "j + 1"


def test_definition_is_the_last_assignment_above() -> None:
    assert source.definition(LINES, place(TILED, "A[row, a_col]"), "a_col") == (16, "a_col = t * TILE + tx")
    assert source.definition(LINES, place(TILED, "A[row, a_col]"), "nothing") is None


def test_store_target_inside_a_statement() -> None:
    owner = source.guard(LINES, place(TILED, "A[row, a_col]"))
    assert source.store_target(LINES, owner, "As") == "As[ty, tx]"
    assert source.store_target(LINES, owner, "Bs") == ""


def test_subscript_is_a_store_on_the_left_only() -> None:
    assert source.is_store(LINES, place(TILED, "C[row, col]"))
    assert not source.is_store(LINES, place(TILED, "As[ty, k]"))


def test_names_that_a_loop_never_changes() -> None:
    loop = ast.parse("while k < TILE:\n    acc += 1\n").body[0]
    assert isinstance(loop, ast.While)
    assert source.unchanged_names(loop) == ("k",)


def test_loop_that_changes_its_test_has_no_such_names() -> None:
    loop = ast.parse("while k < TILE:\n    k += 1\n").body[0]
    assert isinstance(loop, ast.While)
    assert source.unchanged_names(loop) == ()


def test_text_that_does_not_parse_has_no_tree() -> None:
    assert source.tree(("def (:",)) is None
    assert source.guard(("def (:",), Span(1, 1, 1, 2)) is None
