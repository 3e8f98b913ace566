"""Every known-wrong submission is told its own fault on its own line; every odd but correct one passes."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from grader.records import Diagnostic, Report
from tests.content.variants import EXERCISES, Variant, graded, variants


def _tried(kind: str) -> list[Variant]:
    """All in CI. Elsewhere what fits both exercises, whose solutions share their kernel, by turns in each."""
    found = [variant for exercise in EXERCISES for variant in variants(kind, exercise)]
    if os.environ.get("CI"):
        return found
    fits = Counter(variant.name for variant in found)
    both = [name for name, count in fits.items() if count == len(EXERCISES)]
    turn = {name: EXERCISES[i % len(EXERCISES)] for i, name in enumerate(both)}
    return [variant for variant in found if turn.get(variant.name, variant.exercise) == variant.exercise]


WRONG = _tried("wrong")
ODD = _tried("odd")


def _place(diagnostic: Diagnostic) -> tuple[str, int | None]:
    return diagnostic.name, diagnostic.frame.primary.span.line if diagnostic.frame else None


@pytest.mark.parametrize("exercise", EXERCISES)
def test_there_are_enough(exercise: str) -> None:
    assert len(variants("wrong", exercise)) >= 25
    assert len(variants("odd", exercise)) >= 10


def _param(variant: Variant) -> object:
    disputed = variant.expected.disputed
    return pytest.param(
        variant, id=str(variant), marks=[pytest.mark.xfail(reason=disputed)] if disputed else []
    )


@pytest.mark.parametrize("variant", [_param(variant) for variant in WRONG])
def test_wrong_is_named(variant: Variant) -> None:
    report, expected = graded(variant), variant.expected
    assert report.outcome.value == expected.outcome, report.reason
    faults = [
        _place(one) for one in report.diagnostics if one.severity == "error" or one.name == "not-started"
    ]
    if expected.name is None:
        assert not faults
    else:
        assert faults
        assert faults[0] == (expected.name, expected.line or faults[0][1])
        assert {name for name, _ in faults[1:]} <= expected.also | {expected.name}
    _assert_points(report, variant)


@pytest.mark.parametrize("variant", [_param(variant) for variant in ODD])
def test_odd_but_correct_passes(variant: Variant) -> None:
    report, expected = graded(variant), variant.expected
    shown = [_place(diagnostic) for diagnostic in report.diagnostics if diagnostic.severity != "note"]
    assert (report.outcome.value, shown) == (expected.outcome, []), report.reason
    assert report.points == report.possible == 100
    assert expected.notes <= {diagnostic.name for diagnostic in report.diagnostics}


def _assert_points(report: Report, variant: Variant) -> None:
    if variant.expected.points is not None:
        assert report.points == variant.expected.points
    if variant.expected.check_points is not None:
        assert sum(check.points for check in report.checks) == variant.expected.check_points
    assert report.points < 100
