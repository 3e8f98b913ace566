"""Grading words: short texts with required ideas, and free texts for a person.

A machine that reads for ideas can be talked into things. So points are given only where every idea stands
in a sentence that is prose and is not denied; where that is in doubt the answer waits for a person.
"""

from __future__ import annotations

from grader.rubric.answers.schema import FreeQuestion, Idea, TextQuestion
from grader.rubric.answers.verdict import AnswerError, Verdict, partly, review, right, wrong
from grader.rubric.answers.wording import Sentence, only_negation, sentences_of

MAX_LENGTH = 4000
LEAST_WORDS = 4
MOST_WORDS = 200


def grade_text(question: TextQuestion, answer: object) -> Verdict:
    """Grade one short text. Raises ``AnswerError`` where it is no text."""
    sentences = sentences_of(_text(answer))
    words = sum(len(sentence.words) for sentence in sentences)
    if words < LEAST_WORDS:
        return wrong("Say it in a sentence: what happens to what, and why.")
    if words > MOST_WORDS:
        return review("It is longer than can be judged here; a person reads it.")
    held = [idea for idea in question.ideas if any(s.holds(idea.groups) for s in sentences)]
    claims = [
        c
        for c in question.wrong_claims
        if any(s.holds(c.groups) and not s.denies(c.groups) for s in sentences)
    ]
    if claims and not held:
        return wrong(claims[0].says)
    if claims:
        return review(
            f"It holds what is asked for and also this, so a person has to read it: {claims[0].says}"
        )
    if not held:
        return _nothing_found(question, sentences)
    if doubt := _doubt(question, held, sentences):
        return review(doubt)
    if len(held) == len(question.ideas):
        return right(question.explain)
    missing = [idea for idea in question.ideas if idea not in held]
    share = len(held) / len(question.ideas)
    said = f"Not found in it: {'; '.join(idea.name for idea in missing)}."
    if all(_touched(idea, sentences) for idea in missing):
        return review(f"{said} It may be there in other words, so a person reads it.", share)
    return partly(share, said)


def grade_free(question: FreeQuestion, answer: object) -> Verdict:
    """Hold an answer for a person. Raises ``AnswerError`` where it is no text or only a word or two."""
    words = sum(len(sentence.words) for sentence in sentences_of(_text(answer)))
    if words < question.least_words:
        raise AnswerError(
            f"{words} words are too few for a person to grade; write at least {question.least_words}"
        )
    return review("A person grades this answer.")


def _text(answer: object) -> str:
    if not isinstance(answer, str):
        raise AnswerError("a sentence or two is wanted, written as text")
    if len(answer) > MAX_LENGTH:
        raise AnswerError(f"{len(answer)} characters are too many; {MAX_LENGTH} are read")
    return answer


def _nothing_found(question: TextQuestion, sentences: tuple[Sentence, ...]) -> Verdict:
    """Some of an idea may be a right answer in other words; nothing of any is not."""
    touched = any(_touched(idea, sentences) for idea in question.ideas)
    asked = "; ".join(idea.name for idea in question.ideas)
    if touched and any(s.is_prose(()) for s in sentences):
        return review(f"It touches the point without saying it in words known here. Looked for: {asked}.")
    return wrong(question.hint or f"Not found in it: {asked}.")


def _touched(idea: Idea, sentences: tuple[Sentence, ...]) -> bool:
    return any(sentence.holds((group,)) for sentence in sentences for group in idea.groups)


def _doubt(question: TextQuestion, held: list[Idea], sentences: tuple[Sentence, ...]) -> str:
    """Why points cannot be given without a person reading the answer, or ""."""
    if only_negation(sentences):
        return "A sentence in it takes back another; a person reads it."
    every = tuple(group for idea in question.ideas for group in idea.groups)
    for idea in held:
        saying = [sentence for sentence in sentences if sentence.holds(idea.groups)]
        if not any(sentence.is_prose(every) for sentence in saying):
            return "The right terms are there and no sentence joins them; say what happens to what."
        if any(sentence.denies(idea.groups) for sentence in saying):
            return "A negation stands beside what is asked for, so a person reads it."
    return ""
