"""Sentences, words and phrases of a short text: what is said, whether it is denied, whether it is prose."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

Groups = tuple[tuple[str, ...], ...]

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n\s*\n|\n\s*[-*]\s")
_WORD = re.compile(r"[a-z0-9_]+(?:['’][a-z]+)?|[+]?=|<=|>=|[<>]")
_PHRASE_WORD = re.compile(r"[a-z0-9_]+(?:['’][a-z]+)?\*?|[+]?=|<=|>=|[<>]")
_NOT_READ = re.compile(r"(?<=[a-z])-(?=[a-z])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATIONS = _words(
    """no not never none nothing nobody neither nor cannot without hardly false untrue wrong incorrect
    nonsense myth denies disagree unlike fail fails lack lacks instead"""
)

# Turns of phrase that hold such a word and deny nothing.
HARMLESS = ("without it", "without this", "without that", "no matter", "not only", "no longer")

# The small words that join terms into a sentence.
FUNCTION_WORDS = _words(
    """a an the this that these those it its they them their we you i is are was were be been being do does
    did has have had can could may might must will would should of to in on at by for from with as into onto
    over after before while until when where which who what because since so if then than and or but not no
    all every each any some other another more less only still yet also there here both one"""
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as lower-case words, in order, and how many commas part them."""

    words: tuple[str, ...]
    commas: int = 0

    def holds(self, groups: Groups) -> bool:
        """Whether every group has at least one phrase in the sentence."""
        return all(any(self._spans(phrase) for phrase in group) for group in groups)

    def denies(self, groups: Groups) -> bool:
        """Whether a negation stands in the sentence outside every longer phrase found in it ("not yet")."""
        spoken_for = {
            index
            for group in groups
            for phrase in group
            for start, end in self._spans(phrase)
            if end - start > 1
            for index in range(start, end)
        }
        spoken_for |= {
            i for phrase in HARMLESS for start, end in self._spans(phrase) for i in range(start, end)
        }
        return any(is_negation(word) for i, word in enumerate(self.words) if i not in spoken_for)

    def is_prose(self, groups: Groups) -> bool:
        """Whether the sentence reads like one: joined by the small words of English, not a list of terms."""
        if len(self.words) < 4 or 3 * self.commas > len(self.words):
            return False
        small = [word for word in self.words if word in FUNCTION_WORDS]
        terms = {i for group in groups for p in group for s, e in self._spans(p) for i in range(s, e)}
        commonest = max(self.words.count(word) for word in set(self.words))
        return (
            len(small) >= max(1, 0.2 * len(self.words))
            and len(set(small)) >= min(3, len(self.words) // 6 + 1)
            and len(terms) <= 0.7 * len(self.words)
            and commonest <= max(3, 0.25 * len(self.words))
        )

    def _spans(self, phrase: str) -> list[tuple[int, int]]:
        parts = _phrase(phrase)
        return [
            (start, start + len(parts))
            for start in range(len(self.words) - len(parts) + 1)
            if all(_fits(part, self.words[start + i]) for i, part in enumerate(parts))
        ]


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of ``text``, empty ones left out."""
    plain = _plain(text)
    found = ((tuple(_WORD.findall(part)), part.count(",")) for part in _SENTENCE_END.split(plain))
    return tuple(Sentence(words, commas) for words, commas in found if words)


def is_negation(word: str) -> bool:
    """Whether a word turns what is said around it into its opposite, or may."""
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


def only_negation(sentences: Iterable[Sentence]) -> bool:
    """Whether a sentence of three words or fewer takes back what the others say ("Not true.")."""
    return any(len(s.words) <= 3 and any(is_negation(word) for word in s.words) for s in sentences)


def _plain(text: str) -> str:
    return _NOT_READ.sub(" ", text.lower().replace("²", "^2").replace("³", "^3"))


@lru_cache(maxsize=2048)
def _phrase(phrase: str) -> tuple[str, ...]:
    return tuple(_PHRASE_WORD.findall(_plain(phrase)))


def _fits(part: str, word: str) -> bool:
    return word.startswith(part[:-1]) if part.endswith("*") else word == part
