"""The shipped worksheets: their own solutions pass, and 200 odd answers get the verdict they deserve."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from grader.rubric.load import load
from grader.rubric.personal import EXAMPLE, worksheet
from grader.rubric.questions import answer_key, grade_answers, question_problems, unknown_answers
from grader.rubric.worksheet import read
from grader.skeletons import derive_skeleton

ROOT = Path(__file__).resolve().parents[2]
CASES = yaml.safe_load((ROOT / "tests/content/answer_cases.yaml").read_text(encoding="utf-8"))
SHEETS = sorted(path.stem for path in (ROOT / "solutions").glob("*.md"))
RUBRICS = {name: load(ROOT / "rubrics" / f"{name}.yaml") for name in SHEETS}


def grade(name: str, text: str):
    sheet = read(text)
    rubric = RUBRICS[name]
    assert sheet.problems == ()
    assert unknown_answers(rubric.questions, sheet.answers, lines=sheet.lines) == ()
    return grade_answers(
        rubric.questions, sheet.answers, lines=sheet.lines, student=sheet.student, given=rubric.given
    )


def flat_cases():
    for place, cases in CASES.items():
        for number, case in enumerate(cases):
            yield pytest.param(place, *case, *[""] * (3 - len(case)), id=f"{place}-{number}")


def test_there_are_enough_cases():
    assert sum(map(len, CASES.values())) >= 150


@pytest.mark.parametrize(("place", "answer", "status", "part"), list(flat_cases()))
def test_an_answer_gets_its_verdict(place, answer, status, part):
    exercise, _, question = place.partition("/")
    name = next(name for name in SHEETS if name.startswith(exercise))
    rubric = RUBRICS[name]
    answers = answer_key(rubric.questions, given=rubric.given) | {question: answer}
    result = next(r for r in grade_answers(rubric.questions, answers, given=rubric.given) if r.id == question)
    assert (result.status, result.message if part else "") == (status, result.message if part else "")
    assert part in result.message
    assert (result.points == result.possible) == (status == "right")
    assert (result.pending > 0) == (status == "needs review")
    assert result.message or status == "right"


@pytest.mark.parametrize("name", SHEETS)
def test_the_solution_is_right_in_every_answer(name):
    for result in grade(name, (ROOT / "solutions" / f"{name}.md").read_text(encoding="utf-8")):
        wanted = "needs review" if result.id == "slower" else "right"
        assert (result.id, result.status, result.message if result.status != "right" else "") == (
            result.id,
            wanted,
            "A person grades this answer." if wanted == "needs review" else "",
        )


@pytest.mark.parametrize("name", SHEETS)
def test_the_shipped_sheet_is_not_started(name):
    text = (ROOT / "exercises" / f"{name}.md").read_text(encoding="utf-8")
    assert not read(text).started
    results = grade(name, text)
    assert {result.status for result in results} == {"missing"}
    assert all(result.line is not None and result.points == 0 for result in results)


@pytest.mark.parametrize("name", SHEETS)
def test_the_shipped_sheet_is_the_solution_without_its_answers(name):
    solution = (ROOT / "solutions" / f"{name}.md").read_text(encoding="utf-8")
    assert derive_skeleton(solution) == (ROOT / "exercises" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHEETS)
def test_the_rubric_is_sound_and_makes_a_hundred(name):
    rubric = RUBRICS[name]
    assert [str(problem) for problem in question_problems(rubric.questions, rubric.given)] == []
    assert sum(question.points for question in rubric.questions) == 100
    assert all(question.title for question in rubric.questions)


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_graded_in_a_fraction_of_a_second(name):
    text = (ROOT / "solutions" / f"{name}.md").read_text(encoding="utf-8")
    started = time.perf_counter()
    grade(name, text)
    assert time.perf_counter() - started < 0.3


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("flops", 137_438_953_472),
        ("data_bytes", 201_326_592),
        ("naive_bytes", 549_755_813_888),
        ("naive_intensity", 0.25),
        ("refetched", 2730.667),
        ("bytes_16", 34_359_738_368),
        ("bytes_32", 17_179_869_184),
        ("bytes_64", 8_589_934_592),
        ("intensity_16", 4),
        ("intensity_32", 8),
        ("intensity_64", 16),
        ("intensity_32_with_c", 7.969),
        ("ridge_h100", 20),
        ("ridge_mi300x", 30.755),
        ("cross_h100", 80),
        ("cross_mi300x", 124),
        ("cross_h100_with_c", 81),
        ("threads_h100", 6400),
        ("bf16_ridge", 295.22),
        ("bf16_cross", 591),
        ("bf16_128", 64),
        ("bf16_rate", 214.4),
    ],
)
def test_the_expected_figures_of_the_intensity_sheet(question, figure):
    rubric = RUBRICS["03_intensity_math"]
    key = answer_key(rubric.questions, given=rubric.given)
    assert float(str(key[question]).split()[0]) == pytest.approx(figure, rel=1e-4)


def test_an_earlier_slip_is_counted_once():
    text = (ROOT / "solutions/03_intensity_math.md").read_text(encoding="utf-8")
    wrong = text.replace("bytes_32: 17.18 GB", "bytes_32: 34.36 GB").replace(
        "intensity_32: 8 FLOP/byte", "intensity_32: 4 FLOP/byte"
    )
    results = {result.id: result for result in grade("03_intensity_math", wrong)}
    assert results["bytes_32"].status == "wrong"
    assert results["intensity_32"].status == "right"
    assert "your own earlier result" in results["intensity_32"].message


def test_a_slip_is_carried_through_two_parts():
    text = (ROOT / "solutions/03_intensity_math.md").read_text(encoding="utf-8")
    wrong = (
        text.replace("ridge_h100: 20 FLOP/byte", "ridge_h100: 25 FLOP/byte")
        .replace("cross_h100: 80", "cross_h100: 100")
        .replace("threads_h100: 6400", "threads_h100: 10000")
    )
    statuses = {result.id: result.status for result in grade("03_intensity_math", wrong)}
    assert statuses["ridge_h100"] == "wrong"
    assert statuses["cross_h100"] == "right"
    assert statuses["threads_h100"] == "right"


class TestPersonalSheets:
    rubric = ROOT / "rubrics/06_two_levels.yaml"

    def test_the_shipped_one_is_the_example_students(self):
        shipped = (ROOT / "exercises/06_two_levels.md").read_text(encoding="utf-8")
        assert worksheet(self.rubric, EXAMPLE) == shipped

    @pytest.mark.parametrize("student", ["s1234567", "ada@example.org", "s1234567-2"])
    def test_a_students_own_answers_are_right_on_their_own_sheet(self, student):
        rubric = RUBRICS["06_two_levels"]
        sheet = read(worksheet(self.rubric, student))
        assert sheet.student == student
        answers = answer_key(rubric.questions, student=sheet.student, given=rubric.given)
        results = grade_answers(rubric.questions, answers, student=sheet.student, given=rubric.given)
        assert {result.status for result in results} == {"right"}

    def test_another_students_answers_are_wrong(self):
        rubric = RUBRICS["06_two_levels"]
        answers = answer_key(rubric.questions, student="ada", given=rubric.given)
        results = grade_answers(rubric.questions, answers, student="grace", given=rubric.given)
        assert [r.status for r in results].count("wrong") >= 3

    def test_two_hundred_students_rarely_share_a_sheet(self):
        sheets = {worksheet(self.rubric, f"s{number}").replace(f"s{number}", "") for number in range(60)}
        assert len(sheets) >= 50

    def test_a_sheet_without_its_key_is_not_graded_by_anothers_numbers(self):
        rubric = RUBRICS["06_two_levels"]
        answers = answer_key(rubric.questions, student=EXAMPLE, given=rubric.given)
        results = grade_answers(rubric.questions, answers, given=rubric.given)
        assert {result.status for result in results} == {"malformed"}
        assert "restore `student:`" in results[0].message
