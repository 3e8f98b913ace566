"""Every known-wrong submission is told its own fault on its own line; every odd but correct one passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.grade import grade
from grader.records import Diagnostic, Report
from tests.content.variants import EXERCISES, Variant, variants

WRONG = [variant for exercise in EXERCISES for variant in variants("wrong", exercise)]
ODD = [variant for exercise in EXERCISES for variant in variants("odd", exercise)]


def _graded(variant: Variant, folder: Path) -> Report:
    path = folder / f"{variant.exercise}.py"
    path.write_text(variant.source, encoding="utf-8", newline="")
    return grade(variant.exercise, path)


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
def test_wrong_is_named(variant: Variant, tmp_path: Path) -> None:
    report, expected = _graded(variant, tmp_path), variant.expected
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
def test_odd_but_correct_passes(variant: Variant, tmp_path: Path) -> None:
    report, expected = _graded(variant, tmp_path), variant.expected
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
