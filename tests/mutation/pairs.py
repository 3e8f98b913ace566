"""Two mistakes at once: a second operator applied to what a first one made."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from tests.mutation.corpus import OPERATORS
from tests.mutation.judging import Grading, grade_all
from tests.mutation.mutant import Change, Mutant, mutant
from tests.mutation.styles import Style, styles
from tests.mutation.text import Text

#: Two mistakes of each pair; ten pairs of each style.
PER_STYLE = 10
SEED = 20


@dataclass(frozen=True)
class Pair:
    """``both`` holds the two mistakes; ``only`` each of them alone, the first operator's first.

    ``labels`` are those of each mistake, with the lines of ``both``.
    """

    both: Mutant
    only: tuple[Mutant, Mutant]
    labels: tuple[dict[str, frozenset[int]], dict[str, frozenset[int]]]

    def blamed(self, name: str, line: int | None) -> int | None:
        """Which of the two mistakes a diagnosis is true of."""
        for number, labels in enumerate(self.labels):
            if name in labels and line in labels[name]:
                return number
        return None


@cache
def pairs() -> tuple[Pair, ...]:
    """Ten pairs of faults of each style, drawn from a fixed seed."""
    return tuple(pair for style in styles() for pair in _of_style(style))


def _of_style(style: Style) -> Iterator[Pair]:
    draw = random.Random(f"{SEED} {style.name}")
    changes = [(name, one) for name, operator in OPERATORS.items() for one in operator(style) if one.labels]
    made = 0
    while made < PER_STYLE:
        (first, one), (second, other) = draw.sample(changes, 2)
        pair = None if first == second else _composed(style, first, one, second, other)
        if pair is not None:
            made += 1
            yield pair


def _composed(style: Style, first: str, one: Change, second: str, other: Change) -> Pair | None:
    """None where the second change is not to be made, or not the same, in what the first one left."""
    try:
        again = [c for c in OPERATORS[second](replace(style, text=one.text)) if c.what == other.what]
    except (AssertionError, LookupError, StopIteration, RuntimeError, ValueError, SyntaxError):
        return None
    if len(again) != 1 or again[0].text in (one.text, other.text) or again[0].labels != other.labels:
        return None
    final = again[0].text
    if not _parses(final):
        return None
    parts = [mutant(style, first, Change(one.what, final, one.labels)), mutant(style, second, again[0])]
    if any(not lines for part in parts for lines in part.labels.values()):
        return None
    both = Mutant(style.name, f"{first} + {second}", f"{one.what} + {other.what}", final.plain(), {})
    return Pair(
        both, (mutant(style, first, one), mutant(style, second, other)), (parts[0].labels, parts[1].labels)
    )


def _parses(text: Text) -> bool:
    """An ``if`` whose only statement the second operator dropped is no mistake of either."""
    try:
        return bool(text.tree.body)
    except SyntaxError:
        return False


@dataclass(frozen=True)
class Mending:
    """A pair graded, and the mistake that is left once the one that was named is mended."""

    pair: Pair
    first: Grading
    second: Grading | None

    @property
    def first_true(self) -> bool:
        return self.pair.blamed(self.first.name, self.first.line) is not None

    @property
    def reaches_pass(self) -> bool:
        """Mended one by one: the second mistake alone is named too, and without both the style passes."""
        blamed = self.pair.blamed(self.first.name, self.first.line)
        if blamed is None or self.second is None:
            return False
        labels = self.pair.only[1 - blamed].labels
        return self.second.name in labels and self.second.line in labels[self.second.name]


def mended(first: Sequence[Grading], processes: int) -> tuple[Mending, ...]:
    """Every pair with its grading, and where its first cause is true what is left when that is mended."""
    known = pairs()
    blamed = [pair.blamed(one.name, one.line) for pair, one in zip(known, first, strict=True)]
    left = [pair.only[1 - at] for pair, at in zip(known, blamed, strict=True) if at is not None]
    second = iter(grade_all(left, processes))
    return tuple(
        Mending(pair, one, None if at is None else next(second))
        for pair, one, at in zip(known, first, blamed, strict=True)
    )
