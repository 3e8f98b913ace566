from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grader.diagnosis.passing import Reason, explain_passing, separate, whole_tiles
from grader.records import ShapeResult

TILE = {"TILE": 16}


def shape(m: int, n: int, k: int, wrong: bool = False) -> ShapeResult:
    return ShapeResult("family", {"M": m, "N": n, "K": k}, True, not wrong, 9 if wrong else 0, m * n)


def told(
    failing: list[tuple[int, int, int]], passing: list[tuple[int, int, int]], reason: Reason | None = None
) -> str:
    return explain_passing(
        [shape(*s, wrong=True) for s in failing], [shape(*s) for s in passing], TILE, reason
    )


def test_ragged_k() -> None:
    assert told([(50, 37, 40), (64, 64, 9), (1, 5, 17)], [(50, 37, 64), (64, 32, 48)]) == (
        "fails exactly when K is not a multiple of TILE: 3 of 3 such shapes; the other 2 pass"
    )


def test_ragged_m_or_n() -> None:
    assert told([(50, 32, 64), (32, 37, 64), (50, 37, 40)], [(64, 32, 48), (32, 48, 40), (16, 16, 16)]) == (
        "fails exactly when M or N is not a multiple of TILE: 3 of 3 such shapes; the other 3 pass"
    )


def test_ragged_k_beyond_the_first_tile() -> None:
    assert told([(50, 32, 24), (32, 37, 17), (16, 16, 41)], [(64, 32, 9), (32, 48, 48), (50, 30, 15)]) == (
        "fails exactly when K is not a multiple of TILE and greater than TILE: "
        "3 of 3 such shapes; the other 3 pass"
    )


def test_more_than_one_k_tile() -> None:
    assert told([(64, 32, 48), (32, 37, 20), (16, 20, 17)], [(64, 32, 16), (50, 37, 9)]).startswith(
        "fails exactly when K is greater than TILE: 3 of 3"
    )


def test_tiles_along_n_fewer_than_along_k() -> None:
    assert told([(64, 32, 48), (20, 16, 33), (90, 30, 40)], [(64, 48, 33), (16, 99, 20), (33, 64, 64)]) == (
        "fails exactly when K takes more tiles of TILE than N: 3 of 3 such shapes; the other 3 pass"
    )


def test_output_that_is_not_square() -> None:
    assert told([(64, 32, 48), (20, 30, 33), (32, 64, 64)], [(40, 40, 20), (64, 64, 33), (7, 7, 64)]) == (
        "fails exactly when M and N differ: 3 of 3 such shapes; the other 3 pass"
    )


def test_k_is_one() -> None:
    sentence = told([(64, 32, 1), (20, 30, 1)], [(40, 40, 17), (64, 64, 33), (7, 9, 2), (7, 9, 18)])
    assert sentence == "fails exactly when K is 1: 2 of 2 such shapes; the other 4 pass"


def test_single_passing_shape_is_told_in_words() -> None:
    assert told([(50, 37, 40), (64, 64, 9), (1, 5, 17)], [(64, 32, 48)]).endswith("the other one passes")


def test_rule_that_holds_one_way_says_which() -> None:
    ragged = [(50, 37, 40), (64, 64, 9), (1, 5, 17), (33, 16, 20)]
    assert told([*ragged, (64, 32, 48)], [(32, 64, 48), (16, 80, 32), (32, 16, 160), (16, 16, 16)]) == (
        "fails whenever K is not a multiple of TILE (4 of 4 such shapes), and on 1 of the other 5"
    )


def test_rule_that_only_excludes_says_so() -> None:
    passing = [(50, 37, 16), (64, 64, 32), (20, 20, 20)]
    assert told([(17, 18, 19), (50, 37, 40), (5, 70, 21)], passing) == (
        "fails only when K is not a multiple of TILE (3 of 4 such shapes); the other 2 all pass"
    )


def test_nothing_is_said_without_failing_or_passing_shapes() -> None:
    assert told([], [(1, 2, 3)]) == ""
    assert told([(1, 2, 3)], []) == ""


def test_few_shapes_are_listed_and_no_rule_is_made_of_them() -> None:
    assert told([(50, 37, 40)], [(64, 64, 64), (50, 37, 64)]) == (
        "(M = 64, N = 64, K = 64) and (M = 50, N = 37, K = 64) pass; 3 shapes show no rule"
    )


