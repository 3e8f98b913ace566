"""Testing a cause by repairing it: change the tree, launch every shape again, see whether all is right.

A cause is confirmed where, after the repair of that cause alone, every shape's result is right and no
error is found. The failing shapes go first, the smallest at the front, so a repair that does not
help costs about one launch. Only the pass on whole numbers is repeated, unless a shape failed
on floats alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import prod

from grader.checks.evidence import Seen
from grader.checks.index_swaps import index_swaps
from grader.checks.launch_repairs import block_sizes, other_blocks
from grader.checks.launching import Launcher, Trial
from grader.checks.partial import Attempt, Part, part_of, reach_of
from grader.checks.repairs import Repair, repairs_for
from grader.checks.rewrite import Edit
from grader.checks.suspects import Suspect, suspects
from grader.checks.warp_orders import RACES, Shown, show_race
from grader.records import Finding

__all__ = ["Confirmed", "confirm"]

#: A repair that does not help costs a compilation and a small launch: so many take half a second.
MOST_ATTEMPTS = 54
MOST_CAUSES = 4
MOST_SUSPECTS = 40
#: So many single edits are tried for a fault that the machine saw where it happens, not where it is made.
MOST_FOR_SYMPTOMS = 12

#: Wrong results that show what is wrong and not where: single edits of the kernel are tried for these.
_PLACELESS = frozenset(
    {
        "wrong-result",
        "dropped-k-tail",
        "repeated-k-tail",
        "precision-loss",
        "unwritten-output",
        "swapped-operands",
        "transposed-result",
    }
)


#: Faults of an access, whose cause may be what its index is made from.
_SYMPTOMS = frozenset(
    {
        "out-of-bounds-read",
        "out-of-bounds-write",
        "shared-read-before-barrier",
        "shared-overwrite-before-barrier",
        "uninitialised-shared-read",
        "stale-shared-read",
        "shared-write-conflict",
        "global-write-conflict",
    }
)


#: Two stores to one element: a fault whether or not its values come out right.
_CONFLICTS = frozenset({"shared-write-conflict", "global-write-conflict"})


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The causes that an experiment confirmed, with the repairs that were made: together they mend all.

    ``shown`` is what the orders of the warps gave, for a race; where no repair is known that mends it, there
    are no ``repairs``. ``part`` is set where the one repair mends
    a part only; then ``whole`` is the finding of what it is a part of.
    """

    findings: tuple[Finding, ...]
    repairs: tuple[Repair, ...]
    shown: Shown | None = None
    part: Part | None = None
    whole: Finding | None = None


def confirm(launcher: Launcher, trials: Sequence[Trial], causes: Sequence[Seen]) -> Confirmed | None:
    """The first repair, in the order of the causes, after which the whole suite is right.

    A single repair is tried before all those of the same name together, and those before exchanged
    indices and before pairs of different causes. Where none mends a wrong result that has no place, the
    one that mends a part of it is given; None without one.
    """
    ordered, first = _in_order(trials), causes[0]
    singles: list[Attempt] = []
    tried: set[str] = set()
    attempts = _attempts(launcher, [cause.finding for cause in causes], ordered[0])
    for findings, repairs in islice(attempts, MOST_ATTEMPTS):
        edit = Edit(launcher.program, launcher.kernel.name, launcher.kernel.launch.from_)
        if not all(repair.apply(edit) for repair in repairs):
            continue
        mark = "+".join(sorted(f"{repair.code}@{repair.line} {repair.text}" for repair in repairs))
        if mark in tried and len(repairs) > 1:
            continue
        tried.add(mark)
        repaired = launcher.with_program(edit.program())
        reach = reach_of(repaired, ordered)
        if reach.right == len(ordered):
            shown = _shown(launcher, edit, findings, causes)
            return Confirmed(tuple(findings), tuple(repairs), shown)
        if len(repairs) == 1 and findings[0].primary != first.finding.primary:
            singles.append(Attempt(findings[0], repairs[0], repaired, reach))
    right = [trial for trial in first.trials if trial.right]
    if first.finding.name in RACES and right:
        # Where lockstep gives the right elements, a wrong one is the race's doing.
        return Confirmed((first.finding,), (), show_race(launcher, None, right, first.finding.name))
    return _part(singles, ordered, first) if first.finding.name == "wrong-result" else None


def _part(singles: Sequence[Attempt], ordered: Sequence[Trial], first: Seen) -> Confirmed | None:
    part = part_of(singles, ordered, first.trial)
    if part is None:
        return None
    return Confirmed((part.finding,), (part.repair,), part=part, whole=first.finding)


def _shown(
    launcher: Launcher, edit: Edit, findings: Sequence[Finding], causes: Sequence[Seen]
) -> Shown | None:
    """For a race: a barrier removes the very finding that it is to mend, so the result has to show it too."""
    racing = [cause for cause in causes if cause.finding is findings[0] and cause.finding.name in RACES]
    if not racing:
        return None
    return show_race(launcher, edit.program(), racing[0].trials, racing[0].finding.name)


def _in_order(trials: Sequence[Trial]) -> list[Trial]:
    """Failing shapes first, then those with an error, the quicker first."""

    def key(trial: Trial) -> tuple[bool, bool, int, int]:
        clean = not any(finding.severity == "error" for finding in trial.findings)
        steps = sum(one.run.iterations for one in trial.passes[:1])
        return trial.right, clean, steps, prod(trial.shape.dims.values())

    return sorted(trials, key=key)


