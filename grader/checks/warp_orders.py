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


@dataclass(frozen=True, slots=True)
class Shown:
    """How many orders of the warps were tried, and whether they show the race and its repair."""

    orders: int
    wrong: bool
    mended: bool


def show_race(launcher: Launcher, repaired: Program, trials: Sequence[Trial]) -> Shown:
    """Launch the cheapest of the racing trials in every order, as they are and repaired.

    ``wrong``: some order gave a wrong element. ``mended``: repaired, none did (not tried where nothing
    was wrong).
    """
    after = launcher.with_program(repaired)
    for trial in sorted(trials, key=_cost)[:MOST_TRIALS]:
        if not all(_right(launcher, trial, order) for order in ORDERS):
            return Shown(len(ORDERS), wrong=True, mended=all(_right(after, trial, order) for order in ORDERS))
    return Shown(len(ORDERS), wrong=False, mended=False)


def _right(launcher: Launcher, trial: Trial, order: str) -> bool:
    assert trial.config is not None
    one = launcher.launch(trial.shape, trial.config, exact=True, schedule=order)
    # A launch that ran out of fuel shows nothing.
    return one is None or not one.run.completed or one.right


def _cost(trial: Trial) -> int:
    blocks = prod(trial.config.grid) if trial.config is not None else 0
    return blocks * prod(trial.shape.dims.values())
