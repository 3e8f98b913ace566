"""No attack gains a point from the machine, which reads a submission and runs none of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.grade import grade
from grader.records import Outcome, Report
from grader.rubric.load import load
from tests.attacks.corpus import CANARY, EXECUTED, HEAD, RIGHT, WRONG, Attack
from tests.attacks.scoring import ANSWERS, SCORING, Scoring

EXERCISE = "02_ragged_dims"
ROOT = Path(__file__).resolve().parents[2]
SHEET = (ROOT / "solutions/03_intensity_math.md").read_text(encoding="utf-8")


def graded(folder: Path, source: str, exercise: str = EXERCISE, suffix: str = ".py") -> Report:
    path = folder / f"{exercise}{suffix}"
    path.write_text(source, encoding="utf-8")
    return grade(exercise, path, private_key=b"0123456789abcdef0123456789abcdef")


def kernel_points(report: Report) -> float:
    return round(sum(check.points for check in report.checks), 2)


def test_the_corpus_is_as_large_as_it_should_be() -> None:
    names = [one.name for one in (*EXECUTED, *SCORING)]
    assert len(set(names)) == len(names)
    assert len(EXECUTED) >= 60
    assert len(SCORING) + len(ANSWERS) >= 15


def test_controls(tmp_path: Path) -> None:
    assert kernel_points(graded(tmp_path, HEAD + WRONG)) == 0
    assert kernel_points(graded(tmp_path, HEAD + RIGHT)) == 80


@pytest.mark.parametrize("attack", EXECUTED, ids=lambda attack: attack.name)
def test_an_attack_gains_nothing_and_runs_nothing(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubric.yaml").write_text(CANARY)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    report = graded(tmp_path, attack.source)
    assert report.outcome in (Outcome.FAIL, Outcome.CANNOT_JUDGE), report.fault
    assert kernel_points(report) == 0
    assert CANARY not in repr(report)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != f"{EXERCISE}.py"}
    assert after == before
    # The attack costs a right kernel nothing either, unless it changes what the kernel is.
    if attack.kernel is WRONG:
        assert kernel_points(graded(tmp_path, attack.source_with_right_kernel)) in (0, 80)


@pytest.mark.parametrize("attack", SCORING, ids=lambda attack: attack.name)
def test_an_attack_on_the_scoring_gets_what_it_earned(attack: Scoring, tmp_path: Path) -> None:
    report = graded(tmp_path, attack.source)
    assert report.outcome is not Outcome.PASS
    assert kernel_points(report) <= attack.most, [(check.name, check.points) for check in report.checks]


@pytest.mark.parametrize(("exercise", "question", "answer"), ANSWERS)
def test_an_answer_made_for_the_grader_gets_no_points(
    exercise: str, question: str, answer: str, tmp_path: Path
) -> None:
    assert question in {one.id for one in load(ROOT / f"rubrics/{exercise}.yaml").questions}
    quoted = answer.replace("'", "''")
    # The first is the skeleton's, in a comment.
    place = list(re.finditer(rf"(?m)^{question}:.*(\n[ \t]+.*)*$", SHEET))[-1]
    sheet = f"{SHEET[: place.start()]}{question}: '{quoted}'{SHEET[place.end() :]}"
    report = graded(tmp_path, sheet, exercise, ".md")
    (result,) = [one for one in report.questions if one.id == question]
    assert result.points == 0, result
    whole = graded(tmp_path, SHEET, exercise, ".md")
    assert whole.outcome is Outcome.PASS
