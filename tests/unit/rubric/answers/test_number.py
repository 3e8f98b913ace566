"""Numbers: how they are read, in which unit, and what is said to a wrong one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.rubric.answers.misconceptions import LIBRARY
from grader.rubric.answers.number import grade_number
from grader.rubric.answers.reading import read_number
from grader.rubric.answers.units import COMMON, _by_pint, unit_of
from grader.rubric.answers.verdict import AnswerError
from grader.rubric.questions import Mistake, NumberQuestion


def question(**fields):
    return NumberQuestion(**({"id": "q", "title": "Q", "points": 1, "value": "2*N"} | fields))


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("8", 8, ""),
        (" 8. ", 8.0, ""),
        (".5", 0.5, ""),
        ("-3 GB", -3, "GB"),
        ("549,755,813,888 B", 549_755_813_888, "B"),
        ("549 755 813 888", 549_755_813_888, ""),
        ("1'000'000", 1_000_000, ""),
        ("0,250", 0.25, ""),
        ("31,25 FLOP/byte", 31.25, "FLOP/byte"),
        ("5.5 x 10^11 B", 5.5e11, "B"),
        ("5.5·10¹¹ B", 5.5e11, "B"),
        ("5.5e11bytes", 5.5e11, "bytes"),
        ("1/4 FLOP per byte", 0.25, "FLOP per byte"),
        ("T ≥ 80", 80, ""),
        ("~ 20 FLOP/B (H100)", 20, "FLOP/B"),
        ("2 ** 10 / 4", 256.0, ""),
        ("8 /s", 8, "1/s"),
        (7, 7, ""),
        (0.5, 0.5, ""),
    ],
)
def test_reading(text, value, unit):
    assert read_number(text) == (value, unit)


TOO_STRANGE = [
    "",
    "x",
    "1e999",
    "NaN",
    "inf",
    "1,2,3.4,5",
    "9" * 200,
    "1" + "0" * 100 + "e5",
    "()",
    "0b1",
    "> 3",
    "1/0",
]
NO_NUMBERS = [True, None, [1], {"a": 1}, float("nan"), float("inf"), 10**400, 1j, b"1"]


@pytest.mark.parametrize("answer", [*TOO_STRANGE, *NO_NUMBERS])
def test_what_is_no_number(answer):
    with pytest.raises(AnswerError) as caught:
        read_number(answer)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("spelled", COMMON)
def test_the_common_spellings_are_what_pint_says(spelled):
    by_pint = _by_pint(spelled, spelled)
    assert COMMON[spelled].factor == pytest.approx(by_pint.factor, rel=1e-15)
    assert tuple(sorted(COMMON[spelled].measures)) == by_pint.measures


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GB", "gb"),
        ("GB", "gigabytes"),
        ("GB", "Gbyte"),
        ("kB", "KB"),
        ("KiB", "kib"),
        ("FLOP/byte", "flops per byte"),
        ("FLOP/s", "FLOP s^-1"),
        ("us", "µs"),
        ("s", "seconds"),
        ("TFLOP/s", "tflop/sec"),
    ],
)
def test_spellings_of_one_unit(one, other):
    assert unit_of(one).factor == pytest.approx(unit_of(other).factor)
    assert sorted(unit_of(one).measures) == sorted(unit_of(other).measures)


def test_a_gigabit_is_not_a_gigabyte():
    assert unit_of("GB").factor == 8 * unit_of("Gb").factor


@pytest.mark.parametrize(
    "text", ["potato", "GB/", "B^99", "B**9999999", "T/128", "a" * 100, "__class__", "B B B\nB"]
)
def test_what_is_no_unit(text):
    with pytest.raises(AnswerError):
        unit_of(text)


def test_every_misconception_differs_from_the_right_value_and_follows_the_numbers():
    names = {"N": 64, "T": 16, "e": 4}
    asked = question(value="2*N**3*e/T")
    values = {
        name: known.derive(lambda n: 2 * n["N"] ** 3 * n["e"] / n["T"], names)
        for name, known in LIBRARY.items()
    }
    right = 2 * 64**3 * 4 / 16
    assert values["factor-two-forgotten"] == right / 2
    assert values["bytes-of-one-operand"] == right / 2
    assert values["intensity-of-one-operand"] == right * 2
    assert values["eight-byte-floats"] == right * 2
    assert values["two-byte-floats"] == right / 2
    assert values["elements-not-bytes"] == right / 4
    assert values["tile-squared"] == right / 16
    assert values["ridge-inverted"] == 1 / right
    for name, value in values.items():
        named = NumberQuestion(
            **{f: getattr(asked, f) for f in asked.__struct_fields__} | {"mistakes": (name,)}
        )
        if value != right:
            assert grade_number(named, repr(value), names).message == LIBRARY[name].says


def test_a_mistake_may_keep_a_share():
    asked = question(relative=0, mistakes=(Mistake(value="2*N + 1", says="other convention", credit=0.5),))
    verdict = grade_number(asked, "21", {"N": 10})
    assert (verdict.status, verdict.share, verdict.message) == ("partly right", 0.5, "other convention")


def test_tolerances():
    assert grade_number(question(relative=0.1), "21.9", {"N": 10}).status == "right"
    assert grade_number(question(relative=0.1), "22.1", {"N": 10}).status == "wrong"
    assert grade_number(question(relative=0, absolute=1), "21", {"N": 10}).status == "right"
    assert grade_number(question(relative=0, value="67/3.35"), "20", {}).status == "right"


def test_own_results_are_carried_forward_only_where_they_differ():
    asked = question(value="2*earlier", uses=("earlier",))
    carried = grade_number(asked, "14", {"earlier": 5}, {"earlier": 7})
    assert (carried.status, "own earlier result" in carried.message) == ("right", True)
    assert grade_number(asked, "10", {"earlier": 5}, {"earlier": 7}).message == ""
    assert grade_number(asked, "14", {"earlier": 5}, {"earlier": 5}).status == "wrong"


def test_an_own_result_that_leads_nowhere_is_left_alone():
    asked = question(value="2/earlier", uses=("earlier",))
    assert grade_number(asked, "3", {"earlier": 5}, {"earlier": 0}).status == "wrong"


def test_a_plain_number_does_not_import_pint():
    code = (
        "import sys; from grader.rubric.questions import NumberQuestion, grade_answers;"
        "q = NumberQuestion(id='q', title='Q', points=1, value=8, unit='GB');"
        "print(grade_answers([q], {'q': '8 GB'})[0].status, 'pint' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["right", "False", "False"]
