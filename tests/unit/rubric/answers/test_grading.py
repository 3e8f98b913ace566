"""Whole sets of questions: results, parameters per student, rubrics that refuse themselves."""

from __future__ import annotations

import time
from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.rubric.answers.parameters import GivenError, StudentUnknownError, quantities
from grader.rubric.questions import (
    Given,
    Givens,
    Malformed,
    Option,
    Question,
    answer_key,
    grade_answers,
    question_problems,
    unknown_answers,
)

BASE = {"id": "q", "title": "Q", "points": 4}
EVERY_KIND = [
    {"kind": "number", "value": "2*N", "unit": "GB", "given": {"N": 4}, "id": "n"},
    {"kind": "number", "value": "n + 1", "uses": ["n"], "id": "m"},
    {"kind": "formula", "value": "T/4", "variables": {"T": [1, 64]}, "id": "f"},
    {"kind": "choice", "options": {"a": "A", "b": "B"}, "answer": "a", "id": "c"},
    {"kind": "choices", "options": {"a": "A", "b": "B", "c": "C"}, "answer": ["a", "c"], "id": "cs"},
    {"kind": "order", "items": {"a": "A", "b": "B", "c": "C"}, "answer": ["c", "a", "b"], "id": "o"},
    {
        "kind": "text",
        "ideas": [{"name": "it", "groups": [["tile"]]}],
        "example": "It is the tile of A.",
        "id": "t",
    },
    {"kind": "free", "id": "x"},
]


def questions(*specs):
    return tuple(msgspec.convert(BASE | spec, Question) for spec in specs)


ALL = questions(*EVERY_KIND)


def test_the_key_answers_every_kind():
    results = grade_answers(ALL, answer_key(ALL))
    assert [r.status for r in results] == ["right"] * 7 + ["needs review"]
    assert [r.points for r in results] == [4] * 7 + [0]
    assert results[-1].pending == 4
    assert list(question_problems(ALL)) == []


def test_nothing_answered_is_missing_with_its_line():
    results = grade_answers(ALL, {"n": None, "c": " "}, lines={"n": 7})
    assert {r.status for r in results} == {"missing"}
    assert (results[0].message, results[0].line) == ("No answer yet.", 7)
    assert results[1].message == "No answer under `m`."


def test_a_misspelt_id_is_pointed_out():
    answers = {"naive_byte": "3"}
    asked = questions({"kind": "number", "value": 3, "id": "naive_bytes"})
    assert (
        "is it the one called 'naive_byte' on line 9?"
        in grade_answers(asked, answers, lines={"naive_byte": 9})[0].message
    )
    assert unknown_answers(asked, answers, lines={"naive_byte": 9}) == (
        "line 9: 'naive_byte' is no question of this exercise; did you mean naive_bytes?",
    )


def test_a_malformed_answer_says_why():
    result = grade_answers(ALL, {"n": Malformed("It is answered twice.")}, lines={"n": 3})[0]
    assert (result.status, result.message, result.line, result.points) == (
        "malformed",
        "It is answered twice.",
        3,
        0,
    )


def test_answers_from_a_dict_literal():
    results = grade_answers(
        ALL, {"n": 8, "m": 9, "f": "T/4", "c": "A", "cs": ("a", "c"), "o": ["c", "a", "b"]}
    )
    assert [r.status for r in results[:6]] == ["partly right", "right", "right", "right", "right", "right"]


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(HOSTILE)
def test_no_answer_raises(answer):
    results = grade_answers(ALL, {question.id: answer for question in ALL})
    assert len(results) == len(ALL)
    assert all(0 <= r.points <= r.possible for r in results)


@pytest.mark.parametrize(
    "answer",
    ["9" * 5000, "(" * 5000, "9**" * 100 + "9", "a " * 2000, 10**5000, [[[[1]]]] * 99],
    ids=["digits", "parentheses", "powers", "words", "integer", "lists"],
)
def test_hostile_answers_cost_milliseconds(answer):
    grade_answers(ALL, answer_key(ALL))
    started = time.perf_counter()
    results = grade_answers(ALL, {question.id: answer for question in ALL})
    assert time.perf_counter() - started < 0.1
    assert not any(r.status in ("right", "partly right") for r in results)
    assert all(len(r.message) < 300 for r in results)