def _attempts(
    launcher: Launcher, findings: Sequence[Finding], worst: Trial
) -> Iterator[tuple[list[Finding], list[Repair]]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.name, []).append(finding)
    groups = dict(list(groups.items())[:MOST_CAUSES])
    yield from (([finding], [repair]) for finding, repair in block_sizes(launcher, worst))
    known = {name: [(one, repairs_for(launcher, one)) for one in group] for name, group in groups.items()}
    for position, options in enumerate(known.values()):
        yield from (([_at_place(one, repair)], [repair]) for one, repairs in options for repair in repairs)
        yield from _together(options)
        if position == 0:
            yield from _swaps(launcher, findings, harmless=worst.right)
    if findings and findings[0].name in _PLACELESS and findings[0].facts.get("rule") != "all":
        yield from _located(launcher, findings[0])
    for first, second in combinations(known, 2):
        yield from _pairs(known[first], known[second])
    if findings and findings[0].name in _SYMPTOMS:
        yield from (([finding], [repair]) for finding, repair in other_blocks(launcher, worst))
        for one in islice(suspects(launcher, "symptom"), MOST_FOR_SYMPTOMS):
            yield [findings[0]], [_edit(one)]


def _at_place(finding: Finding, repair: Repair) -> Finding:
    """A wrong result at the place of what mends it; the very same finding where it has a place already."""
    if repair.code == "swap-grid" and finding.name == "unwritten-output" and repair.place is not None:
        facts = {**finding.facts, "suspect": "grid"}
        return replace(finding, primary=repair.place, secondary=finding.primary, facts=facts)
    if finding.facts.get("inside") and repair.place is not None:
        # It is the loop over k after all.
        facts = {key: fact for key, fact in finding.facts.items() if key not in ("inside", "kept_out")}
        return replace(finding, primary=repair.place, facts=facts)
    if repair.place is None or finding.name != "wrong-result":
        return finding
    return replace(finding, primary=repair.place, secondary=finding.primary)


def _together(options: list[tuple[Finding, list[Repair]]]) -> Iterator[tuple[list[Finding], list[Repair]]]:
    """One repair of each finding of a name; findings that one place mends count once."""
    able = {(repairs[0].code, repairs[0].line): (one, repairs[0]) for one, repairs in options if repairs}
    if len(able) > 1:
        yield [one for one, _ in able.values()], [repair for _, repair in able.values()]


def _swaps(
    launcher: Launcher, findings: Sequence[Finding], *, harmless: bool
) -> Iterator[tuple[list[Finding], list[Repair]]]:
    known = next((one for one in findings if one.name == "transposed-result"), None)
    like = known or (findings[0] if findings else None)
    for repair, finding in index_swaps(launcher, findings):
        if harmless and like is not None and like.name in _CONFLICTS:
            # No value is wrong: what the exchanged indices lead to is the race.
            yield [like], [repair]
        else:
            yield [_with_figures(finding, like, known)], [repair]


def _located(launcher: Launcher, finding: Finding) -> Iterator[tuple[list[Finding], list[Repair]]]:
    """Each single edit, and the finding at the edit's place; each beside an odd type mended as well."""
    misplaced = bool(finding.facts.get("misplaced"))
    odd = list(islice(suspects(launcher, "odd-type"), 1))
    for one in islice(suspects(launcher, finding.name, misplaced=misplaced), MOST_SUSPECTS):
        yield [_traced(finding, one)], [_edit(one)]
        for type_ in odd if finding.name != "precision-loss" else ():
            yield [_traced(finding, one), _traced(finding, type_)], [_edit(one), _edit(type_)]


def _traced(finding: Finding, one: Suspect) -> Finding:
    """The finding at the place of what mends it; one that the machine saw has its place already."""
    if finding.secondary is not None or "to_type" in finding.facts:
        return finding
    facts = {**finding.facts, "suspect": one.kind, "instead": one.code}
    name = "precision-loss" if one.kind == "type" else finding.name
    return replace(finding, name=name, primary=one.span, secondary=finding.primary, facts=facts)


def _edit(one: Suspect) -> Repair:
    # A loop that counts in a name of its own: nothing is taken out, its index is another.
    kind = "index" if one.kind == "rebinding" and one.code != "pass" else one.kind
    return Repair(f"suspect-{kind}", one.span.line, one.apply, one.code)


def _with_figures(finding: Finding, like: Finding | None, known: Finding | None) -> Finding:
    """The finding of exchanged indices with the figures of what showed it."""
    if like is None:
        return finding
    counts = {key: like.counts[key] for key in ("wrong", "elements", "shapes") if key in like.counts}
    kept = {key: like.facts[key] for key in ("shape", "family", "got", "expected") if key in like.facts}
    slot = known.slot if known is not None else finding.slot
    return replace(finding, slot=slot, counts=counts, facts={**kept, **finding.facts})


def _pairs(
    first: list[tuple[Finding, list[Repair]]], second: list[tuple[Finding, list[Repair]]]
) -> Iterator[tuple[list[Finding], list[Repair]]]:
    """All repairs of two different causes together, the likeliest of each."""
    parts = [[(one, repairs[0]) for one, repairs in options if repairs] for options in (first, second)]
    if parts[0] and parts[1]:
        both = {(repair.code, repair.line): repair for part in parts for _, repair in part}
        yield [parts[0][0][0], parts[1][0][0]], list(both.values())
