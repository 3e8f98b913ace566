"""How far a trial repair reaches, and the repair that mends a part where none mends all.

Two faults in one kernel leave every single repair short of the whole suite. Then the one that puts
the most right is still worth naming, if it puts whole shapes right, or more elements than chance would.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from grader.checks.definitions import names_in
from grader.checks.idle_blocks import MOST_BLOCKS
from grader.checks.launching import Effort, Launcher, Pass, Trial
from grader.checks.places import enclosing_loops, function_node, parents_of
from grader.checks.repairs import Repair
from grader.records import Finding

__all__ = ["Attempt", "Part", "Reach", "part_of", "reach_of"]

#: Whole numbers come right by chance in fewer elements than this share of the wrong ones.
LEAST_GAIN = 0.05
#: Two exchanged indices put elements right that lie on a diagonal: only whole shapes speak for them.
_WHOLE_SHAPES_ONLY = frozenset({"swap-indices"})
#: With a single row, column or k many an index is 0, so that a wrong one comes right.
_LEAST_SIDE = 2
_OF_AN_INDEX = frozenset(
    {f"suspect-{kind}" for kind in ("index", "offset", "mirrored", "axes", "range", "step")}
    | {"swap-indices"}
)


@dataclass(frozen=True, slots=True)
class Reach:
    """How many shapes come right before one does not, and how many elements of the first are wrong."""

    right: int
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A single repair that did not mend all, with the finding it would confirm. ``launcher`` has it made."""

    finding: Finding
    repair: Repair
    launcher: Launcher
    reach: Reach


@dataclass(frozen=True, slots=True)
class Part:
    """What a repair puts right: ``shapes`` of ``failing`` ones, or ``elements`` of ``wrong`` ones."""

    finding: Finding
    repair: Repair
    shapes: int
    failing: int
    elements: int = 0
    wrong: int = 0


def reach_of(launcher: Launcher, trials: Sequence[Trial]) -> Reach:
    """Launch the repaired kernel shape by shape, up to the first that is wrong or has an error."""
    first = trials[0]
    # Where the first shape was wrong, its values alone tell a repair that does not help.
    if first.failed_pass is not None and (wrong := _wrong(launcher, first)):
        return Reach(0, wrong)
    for number, trial in enumerate(trials):
        one = _launched(launcher, trial, "watch")
        if number and one is not None and not one.right:
            # Right so far: the blocks that seem to cover the output need not be those that compute it.
            one = _launched(launcher, trial, "watch", whole=True) or one
        if not _passes(one):
            # Values that come right with an error put nothing right.
            return Reach(number, 0 if number else max(first.wrong, 1))
    return Reach(len(trials))


def part_of(attempts: Sequence[Attempt], trials: Sequence[Trial], shown: Trial) -> Part | None:
    """The attempt that puts the most right, or None where none puts right more than chance would.

    ``trials`` has the failing shapes first; ``shown`` is the shape that the finding was made on.
    """
    failing = [trial for trial in trials if trial.failed_pass is not None]
    first, best, most = trials[0], None, (0, LEAST_GAIN)
    for attempt in attempts:
        if _is_not_over_k(attempt):
            continue
        gains = [(first, _gain(first.wrong, attempt.reach.wrong))] if not attempt.reach.right else []
        if not attempt.reach.right and shown is not first:
            gains.append((shown, _gain(shown.wrong, _wrong(attempt.launcher, shown))))
        right = [*trials[: attempt.reach.right], *(trial for trial, gain in gains if gain == 1)]
        whole = sum(_is_telling(trial, attempt.repair) for trial in right)
        part = (
            0.0
            if attempt.repair.code in _WHOLE_SHAPES_ONLY
            else max((gain for trial, gain in gains if _is_telling(trial, attempt.repair)), default=0.0)
        )
        if (whole, part) > most:
            best, most = attempt, (whole, part)
    if best is None:
        return None
    mended = sum(_passes(_launched(best.launcher, trial, "watch")) for trial in failing)
    trial = max((first, shown), key=lambda one: _gain(one.wrong, _wrong(best.launcher, one)))
    fewer = trial.wrong - _wrong(best.launcher, trial)
    return Part(best.finding, best.repair, mended, len(failing), fewer, trial.wrong)


def _is_telling(trial: Trial, repair: Repair) -> bool:
    return repair.code not in _OF_AN_INDEX or min(trial.shape.dims.values()) >= _LEAST_SIDE


def _is_not_over_k(attempt: Attempt) -> bool:
    """Whether the rounds of a loop were changed that goes over a thread's elements and not over k."""
    place, program = attempt.finding.primary, attempt.launcher.program
    kernel = function_node(program, attempt.launcher.kernel.name)
    if attempt.repair.code != "suspect-range" or place is None or kernel is None:
        return False
    parents = parents_of(kernel)
    sums = [one for one in ast.walk(kernel) if isinstance(one, ast.AugAssign)]
    for loop in (one for one in ast.walk(kernel) if isinstance(one, ast.For) and one.lineno == place.line):
        counter, within = ast.unparse(loop.target), {id(one) for one in ast.walk(loop)}
        return not any(
            loop is list(enclosing_loops(one, parents))[-1]
            or (counter in names_in(one.value) and counter not in names_in(one.target))
            for one in sums
            if id(one) in within
        )
    return False


def _passes(one: Pass | None) -> bool:
    """Whether a launch was made, came out right and showed no error."""
    return one is not None and one.right and all(finding.severity != "error" for finding in one.run.findings)


def _gain(before: int, after: int) -> float:
    return (before - after) / before if before else 0.0


def _wrong(launcher: Launcher, trial: Trial) -> int:
    """How many elements of the shape are wrong with the repair; all of them where it does not end well."""
    one = _launched(launcher, trial, "values")
    if one is None or not one.run.completed:
        return max(trial.elements, 1)
    return sum(int(mask.sum()) for mask in one.wrong.values())


def _launched(launcher: Launcher, trial: Trial, effort: Effort, *, whole: bool = False) -> Pass | None:
    """The pass that failed, or the exact one, with the repair; None where the launch is refused.

    With ``whole`` all blocks of the grid run, and None says that those that covered the output were all,
    or are too few of them.
    """
    config, findings = launcher.config(trial.shape)
    if config is None or any(finding.severity == "error" for finding in findings):
        return None
    on_floats = trial.failed_pass is not None and not trial.failed_pass.arguments.exact
    box = launcher.cover(trial.shape, config)
    if whole and (box is None or prod(config.grid) > MOST_BLOCKS):
        return None
    box = None if whole else box
    one = None if on_floats else launcher.launch(trial.shape, config, exact=True, effort=effort, box=box)
    return one or launcher.approximate(trial.shape, config, effort=effort, box=box)