def test_no_rule_is_claimed_where_equal_shapes_fall_on_both_sides() -> None:
    same = [(50, 37, 40), (64, 64, 64)]
    assert (
        told(same, same) == "2 of 4 shapes; none of the rules that were tried over their sizes separates them"
    )


def test_reason_is_given_only_where_every_passing_shape_bears_it_out() -> None:
    reason = whole_tiles(["K"], TILE, "there the last tile is full")
    failing = [(50, 37, 40), (64, 64, 9), (1, 5, 17)]
    assert told(failing, [(50, 37, 64), (64, 32, 48)], reason).endswith("; there the last tile is full")
    assert "full" not in told(failing, [(50, 37, 64), (64, 32, 41)], reason)


def test_dimension_of_the_fault_is_preferred_among_equal_rules() -> None:
    failing = [shape(50, 37, 40, wrong=True), shape(20, 21, 22, wrong=True)]
    passing = [shape(64, 32, 48), shape(16, 16, 16)]
    for name in "MNK":
        found = separate(failing, passing, TILE, [name])
        assert found is not None
        assert found.rule.text == f"{name} is not a multiple of TILE"


sizes = st.tuples(*[st.integers(1, 70)] * 3)


@given(st.lists(sizes, min_size=1, max_size=8), st.lists(sizes, min_size=1, max_size=8))
def test_what_is_said_is_true_of_the_shapes(
    failing: list[tuple[int, int, int]], passing: list[tuple[int, int, int]]
) -> None:
    bad, good = [shape(*s, wrong=True) for s in failing], [shape(*s) for s in passing]
    found = separate(bad, good, TILE)
    if found is None:
        return
    under_bad = [found.rule.holds(one.dims) for one in bad]
    under_good = [found.rule.holds(one.dims) for one in good]
    assert found.under + found.outside == len(bad) + len(good)
    if found.exact:
        assert all(under_bad)
        assert not any(under_good)
    elif found.sufficient:
        assert not any(under_good)
        assert found.under == sum(under_bad) >= 2
    else:
        assert all(under_bad)
        assert found.others == sum(under_good)


def shapes(*dims: tuple[int, int, int], floats: bool = False, wrong: int = 0) -> list[ShapeResult]:
    return [
        ShapeResult("any", dict(zip("MNK", one, strict=True)), True, not wrong, wrong, 9, floats=floats)
        for one in dims
    ]


def test_a_fault_of_fractions_is_not_explained_by_sizes() -> None:
    failing = shapes((16, 16, 16), (50, 37, 40), floats=True, wrong=3)
    passing = shapes((32, 32, 32), (1, 1, 9), (7, 8, 9))
    said = explain_passing(failing, passing, {"TILE": 16})
    alone, rest = said.split("; ")
    assert alone == "3 shapes were launched on whole numbers alone, which do not show it"
    assert rest == "every shape that saw floats fails"


def test_among_the_shapes_that_saw_floats_the_sizes_may_tell() -> None:
    failing = shapes((16, 16, 17), (50, 37, 40), floats=True, wrong=3)
    passing = [*shapes((32, 32, 32), (1, 1, 16), floats=True), *shapes((7, 8, 9))]
    said = explain_passing(failing, passing, {"TILE": 16})
    assert said.startswith("fails exactly when K is not a multiple of TILE: 2 of 2 such shapes")
    assert said.endswith("; besides, one shape was launched on whole numbers alone, which do not show it")


def test_a_size_just_past_a_multiple_and_past_two_tiles() -> None:
    sizes = [(9, 9, 17), (9, 9, 33), (9, 9, 1), (9, 9, 49)]
    others = [(9, 9, 16), (9, 9, 18), (9, 9, 40), (9, 9, 15)]
    assert "K is one more than a multiple of TILE: 4 of 4" in told(sizes, others)
    wide, narrow = [(9, n, 9) for n in (33, 40, 47, 64)], [(9, n, 9) for n in (1, 17, 31, 32)]
    assert "N is greater than 2 * TILE: 4 of 4" in told(wide, narrow)


def test_a_rule_that_leaves_most_others_failing_is_not_told() -> None:
    differ = [(n, n + 1, 8) for n in range(1, 27)]
    assert "none of the rules" in told([*differ, (5, 5, 9)], [(5, 5, 8), (6, 6, 8)])
