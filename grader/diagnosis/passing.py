"""The rule that separates the failing shapes from the passing ones, computed from the shapes alone.

Candidates are tried from the simplest on: a size against the tile, sizes against each other, the
numbers of tiles against each other, then several sizes against the tile. Nothing is said about a
rule that the shapes do not bear out, and a rule over several sizes needs more of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from grader.diagnosis.grammar import listing, number
from grader.records import ShapeResult

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Rule:
    """A property of a shape. ``about`` is its subject in short; ``text`` completes "fails when"."""

    about: str
    text: str
    holds: Callable[[Sizes], bool]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why shapes pass: ``text`` is said only where ``holds`` is true of every passing shape.

    ``about`` names the dimensions that the fault depends on; rules over them are tried first.
    """

    text: str
    holds: Callable[[Sizes], bool]
    about: tuple[str, ...] = ()


def whole_tiles(names: Sequence[str], settings: Mapping[str, int], text: str) -> Reason:
    """A reason that holds where each of the named sizes is a multiple of one of the constants."""
    tiles = [value for value in settings.values() if value > 1]

    def holds(sizes: Sizes) -> bool:
        there = [sizes[name] for name in names if name in sizes]
        return bool(there) and any(all(size % tile == 0 for size in there) for tile in tiles)

    return Reason(text, holds, tuple(names))


#: With fewer shapes than this, too many rules fit for one of them to mean something.
FEWEST_SHAPES = 4
#: Failing and passing shapes, each, that a rule over several sizes has to explain.
FEWEST_FOR_JOINED = 3


@dataclass(frozen=True, slots=True)
class Separation:
    """A rule and how the shapes fall under it.

    ``exact``: all under the rule fail and all others pass. Otherwise the rule holds one way only:
    ``sufficient`` says that all under it fail (and ``others`` fail besides), or, where it is
    False, that none outside it fails (and ``others`` under it pass).
    """

    rule: Rule
    exact: bool
    sufficient: bool
    under: int
    outside: int
    others: int


def explain_passing(
    failing: Sequence[ShapeResult],
    passing: Sequence[ShapeResult],
    settings: Mapping[str, int],
    reason: Reason | None = None,
) -> str:
    """The sentence for a message's ``passed`` part; empty unless some shapes fail and some pass."""
    if not failing or not passing:
        return ""
    total = len(failing) + len(passing)
    if total < FEWEST_SHAPES:
        return f"{_listed(passing)} {'passes' if len(passing) == 1 else 'pass'}; {total} shapes show no rule"
    found = separate(failing, passing, settings, () if reason is None else reason.about)
    if found is None:
        return (
            f"{number(len(passing))} of {number(total)} shapes; no rule over their sizes alone separates them"
        )
    text = _sentence(found)
    if reason is not None and all(reason.holds(shape.dims) for shape in passing):
        return f"{text}; {reason.text}"
    return text


def _listed(shapes: Sequence[ShapeResult]) -> str:
    named = [", ".join(f"{name} = {size}" for name, size in shape.dims.items()) for shape in shapes]
    return listing([f"({text})" for text in named])


def _sentence(found: Separation) -> str:
    if found.exact:
        noun = "such shape" if found.under == 1 else "such shapes"
        rest = "the other one passes" if found.outside == 1 else f"the other {number(found.outside)} pass"
        return f"fails exactly when {found.rule.text}: {found.under} of {found.under} {noun}; {rest}"
    if found.sufficient:
        return (
            f"fails whenever {found.rule.text} ({found.under} of {found.under} such shapes), "
            f"and on {found.others} of the other {found.outside}"
        )
    return (
        f"fails only when {found.rule.text} ({found.under - found.others} of {found.under} such shapes); "
        f"the other {number(found.outside)} all pass"
    )


def separate(
    failing: Sequence[ShapeResult],
    passing: Sequence[ShapeResult],
    settings: Mapping[str, int],
    about: Sequence[str] = (),
) -> Separation | None:
    """Find the simplest exact rule, else the one-way rule that covers most shapes, else None.

    Among equally simple rules those over the dimensions in ``about`` come first.
    """
    wrong = [dict(shape.dims) for shape in failing]
    right = [dict(shape.dims) for shape in passing]
    given = [name for name in wrong[0] if all(name in sizes for sizes in wrong + right)]
    # The last dimension first among equals: K, the one that is summed over, is the usual suspect.
    last_first = given[::-1]
    names = [*(n for n in last_first if n in about), *(n for n in last_first if n not in about)]
    simple = list(_simple(names, given, settings))
    enough = min(len(wrong), len(right)) >= FEWEST_FOR_JOINED
    for rule in (*simple, *(_joined(given, settings) if enough else ())):
        if all(map(rule.holds, wrong)) and not any(map(rule.holds, right)):
            return Separation(rule, True, True, len(wrong), len(right), 0)
    return _one_way(simple, wrong, right)


def _one_way(
    rules: Sequence[Rule], wrong: list[dict[str, int]], right: list[dict[str, int]]
) -> Separation | None:
    """A rule that holds one way must rest on two shapes at least and cover more than half of a side."""
    best: tuple[float, Separation] | None = None
    for rule in rules:
        bad, good = sum(map(rule.holds, wrong)), sum(map(rule.holds, right))
        if good == 0 and bad >= 2:
            other = len(wrong) - bad
            found = Separation(rule, False, True, bad, len(right) + other, other)
            share = bad / len(wrong)
        elif bad == len(wrong) and len(right) - good >= 2:
            found = Separation(rule, False, False, bad + good, len(right) - good, good)
            share = (len(right) - good) / len(right)
        else:
            continue
        if share > 0.5 and (best is None or share > best[0]):
            best = (share, found)
    return None if best is None else best[1]


def _simple(names: Sequence[str], given: Sequence[str], settings: Mapping[str, int]) -> Iterator[Rule]:
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


def _joined(names: Sequence[str], settings: Mapping[str, int]) -> Iterator[Rule]:
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


def _ragged(
    names: Sequence[str], constant: str, tile: int, gather: Callable[[Iterable[bool]], bool], joiner: str
) -> Rule:
    verb, noun = ("are", "multiples") if joiner == "and" else ("is", "a multiple")
    text = f"{listing(names, joiner)} {verb} not {noun} of {constant}"
    return Rule("%", text, lambda sizes: gather(sizes[name] % tile != 0 for name in names))


def _both(a: Rule, b: Rule) -> Rule:
    return Rule(a.about + b.about, f"{a.text} and {b.text}", lambda sizes: a.holds(sizes) and b.holds(sizes))
