"""Grading choices: one key, or all the true keys."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.rubric.answers.schema import ChoiceQuestion, MultiChoiceQuestion
from grader.rubric.answers.verdict import AnswerError, Verdict, partly, right, shortened, wrong

MAX_LENGTH = 400
_SEPARATORS = re.compile(r"\s*(?:[,;/&+\n]|\band\b)\s*|\s+")


def grade_choice(question: ChoiceQuestion, answer: object) -> Verdict:
    """Grade one key. Raises ``AnswerError`` where the answer is none of the options."""
    if isinstance(answer, list | tuple | set | frozenset):
        if len(answer) != 1:
            raise AnswerError(f"one of {_listed(question.options)} is wanted, not {len(answer)} of them")
        answer = next(iter(answer))
    key = key_of(answer, question.options)
    if key == question.answer:
        return right(question.explain)
    return wrong(question.because.get(key) or question.hint or f"It is not {key}.")


def grade_choices(question: MultiChoiceQuestion, answer: object) -> Verdict:
    """Grade a set of keys: each true key earns its share, each false one takes a share away."""
    chosen = set(keys_of(answer, question.options))
    true = set(question.answer)
    if chosen == true:
        return right(question.explain)
    false = sorted(chosen - true)
    missing = len(true - chosen)
    said = [question.because.get(key) or f"{key} does not hold." for key in false]
    if missing:
        said.append("One that holds is missing." if missing == 1 else f"{missing} that hold are missing.")
    share = max(0.0, (len(chosen & true) - len(false)) / len(true))
    return partly(share, " ".join(said) + (f" {question.hint}" if question.hint else ""))


def key_of(answer: object, options: Mapping[str, str]) -> str:
    """The option that ``answer`` names: its key, ``(b)``, ``b: the text`` or the text itself.

    Raises
    ------
    AnswerError
        It names none.
    """
    if isinstance(answer, bool) or not isinstance(answer, str | int) or _is_long(answer):
        raise AnswerError(f"one of {_listed(options)} is wanted")
    text = str(answer).strip()
    keys = {key.lower(): key for key in options}
    texts = {_plain(words): key for key, words in options.items()}
    bare = text.strip("()[]. :\"'").lower()
    if bare in keys:
        return keys[bare]
    if _plain(text) in texts:
        return texts[_plain(text)]
    head, found, rest = (
        re.split(r"([):.])", text.lstrip("("), maxsplit=1) if re.search("[):.]", text) else ("", "", "")
    )
    if found and head.strip().lower() in keys and texts.get(_plain(rest)) == keys[head.strip().lower()]:
        return keys[head.strip().lower()]
    raise AnswerError(f"{shortened(text)} is none of {_listed(options)}")


def keys_of(answer: object, options: Mapping[str, str]) -> list[str]:
    """The options that ``answer`` names, in the order written: a list, or ``a, c`` as text.

    Raises
    ------
    AnswerError
        Something in it names no option.
    """
    if isinstance(answer, list | tuple | set | frozenset):
        parts: list[object] = list(answer)
    elif isinstance(answer, str):
        if len(answer) > MAX_LENGTH:
            raise AnswerError(f"keys out of {_listed(options)} are wanted")
        whole = _plain(answer) in {_plain(words) for words in options.values()}
        parts = [answer] if whole else [part for part in _SEPARATORS.split(answer.strip("[]() ")) if part]
    else:
        parts = [answer]
    if len(parts) > 4 * len(options):
        raise AnswerError(f"{len(parts)} keys are too many; there are {len(options)} options")
    return [key_of(part, options) for part in parts]


def _is_long(answer: str | int) -> bool:
    return len(answer) > MAX_LENGTH if isinstance(answer, str) else answer.bit_length() > MAX_LENGTH


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _listed(options: Mapping[str, str]) -> str:
    return ", ".join(options)
