from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.overrides import apply, read_overrides
from grader.batch.problems import BatchError
from grader.records import CheckResult, Outcome, QuestionResult, Report
from grader.reporters.classroom import Override

REPORT = Report(
    "02",
    "Two",
    "kernel",
    "02.py",
    Outcome.PASS,
    points=50,
    possible=80,
    pending=20,
    checks=(CheckResult("result", 40, 40, True),),
    questions=(
        QuestionResult("why", "Why", "needs review", 0, 20, 20),
        QuestionResult("what", "What", "right", 10, 20),
    ),
)
OTHER = Report(
    "01", "One", "kernel", "01.py", Outcome.FAIL, questions=(QuestionResult("what", "", "right", 0, 5),)
)
BOTH = {"01": OTHER, "02": REPORT}
HEAD = "student,question,points,reason,grader\n"


def read(tmp_path: Path, rows: str, head: str = HEAD) -> tuple[Override, ...]:
    path = tmp_path / "overrides.csv"
    path.write_text(head + rows, encoding="utf-8-sig")
    return read_overrides(path, BOTH)


def test_a_question_is_named_in_full_or_where_it_is_the_only_one(tmp_path: Path) -> None:
    found = read(tmp_path, "ada,02/what,3,r,kim\nada,why,2,r,kim\nada,02,70,r,kim\nada,result,1,r,kim\n")
    assert [(one.exercise, one.question, one.points) for one in found] == [
        ("02", "what", 3),
        ("02", "why", 2),
        ("02", "", 70),
        ("02", "result", 1),
    ]


def test_the_last_row_counts_and_one_without_points_not_yet(tmp_path: Path) -> None:
    found = read(tmp_path, "ada,why,2,r,kim\nADA,02/why,9,better,kim\nbob,why,,,\n")
    assert [(one.student, one.points) for one in found] == [("ADA", 9)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("ada,what,3,r,kim\n", r":2: question 'what': several exercises have it; write EXERCISE/QUESTION"),
        ("ada,02/nothing,3,r,kim\n", r":2: question '02/nothing': there is none"),
        ("ada,why,many,r,kim\n", r":2: 'many' is no number"),
        ("ada,why,nan,r,kim\n", r":2: 'nan' is no number"),
        ("ada,why,-1,r,kim\n", r":2: '-1' is no number"),
        ("ada,why,1,,kim\n", r":2: an override needs a reason"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(tmp_path: Path, rows: str, said: str) -> None:
    with pytest.raises(BatchError, match=said):
        read(tmp_path, rows)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_spreadsheet_may_save_them_with_semicolons(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "overrides.csv"
    text = 'Student;Question;Points;Reason;Grader;possible\r\n\'=ada;why;2,5;"so; so";kim;20\r\n'
    path.write_bytes(text.encode(encoding))
    (one,) = read_overrides(path, BOTH)
    assert (one.student, one.points, one.reason) == ("=ada", 2.5, "so; so")


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match="need a column 'reason'"):
        read(tmp_path, "ada,why,1\n", "student,question,points\n")


def test_points_of_a_person_take_the_place_of_the_graders() -> None:
    given = apply(REPORT, [Override("ada", "02", "why", 15, "good", "kim")])
    assert (given.points, given.pending, given.outcome) == (65, 0, Outcome.PASS)
    assert (given.questions[0].status, given.questions[0].message) == ("partly right", "good")
    assert apply(REPORT, [Override("ada", "02", "result", 10, "copied", "kim")]).points == 20
    whole = apply(REPORT, [Override("ada", "02", "", 33, "agreed", "kim")])
    assert (whole.points, whole.pending) == (33, 0)


def test_an_answer_that_a_person_finds_wrong_is_no_pass() -> None:
    refused = apply(REPORT, [Override("ada", "02", "why", 0, "no", "kim")])
    assert (refused.outcome, refused.questions[0].status) == (Outcome.FAIL, "wrong")
