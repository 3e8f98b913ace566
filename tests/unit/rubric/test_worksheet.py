"""Answers out of Markdown: what is read, where it stood, what is refused."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.rubric.questions import Malformed
from grader.rubric.worksheet import read


def block(text: str) -> str:
    return f"# Title\n\n```yaml\n{text}\n```\n"


def test_answers_keep_their_text_and_lines():
    sheet = read(block("a: 0x10\nb: yes  # a comment\nc: 1e3\nd: [x, 'y z']\ne: >\n  two\n  lines\nf: 010"))
    assert sheet.answers == {
        "a": "0x10",
        "b": "yes",
        "c": "1e3",
        "d": ["x", "y z"],
        "e": "two lines",
        "f": "010",
    }
    assert sheet.lines == {"a": 4, "b": 5, "c": 6, "d": 7, "e": 8, "f": 11}
    assert sheet.problems == ()
    assert sheet.started


@pytest.mark.parametrize("blank", ["", "~", "null", "''", "[]", "  # still to do"])
def test_blanks(blank):
    sheet = read(block(f"a: {blank}"))
    assert sheet.answers == {"a": None}
    assert not sheet.started


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_and_byte_order_mark(newline):
    sheet = read("\ufeff" + block("a: 1\nb: 2").replace("\n", newline))
    assert sheet.answers == {"a": "1", "b": "2"}
    assert sheet.lines == {"a": 4, "b": 5}


def test_only_yaml_blocks_outside_comments_are_read():
    code = "```python\nz: 1\n```\n"
    comment = "<!-- skeleton\n```yaml\nz: 2\n```\n-->\n"
    text = code + comment + "~~~~yml\na: 3\n```\n~~~~\n```\nz: 4\n```\n"
    sheet = read(text)
    assert list(sheet.answers) == ["a"]


def test_a_bad_answer_does_not_take_its_neighbours():
    sheet = read(block("a: 1\nb: because: it is so\nc: 3"))
    assert (sheet.answers["a"], sheet.answers["c"]) == ("1", "3")
    assert sheet.answers["b"] == Malformed(
        "It cannot be read (line 5): a colon inside an answer ends it; put the answer in quotes."
    )
    assert sheet.lines == {"a": 4, "b": 5, "c": 6}


def test_an_answer_given_twice_is_neither():
    sheet = read(block("a: 1") + block("a: 2"))
    assert sheet.answers["a"] == Malformed("It is answered twice, on lines 4 and 9; keep one.")


def test_the_student_key_is_no_answer():
    sheet = read(block("student: s123\na: 1"))
    assert sheet.student == "s123"
    assert list(sheet.answers) == ["a"]


@pytest.mark.parametrize("key", ["-x", "a b", "x" * 65, "[a]", "../etc", "a/b"])
def test_a_bad_student_key_is_said(key):
    sheet = read(block(f"student: {key}\na: 1"))
    assert sheet.student is None
    assert sheet.problems == ("line 4: a student key is 1 to 64 letters, digits and . _ @ + -",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```yaml\na: 1\n", "line 1: this answer block is never closed; end it with ```"),
        (block("just words"), "line 4: answers are written as `id: answer`, one to a line"),
        (block("- a\n- b"), "line 4: answers are written as `id: answer`, one to a line"),
        (block("\tx"), "line 4: a tab cannot indent YAML; use spaces"),
        ("x" * 200_001, "the sheet has 200001 characters; at most 200000 are read"),
    ],
)
def test_problems_name_their_line(text, problem):
    assert problem in read(text).problems


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("&x 1", "anchors (&) and aliases (*)"),
        ("*x", "quotes"),
        ("!!python/object:os.system x", "tags (!)"),
        ("[" * 10_000, "cannot be read"),
        ("{" * 10_000, "an answer is text or a list"),
        ("{x: 1}", "an answer is text or a list"),
        ("[1, [2]]", "a list inside a list"),
        ("[" + "1, " * 60 + "]", "more than 50 items"),
        ("- " * 9_000, "cannot be read"),
        ("@x", "quotes"),
        ('"open', "cannot be read"),
        ("\x00", "does not allow"),
        ("x" * 20_000, "at most 20000"),
    ],
)
def test_hostile_answers_are_cheap_and_named(answer, said):
    started = time.perf_counter()
    sheet = read(block(f"a: {answer}"))
    assert time.perf_counter() - started < 0.1
    assert isinstance(sheet.answers["a"], Malformed)
    assert said in sheet.answers["a"].reason


def test_an_anchor_bomb_is_cheap():
    bomb = "\n".join(f"k{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 60))
    started = time.perf_counter()
    sheet = read(block("k0: &a0 lol\n" + bomb))
    assert time.perf_counter() - started < 0.1
    assert all(isinstance(answer, Malformed) for answer in sheet.answers.values())


def test_many_problems_are_counted_not_listed():
    sheet = read(block("words") * 40)
    assert len(sheet.problems) == 11
    assert sheet.problems[-1] == "and 30 more problems like these"


@given(st.text(alphabet="abc:[]{}&*!|>'\"-#?,\n \t`~<!%@\\", max_size=80))
def test_no_block_raises(text):
    sheet = read(block(text))
    assert all(line >= 1 for line in sheet.lines.values())
