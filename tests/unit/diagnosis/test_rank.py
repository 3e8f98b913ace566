from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.diagnosis import CATALOGUE, rank
from grader.diagnosis.rank import CONSEQUENCES
from grader.records import Finding, Slot, Span


def line(number: int) -> Span:
    return Span(number, 5, number, 20)


def found(
    name: str, severity: str | None = None, at: int = 10, why: int | None = None, **rest: object
) -> Finding:
    array = rest.pop("array", None)
    return Finding(
        name,
        severity or CATALOGUE[name].severity,  # type: ignore[arg-type]
        line(at),
        line(why) if why is not None else None,
        slot=Slot(str(array), "shared", (0, 0)) if array else None,
        facts=rest,  # type: ignore[arg-type]
    )


def names(*findings: Finding) -> list[str]:
    return [finding.name for finding in rank(findings)]


def test_families_come_in_the_order_in_which_faults_make_others_meaningless() -> None:
    one_each = [
        "uncoalesced-access",
        "wrong-result",
        "out-of-bounds-read",
        "undefined-variable",
        "global-write-conflict",
        "divergent-barrier",
        "block-too-large",
        "type-error",
    ]
    apart = [found(name, "error", at=10 * number) for number, name in enumerate(one_each, 1)]
    assert names(*apart) == one_each[::-1]


def test_a_store_past_its_row_comes_before_the_conflict_it_makes_there() -> None:
    past, conflict = found("out-of-bounds-write", at=47), found("global-write-conflict", "error", at=47)
    assert names(conflict, past) == ["out-of-bounds-write", "global-write-conflict"]


def test_missing_first_barrier_comes_before_the_unfilled_slots_it_leaves() -> None:
    race = found("shared-read-before-barrier", at=30, why=20, array="As")
    empty = found("uninitialised-shared-read", at=30, why=8, array="As")
    assert names(empty, race) == ["shared-read-before-barrier", "uninitialised-shared-read"]


def test_missing_zero_comes_before_the_wrong_result_it_gives() -> None:
    stale = found("stale-shared-read", at=30, why=18)
    assert names(found("repeated-k-tail", at=15), stale, found("wrong-result")) == [
        "stale-shared-read",
        "repeated-k-tail",
        "wrong-result",
    ]


def test_stale_and_empty_slots_of_one_guard_are_told_by_the_stale_ones() -> None:
    stale = found("stale-shared-read", at=30, why=18)
    empty = found("uninitialised-shared-read", at=30, why=18)
    assert names(empty, stale) == ["stale-shared-read", "uninitialised-shared-read"]


def test_early_return_though_a_warning_comes_before_the_slots_it_left_empty() -> None:
    gone = found("exit-before-barrier", at=12, why=25)
    empty = found("uninitialised-shared-read", at=30, why=8)
    assert names(empty, gone) == ["exit-before-barrier", "uninitialised-shared-read"]


def test_guard_below_an_early_return_is_a_fault_of_its_own() -> None:
    gone = found("exit-before-barrier", at=12, why=25)
    stale = found("stale-shared-read", at=30, why=18)
    assert names(gone, stale) == ["stale-shared-read", "exit-before-barrier"]


def test_divergent_barrier_comes_before_the_races_it_lets_through() -> None:
    race = found("shared-read-before-barrier", at=30, why=20)
    assert names(race, found("divergent-barrier", at=24)) == [
        "divergent-barrier",
        "shared-read-before-barrier",
    ]


def test_small_grid_though_a_warning_comes_before_the_elements_it_misses() -> None:
    missing = found("unwritten-output", at=40)
    assert names(missing, found("wrong-result"), found("grid-too-small", at=50)) == [
        "grid-too-small",
        "unwritten-output",
        "wrong-result",
    ]


def test_small_grid_does_not_outrank_an_error_that_it_does_not_explain() -> None:
    race = found("shared-read-before-barrier", at=30, why=20)
    ranked = names(found("grid-too-small"), race, found("unwritten-output"))
    assert ranked == ["shared-read-before-barrier", "grid-too-small", "unwritten-output"]


def test_exchanged_indices_come_before_all_they_bring_about() -> None:
    ranked = names(
        found("uncoalesced-access"),
        found("out-of-bounds-write"),
        found("unwritten-output"),
        found("transposed-result"),
    )
    assert ranked == ["transposed-result", "out-of-bounds-write", "unwritten-output", "uncoalesced-access"]


def test_store_to_the_wrong_place_comes_before_the_element_missing_at_the_right_one() -> None:
    assert names(found("unwritten-output"), found("out-of-bounds-write")) == [
        "out-of-bounds-write",
        "unwritten-output",
    ]


def test_read_past_the_end_that_feeds_no_stored_output_comes_after_the_wrong_result() -> None:
    unused = found("out-of-bounds-read", reaches="nothing")
    assert names(unused, found("wrong-result")) == ["wrong-result", "out-of-bounds-read"]


def test_lost_fractions_though_a_warning_come_before_the_wrong_result() -> None:
    assert names(found("wrong-result"), found("precision-loss")) == ["precision-loss", "wrong-result"]


