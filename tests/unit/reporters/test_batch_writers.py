from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

from grader.records import Outcome, QuestionResult, Report
from grader.reporters import autograder_json, class_page, feedback, grade_tables
from grader.reporters.classroom import ClassRecord, ExerciseInfo, Grade, SimilarGroup, Student, total_of
from tests.unit.reporters import samples

INFO = ExerciseInfo("02_ragged_dims", "Ragged <dimensions> & *more*", "02_ragged_dims.py", 100)
EVIL = Student("eve", name='<script>alert("x")</script>', email="e@x", pseudonym="student-1")


def grade(**changes: object) -> Grade:
    report = next(
        one
        for one in vars(samples).values()
        if isinstance(one, Report) and one.outcome is Outcome.FAIL and one.diagnostics
    )
    whole = Grade(EVIL, INFO, report, report, handed_in=True, final=35.0, path="eve/02.py", attempts=1)
    return replace(whole, **changes)  # type: ignore[arg-type]


def record(*grades: Grade, **parts: object) -> ClassRecord:
    return ClassRecord("A <class>", (INFO,), grades or (grade(),), **parts)  # type: ignore[arg-type]


class Balanced(HTMLParser):
    """Collects tags; fails where one closes that is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in ("meta", "link", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(page: str) -> set[str]:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser.seen


def test_pages_are_well_formed_and_run_nothing() -> None:
    similar = (SimilarGroup("02_ragged_dims", ("eve", "bob"), 0.95, False),)
    for page in (class_page.render(record(similar=similar)), feedback.pages("A <class>", [grade()])[1]):
        assert not tags(page) & {"script", "img", "iframe", "object", "embed", "form", "base"}
        assert "<script" not in page


def test_the_class_page_says_when_nobody_passed() -> None:
    page = class_page.render(record())
    assert "nobody passed" in page
    assert "stale-shared-read" in page
    assert "35" in page


def test_markdown_keeps_a_students_text_inside_its_fence() -> None:
    tricky = replace(grade().view, reason="```\n# I passed\n````")
    written = feedback.pages("A <class>", [grade(view=replace(tricky, diagnostics=()))])[0]
    fences = [line for line in written.splitlines() if line.startswith("```")]
    assert len(fences) == 2
    assert len(fences[1]) > 3
    assert "A \\<class\\>" in written


def test_a_grade_without_a_number_is_never_full_points() -> None:
    unjudged = replace(grade().view, outcome=Outcome.CANNOT_JUDGE, reason="a spin lock")
    one = grade(view=unjudged, final=None)
    assert json.loads(autograder_json.prairielearn(one)) == {
        "gradable": False,
        "format_errors": ["a spin lock"],
    }
    assert json.loads(autograder_json.gradescope(one)).get("score", 0) == 0
    nothing = grade(view=replace(unjudged, checks=(), questions=(), families=()), final=None)
    assert json.loads(autograder_json.gradescope(nothing))["score"] == 0
    assert ",35," not in grade_tables.canvas(record(one))
    assert total_of([one]) == 0


def test_prairielearn_scores_are_a_share() -> None:
    assert json.loads(autograder_json.prairielearn(grade()))["score"] == 0.35


def test_the_worksheet_of_pending_answers_is_a_list_of_overrides() -> None:
    open_ = replace(
        grade().report, questions=(QuestionResult("why", "Why", "needs review", 0, 20, 20, line=7),)
    )
    table = grade_tables.pending(record(grade(report=open_))).splitlines()
    assert table[0].startswith("student,question,points,reason,grader")
    assert table[1] == "eve,02_ragged_dims/why,,,,20,Why,eve/02.py:7"


def test_a_large_group_is_folded_and_a_cause_without_a_name_says_its_reason() -> None:
    unread = replace(grade().report, outcome=Outcome.CANNOT_JUDGE, diagnostics=(), reason="not UTF-8")
    similar = (SimilarGroup("02_ragged_dims", tuple(f"s{i}" for i in range(9)), 0.95, False),)
    page = class_page.render(record(grade(report=unread), similar=similar))
    assert "<summary>9 students</summary>s0, s1" in page
    assert "<strong>cannot judge: not UTF-8</strong>" in page
    tags(page)
