"""Showing a race: an order of the warps that gives a wrong element, and a repair that none of them upsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from grader.checks.launching import Launcher, Trial
from grader.simt import Program
from grader.simt.schedule import ORDERS

__all__ = ["RACES", "Shown", "show_race"]

MOST_TRIALS = 2

#: Races that a barrier mends, which lockstep cannot make visible in the result.
RACES = frozenset({"shared-read-before-barrier", "shared-overwrite-before-barrier"})

#: The first elements of C belong to the first warp: too early a read shows where it goes first, and
#: what others overwrite too early where it goes last.
_LIKELY = {"shared-read-before-barrier": "ascending", "shared-overwrite-before-barrier": "descending"}


@dataclass(frozen=True, slots=True)
class Shown:
    """How many orders of the warps ran to their end, and whether they show the race and its repair."""

    orders: int
    wrong: bool
    mended: bool


def show_race(launcher: Launcher, repaired: Program | None, trials: Sequence[Trial], name: str) -> Shown:
    """Launch the cheapest of the racing trials in one order after another, until an element is wrong.

    ``wrong``: some order gave a wrong element. ``mended``: repaired, the orders that were tried up to
    that one give none (not tried where nothing was wrong, or no repair is known). ``name`` is that of
    the race.
    """
    orders = sorted(ORDERS, key=lambda order: order != _LIKELY[name])
    ended: set[str] = set()
    for trial in sorted(trials, key=_cost)[:MOST_TRIALS]:
        for tried, order in enumerate(orders, 1):
            right = _right(launcher, trial, order)
            if right is not None:
                ended.add(order)
            if right is False:
                after = launcher.with_program(repaired) if repaired is not None else None
                mended = after is not None and all(_right(after, trial, same) for same in orders[:tried])
                return Shown(len(ended), wrong=True, mended=mended)
    return Shown(len(ended), wrong=False, mended=False)


def _right(launcher: Launcher, trial: Trial, order: str) -> bool | None:
    """Whether all elements are right; None for a launch that shows nothing, say one that ran out of fuel."""
    assert trial.config is not None
    box = launcher.cover(trial.shape, trial.config)
    one = launcher.launch(trial.shape, trial.config, exact=True, schedule=order, box=box)
    return one.right if one is not None and one.run.completed else None


def _cost(trial: Trial) -> int:
    blocks = prod(trial.config.grid) if trial.config is not None else 0
    return blocks * prod(trial.shape.dims.values())
