from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.batch.assignment import Assignment, Late, read_assignment
from grader.batch.lateness import LateExtensionError, extended, lateness, penalty
from grader.batch.problems import BatchError

KNOWN = ("01_tiled_matmul", "02_ragged_dims")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def read(tmp_path: Path, text: str) -> Assignment:
    path = tmp_path / "assignment.yaml"
    path.write_text(text, encoding="utf-8")
    return read_assignment(path, KNOWN)


def test_all_keys(tmp_path: Path) -> None:
    assignment = read(
        tmp_path,
        """\
title: Homework 3
exercises: [02_ragged_dims]
attempts: best
timezone: Europe/Berlin
deadline: "2026-11-30 13:00"
deadlines: {02_ragged_dims: "2026-12-01T10:00+00:00"}
late: {policy: per-day, percent: 20, grace_minutes: 15, at_most: 50}
feedback: category
release: "2026-12-05"
limits: {seconds: 30}
""",
    )
    assert assignment.deadline == NOON
    assert assignment.deadline_of("02_ragged_dims") == datetime(2026, 12, 1, 10, tzinfo=UTC)
    assert assignment.deadline_of("01_tiled_matmul") == NOON
    assert assignment.late == Late("per-day", 20, 50, 15)
    assert (assignment.attempts, assignment.feedback, assignment.limits.seconds) == ("best", "category", 30)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attempt: best", r":1: unknown key 'attempt' in the assignment file; .*did you mean 'attempts'"),
        ("attempts: first", r":1: attempts: Invalid enum value 'first'; allowed: last, best"),
        ("exercises: [99]", r":1: exercises.0: text is expected; write '99' with its quotes"),
        ("exercises: [03_nothing]", r":1: no rubric is named '03_nothing'"),
        ("title: x\ndeadline: tomorrow", r":2: 'tomorrow' is no date"),
        ("timezone: Mars/North", r":1: 'Mars/North' is no time zone"),
        ("deadlines: {03_nothing: 2026-01-01}", r":1: "),
        ("late: {policy: cruel}", r":1: "),
        ("late: {percent: 120}", r":1: "),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BatchError, match=said):
        read(tmp_path, text)


def test_a_date_alone_is_the_whole_day_for_a_deadline_and_its_first_moment_for_a_release(
    tmp_path: Path,
) -> None:
    """With quotes or without, which YAML takes for a date of its own."""
    for date in ("2026-11-30", '"2026-11-30"'):
        assignment = read(tmp_path, f"deadline: {date}\nrelease: {date}\ntimezone: Europe/Berlin\n")
        assert assignment.deadline == datetime(2026, 11, 30, 22, 59, 59, tzinfo=UTC)
        assert assignment.release == datetime(2026, 11, 29, 23, tzinfo=UTC)
    assert read(tmp_path, "deadline: 2026-11-30 13:00:00\n").deadline == NOON.replace(hour=13)
    assert extended(Assignment(deadline=NOON), "01", "2026-12-24") == datetime(
        2026, 12, 24, 23, 59, 59, tzinfo=UTC
    )


def test_lateness_counts_past_the_deadline_and_the_grace() -> None:
    late = Late(grace_minutes=10)
    at = NOON.timestamp()
    assert [lateness(at + seconds, NOON, late) for seconds in (-5, 0, 600, 600.5, 3600)] == [
        0,
        0,
        0,
        601,
        3600,
    ]
    assert lateness(None, NOON, late) == lateness(at, None, late) == 0


@pytest.mark.parametrize(
    ("late", "seconds", "lost"),
    [
        (Late("none"), 10**6, 0),
        (Late("cut-off"), 1, 80),
        (Late("cut-off"), 0, 0),
        (Late("per-day", 10), 1, 8),
        (Late("per-day", 10), 86400, 8),
        (Late("per-day", 10), 86401, 16),
        (Late("per-day", 10, at_most=25), 10 * 86400, 20),
        (Late("per-day", 50), 30 * 86400, 80),
    ],
)
def test_what_lateness_costs_of_80_points(late: Late, seconds: int, lost: float) -> None:
    assert penalty(80, seconds, late) == lost


def test_extensions() -> None:
    assignment = Assignment(deadline=NOON, deadlines=(("02", datetime(2026, 12, 1, 12, tzinfo=UTC)),))
    assert extended(assignment, "01", "") == NOON
    assert extended(assignment, "01", "+2d") == datetime(2026, 12, 2, 12, tzinfo=UTC)
    assert extended(assignment, "02", "01=+36h; 02=2026-12-24 08:00") == datetime(2026, 12, 24, 8, tzinfo=UTC)
    assert extended(assignment, "02", "01=+36h") == datetime(2026, 12, 1, 12, tzinfo=UTC)
    with pytest.raises(LateExtensionError, match="soon"):
        extended(assignment, "01", "soon")
