"""Points of a kernel exercise: earned by shapes whose result is right, never free.

With n shapes in all, the points p of a check give

    result      p * right / n
    hazards     p * (right and free of hazards) / n
    bounds      p * (right and within bounds) / n
    traffic     p * right / n  where the bound holds on every right shape of the bound's family, else 0
    coalescing  p * right / n  likewise

"right" is a shape whose launch finished and whose every element is right in every pass. A check
with ``requires`` scores 0 where the named check scores 0. Points are rounded to hundredths. An
empty kernel has no right shape, hence nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.records import CheckResult, Outcome, QuestionResult
from grader.rubric.expressions import evaluate
from grader.rubric.model import Bound, Check, Checks, CoalescingCheck, TrafficCheck

__all__ = ["ShapeScore", "outcome_of", "score_checks", "total"]


@dataclass(frozen=True, slots=True)
class ShapeScore:
    """What scoring needs to know of one launched shape.

    ``flop_per_loaded_byte`` and ``sectors_per_request`` are None where nothing was loaded. ``shown`` is
    false for a shape that an instructor's key drew: no figure of its launch may stand in a detail.
    """

    family: str
    right: bool
    hazards: bool
    out_of_bounds: bool
    flop_per_loaded_byte: float | None = None
    sectors_per_request: float | None = None
    shown: bool = True


def score_checks(
    checks: Checks, shapes: Sequence[ShapeScore], settings: Mapping[str, int]
) -> tuple[CheckResult, ...]:
    """The points of every check of the rubric, in its order."""
    scored = {name: _score(name, check, shapes, settings) for name, check in checks.present.items()}
    return tuple(
        _withheld(result, check.requires) if check.requires and not scored[check.requires].points else result
        for (name, check) in checks.present.items()
        for result in (scored[name],)
    )


def total(checks: Iterable[CheckResult], questions: Iterable[QuestionResult]) -> tuple[float, float, float]:
    """(points, possible, pending) of a report."""
    checks, questions = tuple(checks), tuple(questions)
    points = sum(check.points for check in checks) + sum(question.points for question in questions)
    possible = sum(check.possible for check in checks) + sum(question.possible for question in questions)
    return round(points, 2), round(possible, 2), round(sum(question.pending for question in questions), 2)


def outcome_of(checks: Iterable[CheckResult], questions: Iterable[QuestionResult]) -> Outcome:
    """PASS where every check passed and every question is right or waits for a person."""
    good = all(check.passed for check in checks)
    answered = all(question.status in ("right", "needs review") for question in questions)
    return Outcome.PASS if good and answered else Outcome.FAIL


def _score(name: str, check: Check, shapes: Sequence[ShapeScore], settings: Mapping[str, int]) -> CheckResult:
    right = sum(shape.right for shape in shapes)
    match name, check:
        case "hazards", _:
            good = sum(shape.right and not shape.hazards for shape in shapes)
            detail = f"{good} of {len(shapes)} shapes right and free of hazards"
        case "bounds", _:
            good = sum(shape.right and not shape.out_of_bounds for shape in shapes)
            detail = f"{good} of {len(shapes)} shapes right and within bounds"
        case _, TrafficCheck(flop_per_loaded_byte=bound):
            measured = [(shape.flop_per_loaded_byte, shape.shown) for shape in _judged(shapes, bound)]
            holds, detail = _compare(bound, measured, settings, "flop per loaded byte")
            good = right * holds
        case _, CoalescingCheck(sectors_per_request=bound):
            measured = [(shape.sectors_per_request, shape.shown) for shape in _judged(shapes, bound)]
            holds, detail = _compare(bound, measured, settings, "sectors per load request")
            good = right * holds
        case _:
            good, detail = right, f"{right} of {len(shapes)} shapes right"
    points = round(check.points * good / len(shapes), 2) if shapes else 0.0
    return CheckResult(name, points, check.points, bool(shapes) and good == len(shapes), detail)


def _judged(shapes: Sequence[ShapeScore], bound: Bound) -> list[ShapeScore]:
    return [shape for shape in shapes if shape.family == bound.on and shape.right]


def _compare(
    bound: Bound, measured: Sequence[tuple[float | None, bool]], settings: Mapping[str, int], unit: str
) -> tuple[bool, str]:
    """Whether the bound holds on every figure, and the worst figure that may be told beside the bound.

    ``measured`` has each shape's figure and whether the shape is shown: a kernel could write a size into
    its traffic and read it off a hidden shape's figure. Without a figure nothing was shown, and the bound
    does not hold.
    """
    least = bound.at_least is not None
    limit = evaluate(str(bound.at_least if least else bound.at_most), settings)
    wanted = f"on {bound.on} shapes; {'at least' if least else 'at most'} {limit:.4g} is wanted"
    if not measured or any(figure is None for figure, _ in measured):
        return False, f"no figure in {unit} {wanted}"

    def worst(figures: Iterable[float]) -> float:
        return min(figures) if least else max(figures)

    def held(figure: float) -> bool:
        return figure >= limit if least else figure <= limit

    holds = held(worst(figure for figure, _ in measured if figure is not None))
    open_ones = [figure for figure, shown in measured if figure is not None and shown]
    if not open_ones:
        return holds, f"{unit} {wanted}, and {'found' if holds else 'missed'} on a hidden one"
    told = f"{worst(open_ones):.4g} {unit} {wanted}"
    return holds, told if holds or not held(worst(open_ones)) else f"{told}, and missed on a hidden one"


def _withheld(result: CheckResult, requires: str) -> CheckResult:
    return CheckResult(
        result.name, 0.0, result.possible, False, f"{result.detail}; needs the check {requires}"
    )
