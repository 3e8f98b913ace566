"""Trials as the records that scoring and reports read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.checks.evidence import hazards, out_of_bounds, settle
from grader.checks.launching import Launcher, Trial
from grader.checks.traffic import intensity, sectors_per_request
from grader.records import FamilyResult, ShapeResult
from grader.rubric.scoring import ShapeScore
from grader.rubric.suites import Shape

__all__ = ["families_of", "shape_result", "shape_scores"]


def shape_scores(
    shapes: Sequence[Shape],
    trials: Sequence[Trial],
    launcher: Launcher | None,
    also_right: Sequence[bool] | None = None,
) -> tuple[ShapeScore, ...]:
    """One score for every shape of the suite; those that were not launched are not right.

    ``also_right`` has, where the kernel ran on a GPU too, whether each shape was right there.
    """
    scores = []
    for index, shape in enumerate(shapes):
        if launcher is None or index >= len(trials):
            scores.append(ShapeScore(shape.family, right=False, hazards=False, out_of_bounds=False))
            continue
        trial = trials[index]
        findings = settle(launcher, trial)
        scores.append(
            ShapeScore(
                family=shape.family,
                right=trial.right and (also_right is None or also_right[index]),
                hazards=hazards(findings),
                out_of_bounds=out_of_bounds(findings),
                flop_per_loaded_byte=intensity(trial),
                sectors_per_request=sectors_per_request(trial),
                # Without a key the hidden shapes follow from the repository: their figures give nothing away.
                shown=shape.shown or not launcher.key,
            )
        )
    return tuple(scores)


def families_of(
    shapes: Sequence[Shape],
    trials: Sequence[Trial],
    launcher: Launcher | None,
    also_right: Sequence[bool] | None = None,
) -> tuple[FamilyResult, ...]:
    """The shapes by family, in the suite's order. A shape passes where it is right and free of errors."""
    by_family: dict[str, list[ShapeResult]] = {}
    for index, shape in enumerate(shapes):
        trial = trials[index] if index < len(trials) else None
        result = shape_result(shape, trial, launcher)
        if also_right is not None and not also_right[index]:
            result = replace(result, passed=False)
        by_family.setdefault(shape.family, []).append(result)
    return tuple(
        FamilyResult(name, sum(result.passed for result in results), len(results), tuple(results))
        for name, results in by_family.items()
    )


def shape_result(shape: Shape, trial: Trial | None, launcher: Launcher | None) -> ShapeResult:
    """One shape's result; without a trial it did not pass."""
    if trial is None or launcher is None:
        return ShapeResult(shape.family, shape.dims, shape.shown, passed=False, ran=False)
    clean = not any(finding.severity == "error" for finding in settle(launcher, trial))
    return ShapeResult(
        shape.family,
        shape.dims,
        shape.shown,
        trial.right and clean,
        trial.wrong,
        trial.elements,
        floats=any(not one.arguments.exact for one in trial.passes),
    )
