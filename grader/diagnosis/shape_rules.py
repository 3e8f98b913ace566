"""The rules over a shape's sizes that are tried: what may tell failing shapes from passing ones.

The simple ones: a size against a constant such as the tile, sizes against each other, the numbers
of tiles against each other. Then several sizes against a constant, and sizes just past one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from grader.diagnosis.grammar import listing

__all__ = ["Rule", "Sizes", "far_rules", "joined_rules", "simple_rules"]

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Rule:
    """A property of a shape. ``about`` is its subject in short; ``text`` completes "fails when"."""

    about: str
    text: str
    holds: Callable[[Sizes], bool]


def simple_rules(names: Sequence[str], given: Sequence[str], settings: Mapping[str, int]) -> Iterator[Rule]:
    """Rules over single sizes in the order of ``names``, over pairs in the order in which they are given."""
    for constant, value in settings.items():
        if value > 1:
            yield from _against_constant(names, given, constant, value)
    for name in names:
        yield _compare(f"{name}=1", f"{name} is 1", _size(name), "==", _fixed(1))
        yield _compare(f"{name}>1", f"{name} is greater than 1", _size(name), ">", _fixed(1))
    for a, b in combinations(given, 2):
        yield _compare(f"{a}!={b}", f"{a} and {b} differ", _size(a), "!=", _size(b))
        for low, high in ((a, b), (b, a)):
            yield _compare(f"{low}<{high}", f"{low} is less than {high}", _size(low), "<", _size(high))


def _against_constant(names: Sequence[str], given: Sequence[str], constant: str, tile: int) -> Iterator[Rule]:
    for name in names:
        text = f"{name} is not a multiple of {constant}"
        yield _compare(f"{name}%{constant}", text, _remainder(name, tile), "!=", _fixed(0))
    for name in names:
        for sign, words in ((">", "greater"), ("<", "less")):
            text = f"{name} is {words} than {constant}"
            yield _compare(f"{name}{sign}{constant}", text, _size(name), sign, _fixed(tile))
    for a, b in combinations(given, 2):
        for low, high in ((a, b), (b, a)):
            text = f"{high} takes more tiles of {constant} than {low}"
            yield _compare(f"tiles:{low}<{high}", text, _tiles(low, tile), "<", _tiles(high, tile))
        text = f"{a} and {b} take different numbers of tiles of {constant}"
        yield _compare(f"tiles:{a}!={b}", text, _tiles(a, tile), "!=", _tiles(b, tile))


Measure = Callable[[Sizes], int]
_SIGNS: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}


def _compare(about: str, text: str, left: Measure, sign: str, right: Measure) -> Rule:
    compare = _SIGNS[sign]
    return Rule(about, text, lambda sizes: compare(left(sizes), right(sizes)))


def _fixed(value: int) -> Measure:
    return lambda _: value


def _size(name: str) -> Measure:
    return lambda sizes: sizes[name]


def _remainder(name: str, tile: int) -> Measure:
    return lambda sizes: sizes[name] % tile


def _tiles(name: str, tile: int) -> Measure:
    return lambda sizes: -(-sizes[name] // tile)


def joined_rules(names: Sequence[str], settings: Mapping[str, int]) -> Iterator[Rule]:
    """Several sizes against one constant: "M or N is not a multiple of TILE", "K is ... and greater"."""
    for constant, tile in settings.items():
        if tile <= 1:
            continue
        for size in (2, 3):
            for group in combinations(names, size):
                yield _ragged(group, constant, tile, any, "or")
        for name in names:
            whole = _ragged((name,), constant, tile, any, "or")
            yield _both(whole, _compare(">", f"greater than {constant}", _size(name), ">", _fixed(tile)))
            yield _both(whole, _compare("<", f"less than {constant}", _size(name), "<", _fixed(tile)))
        for pair in combinations(names, 2):
            yield _ragged(pair, constant, tile, all, "and")


def far_rules(names: Sequence[str], settings: Mapping[str, int]) -> Iterator[Rule]:
    """A size just past a multiple of a constant, or past two of it."""
    for constant, tile in settings.items():
        if tile <= 1:
            continue
        for name in names:
            text = f"{name} is one more than a multiple of {constant}"
            yield _compare(f"{name}%{constant}=1", text, _remainder(name, tile), "==", _fixed(1 % tile))
            text = f"{name} is greater than 2 * {constant}"
            yield _compare(f"{name}>2{constant}", text, _size(name), ">", _fixed(2 * tile))


def _ragged(
    names: Sequence[str], constant: str, tile: int, gather: Callable[[Iterable[bool]], bool], joiner: str
) -> Rule:
    verb, noun = ("are", "multiples") if joiner == "and" else ("is", "a multiple")
    text = f"{listing(names, joiner)} {verb} not {noun} of {constant}"
    return Rule("%", text, lambda sizes: gather(sizes[name] % tile != 0 for name in names))


def _both(a: Rule, b: Rule) -> Rule:
    return Rule(a.about + b.about, f"{a.text} and {b.text}", lambda sizes: a.holds(sizes) and b.holds(sizes))
