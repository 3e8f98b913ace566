"""What a regrading says has changed is what the class's files said before, and nothing else."""

from __future__ import annotations

from pathlib import Path

import instant
from classes import FILES, hand_in

from grader.batch.purge import purge
from grader.batch.run import BatchResult

NAME = FILES[0]
WHO = ("ada", "01_tiled_matmul")


def changed(result: BatchResult) -> dict[tuple[str, str], tuple[float, float]]:
    """Give old and new points where they differ."""
    after = {(one.student.id, one.exercise.name): one.report.points for one in result.record.grades}
    before = {whose: one.points for whose, one in result.before.items()}
    return {whose: (old, after[whose]) for whose, old in before.items() if old != after[whose]}


def test_of_several_attempts_the_one_that_counted_is_compared(tmp_path: Path) -> None:
    # The copy counts, and its path is the first of the two.
    hand_in(tmp_path / "in", "ada", NAME, "TILE = 1\n")
    hand_in(tmp_path / "in", "ada", "01_tiled_matmul (1).py", "TILE = 2\n")
    instant.batch(tmp_path / "in", tmp_path / "out")
    result = instant.batch(tmp_path / "in", tmp_path / "out", regrade=True)
    assert result.graded == 2
    assert WHO in result.before
    assert changed(result) == {}


def test_points_that_a_person_gave_are_news_once(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "ada", NAME, "TILE = 1\n")
    out = tmp_path / "out"
    (one,) = instant.batch(tmp_path / "in", out).record.grades
    (out / "overrides.csv").write_text(
        "student,question,points,reason,grader\nada,01_tiled_matmul,7,r,kim\n", encoding="utf-8"
    )
    assert changed(instant.batch(tmp_path / "in", out, regrade=True)) == {WHO: (one.report.points, 7)}
    assert changed(instant.batch(tmp_path / "in", out, regrade=True)) == {}


def test_whose_hand_in_was_refused_is_known_to_a_regrading(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "ada", NAME, "TILE = 1\n")
    hand_in(tmp_path / "in", "bob", "work.zip", b"no archive")
    instant.batch(tmp_path / "in", tmp_path / "out")
    assert (
        instant.batch(tmp_path / "in", tmp_path / "out", regrade=True, regrade_students=("bob",)).graded == 0
    )


def test_a_purged_student_is_not_kept_for_the_next_regrading(tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        hand_in(tmp_path / "in", name, NAME, f"TILE = 1  # {name}\n")
    out = tmp_path / "out"
    instant.batch(tmp_path / "in", out)
    purge(out, "ada")
    assert not [path for path in out.iterdir() if path.is_file() and b"ada" in path.read_bytes()]
    assert {who for who, _ in instant.batch(tmp_path / "in", out, regrade=True).before} == {"bob"}
