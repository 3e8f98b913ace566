"""Formulas, choices, orders and texts."""

from __future__ import annotations

import pytest

from grader.rubric.answers.choice import key_of, keys_of
from grader.rubric.answers.formula import grade_formula, read_formula
from grader.rubric.answers.text import grade_text
from grader.rubric.answers.verdict import AnswerError
from grader.rubric.answers.wording import sentences_of
from grader.rubric.questions import FormulaQuestion, Idea, TextQuestion, WrongClaim

OPTIONS = {"a": "the first thing", "b": "the second thing", "raw": "a third, longer thing"}

BARRIER = TextQuestion(
    id="q",
    title="Q",
    points=4,
    ideas=(
        Idea(name="what is overwritten", groups=(("overwrit*", "write* over"), ("tile", "slot*"))),
        Idea(name="who still reads", groups=(("read*", "not yet read"), ("slow*", "other*", "another"))),
    ),
    wrong_claims=(WrongClaim(groups=(("speed*", "faster"),), says="A barrier costs time."),),
    example="A fast warp could overwrite the tile while a slower one still reads it.",
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("M N", None),
        ("MNK", "M*N*K"),
        ("2MN", "2*M*N"),
        ("2(M+N)", "2*(M+N)"),
        ("(M+N)(M-N)", "(M+N)*(M-N)"),
        ("m", "M"),
        ("b_m*bm2", None),
        ("I = M²", "M**2"),
        ("M^2", "M**2"),
        ("1e3*M", "1e3*M"),
        ("2e3*M", "2e3*M"),
        ("sqrt(M)", "sqrt(M)"),
        ("[M+N]/2", "(M+N)/2"),
    ],
)
def test_reading_a_formula(written, read):
    if read is None:
        with pytest.raises(AnswerError):
            read_formula(written, ("M", "N", "K"))
    else:
        assert read_formula(written, ("M", "N", "K")) == read


def test_letters_that_split_in_two_ways_are_not_guessed():
    with pytest.raises(AnswerError, match="'ABC' is not a variable"):
        read_formula("ABC", ("A", "B", "C", "AB", "BC"))


def test_formulas_are_compared_where_they_have_values():
    asked = FormulaQuestion(
        id="q", title="Q", points=1, value="x*y/(x+y)", variables={"x": (1, 9), "y": (1, 9)}
    )
    assert grade_formula(asked, "1/(1/x + 1/y)").status == "right"
    assert grade_formula(asked, "x*y/(x+y) + 1e-6").status == "wrong"
    assert grade_formula(asked, "x/2").message == "It has to depend on y."
    assert "3 times" in grade_formula(asked, "3*x*y/(x+y)").message
    with pytest.raises(AnswerError, match="no value at"):
        grade_formula(asked, "1/(x-x)")
    with pytest.raises(AnswerError, match="too many for a formula"):
        grade_formula(asked, "x+" * 400 + "x")


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("a", "a"),
        (" A. ", "a"),
        ("(b)", "b"),
        ("The first thing!", "a"),
        ("b: the second thing", "b"),
        ("RAW", "raw"),
    ],
)
def test_keys(answer, key):
    assert key_of(answer, OPTIONS) == key


@pytest.mark.parametrize(
    "answer", ["", "c", "a b", "a: the second thing", "not a", True, 3, None, "a" * 1000, ["a"]]
)
def test_what_is_no_key(answer):
    with pytest.raises(AnswerError):
        key_of(answer, OPTIONS)


@pytest.mark.parametrize(
    "answer", [["a", "raw"], ("a", "raw"), "a, raw", "a and raw", "a raw", "[a, raw]", "a; raw", "a\nraw"]
)
def test_several_keys(answer):
    assert keys_of(answer, OPTIONS) == ["a", "raw"]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("A fast warp can overwrite the tile while the others still read from it.", "right"),
        ("Slots of the tile are overwritten. The slower threads have not yet read them.", "right"),
        ("A fast warp can overwrite the tile.", "partly right"),
        ("The slower warps are still reading their values from shared memory then.", "partly right"),
        ("overwrite tile slot read slow other", "needs review"),
        ("overwrite, tile, slot, read, slower, other, the, of, it", "needs review"),
        ("the overwrite the tile the read the slower the other the slot", "needs review"),
        ("A warp can never overwrite the tile while others read it.", "needs review"),
        ("It doesn't overwrite the tile that others read, because they wait.", "needs review"),
        ("A warp could overwrite the tile while others read it. Wrong.", "needs review"),
        ("The tile is important for the barrier in this kernel.", "needs review"),
        ("It makes the kernel faster in the end.", "wrong"),
        ("It makes the kernel faster and nobody can overwrite a tile that others read.", "needs review"),
        ("Because you told us to put it there in the lecture.", "wrong"),
        ("barrier", "wrong"),
        ("A fast warp can overwrite the tile while the others still read from it. " * 20, "needs review"),
    ],
)
def test_short_texts(answer, status):
    verdict = grade_text(BARRIER, answer)
    assert verdict.status == status
    assert (verdict.share == 1) == (status == "right")
    assert verdict.message or status == "right"


@pytest.mark.parametrize("answer", [3, True, ["x"], {"a": "b"}, "x" * 5000])
def test_what_is_no_text(answer):
    with pytest.raises(AnswerError):
        grade_text(BARRIER, answer)


def test_sentences():
    words = [sentence.words for sentence in sentences_of("It isn't T/4, no. 2.5 fits!\n\nRead-only\n- item")]
    assert words == [("it", "isn't", "t", "4", "no"), ("2", "5", "fits"), ("read", "only"), ("item",)]
