"""From answers to results: every question of a rubric against what a student wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from grader.records import QuestionResult
from grader.rubric.answers.choice import grade_choice, grade_choices
from grader.rubric.answers.formula import grade_formula
from grader.rubric.answers.number import answered_number, expected_number, grade_number
from grader.rubric.answers.ordering import grade_ordering
from grader.rubric.answers.parameters import Quantities, StudentUnknownError, quantities
from grader.rubric.answers.schema import (
    ChoiceQuestion,
    FormulaQuestion,
    FreeQuestion,
    Givens,
    MultiChoiceQuestion,
    NumberQuestion,
    OrderingQuestion,
    Question,
    TextQuestion,
)
from grader.rubric.answers.text import grade_free, grade_text
from grader.rubric.answers.verdict import AnswerError, Verdict, shortened

Number = int | float

NO_STUDENT = (
    "The numbers of this question are a student's own and the sheet names no student: restore `student:`."
)


@dataclass(frozen=True, slots=True)
class Malformed:
    """Stands in ``answers`` for one that could not even be read; ``reason`` is one line."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of one question: with the right earlier results, and with the student's own."""

    right: Mapping[str, Number]
    own: Mapping[str, Number]


def grade_answers(
    questions: Sequence[Question],
    answers: Mapping[str, object],
    *,
    lines: Mapping[str, int] | None = None,
    student: str | None = None,
    given: Givens | None = None,
) -> tuple[QuestionResult, ...]:
    """Grade every question, in order; never raises for a bad answer.

    ``answers`` maps question ids to Python values (from a dict literal), to text (from a worksheet), to
    None for a blank or to ``Malformed``. ``lines`` tells where each stands. ``student`` is the key that
    drawn numbers hang on, ``given`` the rubric's shared figures.
    """
    lines = lines or {}
    shared = _shared(given or {}, student)
    right: dict[str, Number] = {}
    own: dict[str, Number] = {}
    results = []
    for question in questions:
        answer = answers.get(question.id)
        names = _names(question, shared, student, right, own)
        if names is None:
            verdict = Verdict("malformed", message=NO_STUDENT)
        elif answer is None or (isinstance(answer, str) and not answer.strip()):
            verdict = Verdict("missing", message=_missing(question.id, questions, answers, lines))
        else:
            verdict = _verdict(question, answer, names)
        if names is not None and isinstance(question, NumberQuestion):
            right[question.id] = expected_number(question, names.right)
            own[question.id] = _own_number(question, answer, right[question.id])
        results.append(_result(question, verdict, lines.get(question.id)))
    return tuple(results)


def unknown_answers(
    questions: Sequence[Question], answers: Mapping[str, object], *, lines: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """One line for each answer that belongs to no question."""
    lines = lines or {}
    ids = [question.id for question in questions]
    said = []
    for name in answers:
        if name not in ids:
            near = get_close_matches(str(name), ids, n=1)
            where = f"line {lines[name]}: " if name in lines else ""
            meant = f"; did you mean {near[0]}?" if near else ""
            said.append(f"{where}{shortened(str(name))} is no question of this exercise{meant}")
    return tuple(said)


def _shared(given: Givens, student: str | None) -> Quantities | None:
    try:
        return quantities(given, student)
    except StudentUnknownError:
        return None


def _names(
    question: Question,
    shared: Quantities | None,
    student: str | None,
    right: Mapping[str, Number],
    own: Mapping[str, Number],
) -> _Names | None:
    """The names of a question, or None where they are a student's own and the student is not known."""
    if shared is None:
        return None
    try:
        local = quantities(question.given, student, scope=question.id, outer=shared).values
    except StudentUnknownError:
        return None
    uses = question.uses if isinstance(question, NumberQuestion) else ()
    if any(name not in right for name in uses):
        return None
    return _Names({**local, **{n: right[n] for n in uses}}, {**local, **{n: own[n] for n in uses}})


def _verdict(question: Question, answer: object, names: _Names) -> Verdict:
    if isinstance(answer, Malformed):
        return Verdict("malformed", message=answer.reason)
    try:
        return grade_one(question, answer, names.right, names.own)
    except AnswerError as error:
        return Verdict("malformed", message=_sentence(str(error)))


def grade_one(
    question: Question, answer: object, names: Mapping[str, Number], own: Mapping[str, Number] | None = None
) -> Verdict:
    """Grade one answer by its question's kind. Raises ``AnswerError``."""
    match question:
        case NumberQuestion():
            return grade_number(question, answer, names, own)
        case FormulaQuestion():
            return grade_formula(question, answer)
        case ChoiceQuestion():
            return grade_choice(question, answer)
        case MultiChoiceQuestion():
            return grade_choices(question, answer)
        case OrderingQuestion():
            return grade_ordering(question, answer)
        case TextQuestion():
            return grade_text(question, answer)
        case FreeQuestion():
            return grade_free(question, answer)


def _own_number(question: NumberQuestion, answer: object, right: Number) -> Number:
    """What later parts take for this one: the student's result, or the right one where none can be read."""
    try:
        return answered_number(question, answer)
    except AnswerError:
        return right


def _missing(
    name: str, questions: Sequence[Question], answers: Mapping[str, object], lines: Mapping[str, int]
) -> str:
    if name in answers:
        return "No answer yet."
    strays = [key for key in answers if key not in {question.id for question in questions}]
    if near := get_close_matches(name, map(str, strays), n=1):
        where = f" on line {lines[near[0]]}" if near[0] in lines else ""
        return f"No answer under `{name}`; is it the one called {shortened(near[0])}{where}?"
    return f"No answer under `{name}`."


def _result(question: Question, verdict: Verdict, line: int | None) -> QuestionResult:
    return QuestionResult(
        id=question.id,
        title=question.title,
        status=verdict.status,
        points=round(verdict.share * question.points, 2),
        possible=question.points,
        pending=round(verdict.pending * question.points, 2),
        message=verdict.message,
        line=line,
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")
