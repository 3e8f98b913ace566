from __future__ import annotations

from dataclasses import replace

from grader.records import CheckResult, Outcome, QuestionResult
from grader.rubric.model import Bound, Checks, CoalescingCheck, SimpleCheck, TrafficCheck
from grader.rubric.scoring import ShapeScore, outcome_of, score_checks, total

CHECKS = Checks(
    result=SimpleCheck(40),
    hazards=SimpleCheck(30),
    bounds=SimpleCheck(20),
    traffic=TrafficCheck(10, Bound(at_least="0.95 * TILE / 4")),
    coalescing=CoalescingCheck(5, Bound(at_most=4.5)),
)
SETTINGS = {"TILE": 16}


def shape(
    *,
    family: str = "aligned",
    right: bool = True,
    hazards: bool = False,
    out_of_bounds: bool = False,
    intensity: float | None = 4.0,
    sectors: float | None = 4.0,
) -> ShapeScore:
    return ShapeScore(family, right, hazards, out_of_bounds, intensity, sectors)


def points(*shapes: ShapeScore, checks: Checks = CHECKS) -> dict[str, float]:
    return {result.name: result.points for result in score_checks(checks, shapes, SETTINGS)}


def test_a_clean_kernel_earns_all() -> None:
    results = score_checks(CHECKS, [shape(), shape(family="deep")], SETTINGS)
    assert [result.points for result in results] == [40, 30, 20, 10, 5]
    assert all(result.passed for result in results)


def test_a_kernel_that_does_nothing_earns_nothing() -> None:
    empty = [shape(right=False, intensity=None, sectors=None)] * 4
    assert points(*empty) == {"result": 0, "hazards": 0, "bounds": 0, "traffic": 0, "coalescing": 0}


def test_no_shapes_earn_nothing() -> None:
    results = score_checks(CHECKS, [], SETTINGS)
    assert sum(result.points for result in results) == 0
    assert not any(result.passed for result in results)


def test_every_check_is_scaled_by_the_right_shapes() -> None:
    half = [shape(), shape(right=False)]
    assert points(*half) == {"result": 20, "hazards": 15, "bounds": 10, "traffic": 5, "coalescing": 2.5}


def test_hazards_and_bounds_count_only_shapes_that_are_right_too() -> None:
    shapes = [shape(hazards=True), shape(out_of_bounds=True), shape(right=False, hazards=True), shape()]
    scored = points(*shapes)
    assert (scored["result"], scored["hazards"], scored["bounds"]) == (30, 15, 10)


def test_low_intensity_on_one_aligned_shape_loses_the_traffic_points() -> None:
    assert points(shape(), shape(intensity=0.25))["traffic"] == 0
    assert points(shape(), shape(family="deep", intensity=0.25))["traffic"] == 10


def test_without_a_right_aligned_shape_there_is_no_figure_and_no_points() -> None:
    (result,) = score_checks(Checks(traffic=CHECKS.traffic), [shape(family="deep")], SETTINGS)
    assert (result.points, result.passed) == (0, False)
    assert result.detail == "no figure in flop per loaded byte on aligned shapes; at least 3.8 is wanted"


def test_the_bound_follows_the_students_tile() -> None:
    low = [shape(intensity=1.0)]
    assert score_checks(CHECKS, low, {"TILE": 4})[3].passed
    assert not score_checks(CHECKS, low, {"TILE": 8})[3].passed


def test_sectors_have_an_upper_bound() -> None:
    assert points(shape(sectors=32))["coalescing"] == 0


def test_a_check_that_requires_another_waits_for_it() -> None:
    checks = Checks(
        result=SimpleCheck(40), hazards=SimpleCheck(30, requires="traffic"), traffic=CHECKS.traffic
    )
    assert points(shape(intensity=0.25), checks=checks) == {"result": 40, "hazards": 0, "traffic": 0}
    assert points(shape(), checks=checks)["hazards"] == 30


def question(status: str, points: float, pending: float = 0.0) -> QuestionResult:
    return QuestionResult("q", "Q", status, points, 5, pending)  # type: ignore[arg-type]


def test_totals_keep_pending_points_apart() -> None:
    check = CheckResult("result", 12.34, 40, passed=False)
    assert total([check], [question("right", 5), question("needs review", 0, 5)]) == (17.34, 50, 5)


def test_an_answer_that_waits_for_a_person_does_not_fail() -> None:
    good = CheckResult("result", 40, 40, passed=True)
    assert outcome_of([good], [question("needs review", 0, 5)]) is Outcome.PASS
    assert outcome_of([good], [question("wrong", 0)]) is Outcome.FAIL
    assert outcome_of([good], [question("partly right", 2)]) is Outcome.FAIL
    assert outcome_of([CheckResult("result", 39, 40, passed=False)], []) is Outcome.FAIL


def traffic(*figures: tuple[float, bool]) -> tuple[bool, str]:
    """Whether the bound on traffic holds for shapes with a figure each, shown or not; and what is told."""
    shapes = [replace(shape(intensity=figure), shown=shown) for figure, shown in figures]
    result = next(one for one in score_checks(CHECKS, shapes, SETTINGS) if one.name == "traffic")
    return result.passed, result.detail


def test_a_detail_gives_no_figure_of_a_hidden_shape() -> None:
    wanted = "flop per loaded byte on aligned shapes; at least 3.8 is wanted"
    assert traffic((4.0, True), (3.9, True)) == (True, f"3.9 {wanted}")
    assert traffic((4.0, True), (3.87, False)) == (True, f"4 {wanted}")
    assert traffic((4.0, True), (1.23, False)) == (False, f"4 {wanted}, and missed on a hidden one")
    assert traffic((3.5, True), (1.23, False)) == (False, f"3.5 {wanted}")
    assert traffic((1.23, False)) == (False, f"{wanted}, and missed on a hidden one")
