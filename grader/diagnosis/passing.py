"""The rule that separates the failing shapes from the passing ones, computed from the shapes alone.

Candidates are tried from the simplest on. Nothing is said about a rule that the shapes do not bear
out, and a rule over several sizes, or a rare one, needs more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader.diagnosis.grammar import listing, number
from grader.diagnosis.shape_rules import Rule, Sizes, far_rules, joined_rules, simple_rules
from grader.records import ShapeResult


@dataclass(frozen=True, slots=True)
class Reason:
    """Why shapes pass: ``text``, if any, is said only where ``holds`` is true of every passing shape.

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
#: "fails whenever ..., and on some others" says something where fewer than one in so many others fail.
MOST_BESIDES = 3


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
    whole = [shape for shape in passing if not shape.floats]
    if whole and all(shape.floats and shape.wrong for shape in failing):
        return _seen_by_floats(failing, passing, settings, reason, len(whole))
    total = len(failing) + len(passing)
    if total < FEWEST_SHAPES:
        return f"{_listed(passing)} {'passes' if len(passing) == 1 else 'pass'}; {total} shapes show no rule"
    found = separate(failing, passing, settings, () if reason is None else reason.about)
    if found is None:
        return (
            f"{number(len(passing))} of {number(total)} shapes; none of the rules that were tried over their "
            "sizes separates them"
        )
    text = _sentence(found)
    if reason is not None and reason.text and all(reason.holds(shape.dims) for shape in passing):
        return f"{text}; {reason.text}"
    return text


def _seen_by_floats(
    failing: Sequence[ShapeResult],
    passing: Sequence[ShapeResult],
    settings: Mapping[str, int],
    reason: Reason | None,
    whole: int,
) -> str:
    """For a fault that only floats show: a shape that saw whole numbers alone tells nothing of its sizes."""
    floats = [shape for shape in passing if shape.floats]
    alone = f"{number(whole)} shapes were" if whole > 1 else "one shape was"
    launched = f"{alone} launched on whole numbers alone, which do not show it"
    if not floats:
        return f"{launched}; every shape that saw floats fails"
    return f"{explain_passing(failing, floats, settings, reason)}; besides, {launched}"


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
    simple = list(simple_rules(names, given, settings))
    enough = min(len(wrong), len(right)) >= FEWEST_FOR_JOINED
    rare = (*joined_rules(given, settings), *far_rules(names, settings)) if enough else ()
    for rule in (*simple, *rare):
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
        other = len(wrong) - bad
        if good == 0 and bad >= 2 and MOST_BESIDES * other < len(right) + other:
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