class TestDraws:
    given: Givens = {  # noqa: RUF012
        "N": Given(draw=(512, 1024, 2048, 4096)),
        "device": Given(
            draw=(Option(label="A", values={"peak": "2*N"}), Option(label="B", values={"peak": 7}))
        ),
        "half": "N / 2",
    }

    def test_a_student_always_gets_the_same(self):
        assert quantities(self.given, "ada") == quantities(self.given, "ada")

    def test_known_draws_stay_as_they_are(self):
        drawn = [
            quantities(self.given, student).values["N"] for student in ("ada", "grace", "linus", "example")
        ]
        assert drawn == [1024, 2048, 2048, 1024]

    def test_students_spread_evenly(self):
        counts = Counter(quantities(self.given, f"s{n}").values["N"] for n in range(400))
        assert set(counts) == {512, 1024, 2048, 4096}
        assert min(counts.values()) > 70

    def test_options_and_expressions(self):
        for student in "abcdef":
            found = quantities(self.given, student)
            assert found.values["half"] == found.values["N"] / 2
            assert found.values["device_peak"] == (
                2 * found.values["N"] if found.written["device"] == "A" else 7
            )

    def test_without_a_student_there_is_no_draw(self):
        with pytest.raises(StudentUnknownError):
            quantities(self.given, None)

    def test_questions_draw_apart(self):
        asked = questions(
            *(
                {"kind": "number", "value": "N", "id": i, "given": {"N": {"draw": list(range(1, 99))}}}
                for i in "ab"
            )
        )
        key = answer_key(asked, student="ada")
        assert key["a"] != key["b"]
        assert {r.status for r in grade_answers(asked, key, student="ada")} == {"right"}
        assert {r.status for r in grade_answers(asked, key)} == {"malformed"}

    def test_a_given_without_a_value_is_refused(self):
        with pytest.raises(GivenError, match="given x: needs a value or a draw"):
            quantities({"x": Given()}, "ada")
        with pytest.raises(GivenError, match="given x: 'y' is not a name here"):
            quantities({"x": "2*y"}, "ada")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"kind": "number", "value": "2*"}, "cannot read"),
        ({"kind": "number", "value": "M"}, "'M' is not a name"),
        ({"kind": "number", "value": 3, "unit": "potato"}, "not a unit"),
        ({"kind": "number", "value": 3, "uses": ["z"]}, "no number question before it"),
        (
            {"kind": "number", "value": 3, "mistakes": ["factor-two-forgoten"]},
            "did you mean factor-two-forgotten",
        ),
        ({"kind": "number", "value": 3, "mistakes": ["eight-byte-floats"]}, "needs e in the value"),
        (
            {"kind": "number", "value": 3, "mistakes": [{"value": "1 + 2", "says": "x"}]},
            "has the right value",
        ),
        ({"kind": "number", "value": 3, "mistakes": [{"value": "zz", "says": "x"}]}, "'zz' is not a name"),
        ({"kind": "formula", "value": "T/4", "variables": {"N": [1, 2]}}, "uses T"),
        (
            {
                "kind": "formula",
                "value": "T/4",
                "variables": {"T": [1, 2]},
                "mistakes": [{"value": "0.25*T", "says": "x"}],
            },
            "equal to the right formula",
        ),
        ({"kind": "formula", "value": "1/(T-T)", "variables": {"T": [1, 2]}}, "divides by zero"),
        ({"kind": "choice", "options": {"a": "A"}, "answer": "b"}, "'b' is none of a"),
        ({"kind": "choice", "options": {"a": "A"}, "answer": "a", "because": {"z": "x"}}, "'z' is none of a"),
        ({"kind": "choices", "options": {"a": "A"}, "answer": ["b"]}, "'b' is none of a"),
        ({"kind": "order", "items": {"a": "A", "b": "B"}, "answer": ["a"]}, "every item once"),
        ({"kind": "text", "ideas": [], "example": "x"}, "needs ideas"),
        (
            {
                "kind": "text",
                "ideas": [{"name": "it", "groups": [["tile"]]}],
                "example": "It is not the tile of A.",
            },
            "its own answer key",
        ),
        ({"kind": "free", "id": "student"}, "`student` is taken"),
        ({"kind": "free", "id": "a b"}, "cannot be an id"),
        ({"kind": "free", "points": -1}, "below 0"),
    ],
)
def test_a_rubric_that_fails_its_own_questions_is_refused(spec, said):
    problems = [str(problem) for problem in question_problems(questions(spec))]
    assert problems
    assert said in problems[0]


def test_two_questions_with_one_id():
    assert "same id" in str(next(question_problems(questions({"kind": "free"}, {"kind": "free"}))))


def test_unknown_keys_are_refused():
    with pytest.raises(msgspec.ValidationError, match="unknown field `points_`"):
        msgspec.convert(BASE | {"kind": "free", "points_": 3}, Question)