def test_store_past_the_end_comes_before_the_read_of_the_same_array() -> None:
    read = found("out-of-bounds-read", at=45, array="As")
    write = found("out-of-bounds-write", at=36, array="As")
    other = found("out-of-bounds-write", at=36, array="C")
    assert names(read, write) == ["out-of-bounds-write", "out-of-bounds-read"]
    assert names(read, other) == ["out-of-bounds-read", "out-of-bounds-write"]


def test_threads_that_share_an_element_come_before_the_elements_without_one() -> None:
    shared = found("global-write-conflict", at=47, array="C")
    assert names(found("grid-too-small", "error", at=47, array="C"), shared) == [
        "global-write-conflict",
        "grid-too-small",
    ]


def test_two_stores_to_a_slot_come_before_the_slot_that_stayed_empty() -> None:
    conflict = found("shared-write-conflict", at=20, array="As")
    empty = found("uninitialised-shared-read", at=30, array="As")
    assert names(empty, conflict) == ["shared-write-conflict", "uninitialised-shared-read"]


def test_conflict_that_is_a_note_stays_below_an_error_of_another_array() -> None:
    conflict = found("shared-write-conflict", "note", at=20, array="Bs")
    empty = found("uninitialised-shared-read", at=30, array="As")
    assert names(conflict, empty) == ["uninitialised-shared-read", "shared-write-conflict"]


def test_kernel_that_cannot_be_launched_has_nothing_before_it() -> None:
    for stopped in (
        "type-error",
        "non-constant-shared-shape",
        "shared-memory-too-large",
        "bad-launch-config",
    ):
        assert names(found("divergent-barrier"), found("unwritten-output"), found(stopped))[0] == stopped


def test_stopped_kernel_comes_before_the_outputs_it_did_not_store() -> None:
    assert names(found("unwritten-output"), found("did-not-finish"))[0] == "did-not-finish"


def test_unshared_loads_come_before_the_ratio_they_lower() -> None:
    low = found("low-arithmetic-intensity", "error")
    assert names(low, found("no-shared-reuse", "error")) == ["no-shared-reuse", "low-arithmetic-intensity"]


def test_one_finding_stays_of_those_with_one_name_and_pair_of_lines() -> None:
    first = found("shared-read-before-barrier", "note", at=30, why=20)
    worse = found("shared-read-before-barrier", "error", at=30, why=20)
    other = found("shared-read-before-barrier", at=30, why=22)
    assert rank([first, worse, other, first]) == (worse, other)


def test_earlier_line_comes_first_among_equals() -> None:
    assert [
        one.primary for one in rank([found("out-of-bounds-read", at=9), found("out-of-bounds-read", at=4)])
    ] == [
        line(4),
        line(9),
    ]


def test_every_rule_names_known_findings_and_gives_its_reason() -> None:
    for rule in CONSEQUENCES:
        assert rule.causes | rule.effects <= set(CATALOGUE)
        assert rule.causes
        assert rule.effects
        assert rule.why


anything = st.builds(
    found,
    st.sampled_from(sorted(CATALOGUE)),
    st.sampled_from(["error", "warning", "note"]),
    at=st.integers(1, 4),
    why=st.one_of(st.none(), st.integers(1, 4)),
)


@given(st.lists(anything, max_size=8))
def test_ranking_neither_loses_nor_invents_a_name(findings: list[Finding]) -> None:
    ranked = rank(findings)
    assert {one.name for one in ranked} == {one.name for one in findings}
    assert rank(ranked) == ranked


@given(st.lists(anything, max_size=6), st.randoms())
def test_ranking_does_not_depend_on_the_order_given(findings: list[Finding], random: object) -> None:
    distinct = list(rank(findings))
    turned = distinct[:]
    random.shuffle(turned)  # type: ignore[attr-defined]
    assert [(one.name, one.primary, one.severity) for one in rank(turned)] == [
        (one.name, one.primary, one.severity) for one in rank(distinct)
    ]


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_unknown_places_are_no_obstacle(name: str) -> None:
    assert rank([Finding(name, "error")]) == (Finding(name, "error"),)


@pytest.mark.parametrize("effect", ["uninitialised-shared-read", "stale-shared-read"])
def test_a_read_past_the_tile_comes_before_the_slot_that_it_finds_there(effect: str) -> None:
    past, slot = (
        found("out-of-bounds-read", at=34, array="a"),
        found(effect, "error", at=34, why=27, array="a"),
    )
    assert names(slot, past) == ["out-of-bounds-read", effect]
    elsewhere = found("out-of-bounds-read", at=40, array="a")
    assert names(slot, elsewhere) == [effect, "out-of-bounds-read"]


def test_what_is_known_with_and_without_a_guard_is_told_once_of_one_slot() -> None:
    bare = replace(found("uninitialised-shared-read", at=50, array="As"), counts={"shapes": 21})
    guarded = replace(found("uninitialised-shared-read", at=50, why=35, array="As"), counts={"shapes": 4})
    assert rank([guarded, bare]) == (bare,)
    other = replace(guarded, slot=Slot("As", "shared", (1, 0)))
    assert len(rank([other, bare])) == 2
    note = replace(bare, severity="note")
    assert rank([guarded, note]) == (guarded,)
