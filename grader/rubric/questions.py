"""The questions of a rubric and their grading: what the rest of the grader imports.

A rubric's YAML holds ``questions:`` (a list, ``tuple[Question, ...]`` in the typed rubric) and, where
several questions share figures, ``given:`` (``Givens``: name to number, expression or ``Given``).
``msgspec.convert`` of a YAML tree to these types refuses unknown keys.

Loading a rubric calls ``question_problems``: a rubric whose own answer key fails is refused. Grading one
calls ``grade_answers`` with what ``grader.rubric.worksheet.read`` found in a worksheet, or with the
``ANSWERS`` dict literal of a kernel file.
"""

from __future__ import annotations

from grader.rubric.answers.grading import Malformed, grade_answers, unknown_answers
from grader.rubric.answers.keys import QuestionProblem, answer_key, question_problems
from grader.rubric.answers.schema import (
    ChoiceQuestion,
    FormulaQuestion,
    FreeQuestion,
    Given,
    Givens,
    GivenValue,
    Idea,
    Mistake,
    MultiChoiceQuestion,
    NumberQuestion,
    Option,
    OrderingQuestion,
    Question,
    TextQuestion,
    WrongClaim,
)

__all__ = [
    "ChoiceQuestion",
    "FormulaQuestion",
    "FreeQuestion",
    "Given",
    "GivenValue",
    "Givens",
    "Idea",
    "Malformed",
    "Mistake",
    "MultiChoiceQuestion",
    "NumberQuestion",
    "Option",
    "OrderingQuestion",
    "Question",
    "QuestionProblem",
    "TextQuestion",
    "WrongClaim",
    "answer_key",
    "grade_answers",
    "question_problems",
    "unknown_answers",
]
