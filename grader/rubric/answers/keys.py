"""The answer key of a rubric, and the proof that it answers its own questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from grader.rubric.answers.formula import agree, points_of
from grader.rubric.answers.grading import grade_one
from grader.rubric.answers.misconceptions import LIBRARY
from grader.rubric.answers.number import expected_number, mistakes_of
from grader.rubric.answers.parameters import GivenError, is_drawn, quantities
from grader.rubric.answers.schema import (
    ChoiceQuestion,
    FormulaQuestion,
    FreeQuestion,
    Givens,
    Mistake,
    MultiChoiceQuestion,
    NumberQuestion,
    OrderingQuestion,
    Question,
    TextQuestion,
)
from grader.rubric.answers.units import unit_of
from grader.rubric.answers.verdict import AnswerError
from grader.rubric.expressions import ExpressionError, evaluate, names_in

Number = int | float

TRIAL_STUDENTS = ("example", "a", "b", "c", "d", "e", "f", "g")


@dataclass(frozen=True, slots=True)
class QuestionProblem:
    """What is wrong with one question of a rubric: its place in the list (-1: in ``given``), its id, why."""

    index: int
    id: str
    what: str

    def __str__(self) -> str:
        return f"question {self.id}: {self.what}" if self.id else self.what


def answer_key(
    questions: Sequence[Question], *, student: str | None = None, given: Givens | None = None
) -> dict[str, object]:
    """The right answers, as ``grade_answers`` takes them.

    Raises
    ------
    GivenError, ExpressionError
        The rubric has no value for one.
    """
    return {question.id: answer for question, answer, _ in _solved(questions, given or {}, student)}


def question_problems(
    questions: Sequence[Question], given: Givens | None = None
) -> Iterator[QuestionProblem]:
    """Each reason not to use these questions; none for a sound rubric.

    Every question is graded with its own answer key, for several students where numbers are drawn, and
    each known mistake is tried: none may pass for right.
    """
    problems = [*_shape_problems(questions)]
    if problems:
        yield from problems
        return
    entries = [
        *(given or {}).values(),
        *(entry for question in questions for entry in question.given.values()),
    ]
    for student in TRIAL_STUDENTS if any(map(is_drawn, entries)) else TRIAL_STUDENTS[:1]:
        problem = _key_problem(questions, given or {}, student)
        if problem is not None:
            yield problem
            return


def _solved(
    questions: Sequence[Question], given: Givens, student: str | None
) -> Iterator[tuple[Question, object, Mapping[str, Number]]]:
    shared = quantities(given, student)
    right: dict[str, Number] = {}
    for question in questions:
        names = dict(quantities(question.given, student, scope=question.id, outer=shared).values)
        if isinstance(question, NumberQuestion):
            names |= {name: right[name] for name in question.uses}
            right[question.id] = expected_number(question, names)
            yield question, f"{right[question.id]!r} {question.unit}".strip(), names
        else:
            yield question, _key(question), names


def _key(question: Question) -> object:
    match question:
        case FormulaQuestion():
            return question.value
        case ChoiceQuestion():
            return question.answer
        case MultiChoiceQuestion() | OrderingQuestion():
            return list(question.answer)
        case TextQuestion():
            return question.example
    return "An answer in a sentence that a person then reads and grades."


def _key_problem(questions: Sequence[Question], given: Givens, student: str) -> QuestionProblem | None:
    index = -1
    try:
        for question, answer, names in _solved(questions, given, student):
            index += 1
            verdict = grade_one(question, answer, names)
            if verdict.status != "right" and not isinstance(question, FreeQuestion):
                what = f"its own answer key {answer!r} is graded {verdict.status}: {verdict.message}"
                return QuestionProblem(index, question.id, what)
            if what := _mistake_problem(question, names):
                return QuestionProblem(index, question.id, what)
    except (GivenError, ExpressionError, AnswerError) as error:
        index += 1
        name = questions[index].id if 0 <= index < len(questions) else ""
        return QuestionProblem(index, name, str(error))
    return None


def _mistake_problem(question: Question, names: Mapping[str, Number]) -> str:
    """A known mistake that is none: it has the right value, or no value at all."""
    if isinstance(question, NumberQuestion):
        for mistake in question.mistakes:
            if isinstance(mistake, Mistake) and isinstance(mistake.value, str):
                evaluate(mistake.value, names)
        room = max(question.absolute, question.relative * abs(expected := expected_number(question, names)))
        for value, says, _ in mistakes_of(question, names):
            if abs(value - expected) <= room:
                return f"a known mistake has the right value ({says})"
    if isinstance(question, FormulaQuestion):
        for mistake in question.mistakes:
            if agree(str(mistake.value), question.value, points_of(question)):
                return f"a known mistake is equal to the right formula ({mistake.says})"
    return ""


def _shape_problems(questions: Sequence[Question]) -> Iterator[QuestionProblem]:
    """What can be seen without grading: ids, keys, units, names of misconceptions."""
    seen: set[str] = set()
    numbers: set[str] = set()
    for index, question in enumerate(questions):
        for what in (*_id_problems(question, seen), *_kind_problems(question, numbers)):
            yield QuestionProblem(index, question.id, what)
        seen.add(question.id)
        if isinstance(question, NumberQuestion):
            numbers.add(question.id)


def _id_problems(question: Question, seen: set[str]) -> Iterator[str]:
    if not question.id.isidentifier() or question.id == "student":
        yield f"{question.id!r} cannot be an id: letters, digits and _ make one, and `student` is taken"
    if question.id in seen:
        yield "another question has the same id"
    if question.points < 0:
        yield "points are below 0"


def _kind_problems(question: Question, numbers: set[str]) -> Iterator[str]:
    match question:
        case NumberQuestion():
            yield from _number_problems(question, numbers)
        case FormulaQuestion():
            if stray := names_in(question.value) - set(question.variables):
                yield f"the formula uses {', '.join(sorted(stray))}, not among its variables"
        case ChoiceQuestion():
            yield from _option_problems((question.answer, *question.because), question.options)
        case MultiChoiceQuestion():
            yield from _option_problems((*question.answer, *question.because), question.options)
        case OrderingQuestion():
            yield from _option_problems((*question.answer, *question.because), question.items)
            if sorted(question.answer) != sorted(question.items):
                yield "the answer must hold every item once"
        case TextQuestion() if not question.ideas:
            yield "a text question needs ideas"


def _number_problems(question: NumberQuestion, numbers: set[str]) -> Iterator[str]:
    if question.unit:
        try:
            unit_of(question.unit)
        except AnswerError as error:
            yield str(error)
    for name in question.uses:
        if name not in numbers:
            yield f"uses {name!r}, which is no number question before it"
    for mistake in question.mistakes:
        if isinstance(mistake, Mistake):
            continue
        if mistake not in LIBRARY:
            near = get_close_matches(mistake, LIBRARY, n=1)
            meant = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(LIBRARY)}"
            yield f"no misconception is called {mistake!r}{meant}"
        elif lacking := LIBRARY[mistake].needs - names_in(str(question.value)):
            yield f"{mistake} needs {', '.join(lacking)} in the value"


def _option_problems(keys: tuple[str, ...], options: Mapping[str, str]) -> Iterator[str]:
    for key in keys:
        if key not in options:
            yield f"{key!r} is none of {', '.join(options)}"
