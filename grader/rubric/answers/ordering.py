"""Grading an order of items."""

from __future__ import annotations

import re

from grader.rubric.answers.choice import keys_of
from grader.rubric.answers.schema import OrderingQuestion
from grader.rubric.answers.verdict import AnswerError, Verdict, right, wrong

_ARROWS = re.compile(r"\s*(?:->|=>|→|>|<|,|;|\bthen\b)\s*")


def grade_ordering(question: OrderingQuestion, answer: object) -> Verdict:
    """Grade one order: all of it or none.

    Raises
    ------
    AnswerError
        An item is missing, twice there or unknown.
    """
    if isinstance(answer, str):
        answer = _ARROWS.sub(", ", answer)
    order = keys_of(answer, question.items)
    twice = sorted({key for key in order if order.count(key) > 1})
    missing = [key for key in question.items if key not in order]
    if twice:
        raise AnswerError(f"twice in the order: {', '.join(twice)}; each item stands in it once")
    if missing:
        raise AnswerError(f"the order lacks {', '.join(missing)}; it has {len(question.items)} items")
    if order == list(question.answer):
        return right(question.explain)
    if order == list(reversed(question.answer)):
        return wrong("That is the right order from the wrong end.")
    early = next(key for key, wanted in zip(order, question.answer, strict=True) if key != wanted)
    said = question.because.get(early) or f"{early} comes too early."
    return wrong(f"{said} {question.hint}".strip())
