"""Which products of a sum a kernel really adds, found by launching it on digits.

For a group of k-values, A[i, k] is 4 to the power of the k's place in the group and zero elsewhere, and B
is one: each output element is then a number in base 4 whose digits say how often each product of
that element was added. Float32 holds 11 such digits exactly, so K needs K / 11 launches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.checks.inputs import Arguments
from grader.checks.launching import Launcher, Trial
from grader.records import Fact

__all__ = ["count_products", "ranges"]

BASE = 4
DIGITS = 11
MOST_LAUNCHES = 12


@dataclass(frozen=True, slots=True)
class _Roles:
    left: str
    right: str
    out: str


def count_products(
    launcher: Launcher, trial: Trial, names: tuple[str, str, str], element: tuple[int, int]
) -> npt.NDArray[np.int64] | None:
    """How often each product A[i, k] * B[k, j] is in the output's ``element``, for k = 0 ... K - 1.

    ``names`` are the left and right input and the output. None where the launches are too many, or
    give no digits that account for the wrong value (one that is undefined, or holds other products).
    """
    roles = _Roles(*names)
    pristine = trial.passes[0].arguments
    depth = pristine.values[roles.left].shape[1]
    if trial.config is None or -(-depth // DIGITS) > MOST_LAUNCHES:
        return None
    counts = np.zeros(depth, np.int64)
    for start in range(0, depth, DIGITS):
        width = min(DIGITS, depth - start)
        digits = _digits(pristine, roles, start, width)
        box = launcher.cover(trial.shape, trial.config)
        after = launcher.launch_with(digits, trial.shape, trial.config, effort="values", box=box).after
        value = float(after[roles.out][element])
        if not np.isfinite(value) or value != int(value) or not 0 <= value < BASE**width:
            return None
        for place in range(width):
            counts[start + place] = int(value) // BASE**place % BASE
    # Every product once, and yet a wrong sum: its products come from another row or column.
    known = bool((counts == 1).all()) or _accounts_for(counts, trial, roles, element)
    return counts if known else None


def _accounts_for(
    counts: npt.NDArray[np.int64], trial: Trial, roles: _Roles, element: tuple[int, int]
) -> bool:
    """Whether so many of each product make up the wrong value; sums of other things do not."""
    one = trial.passes[0]
    row, column = element
    left = np.asarray(one.arguments.values[roles.left][row], np.float64)
    right = np.asarray(one.arguments.values[roles.right][:, column], np.float64)
    return float(np.sum(counts * left * right)) == float(one.after[roles.out][element])


def _digits(pristine: Arguments, roles: _Roles, start: int, width: int) -> Arguments:
    values: dict[str, Any] = dict(pristine.values)
    left = np.zeros_like(values[roles.left])
    left[:, start : start + width] = BASE ** np.arange(width)
    values[roles.left] = left
    values[roles.right] = np.ones_like(values[roles.right])
    values[roles.out] = np.zeros_like(values[roles.out])
    return Arguments(values, pristine.expected, exact=True)


def ranges(selected: npt.NDArray[np.bool_]) -> tuple[Fact, ...]:
    """The runs of true values as (first, last) pairs: [F, T, T, F, T] gives ((1, 2), (4, 4))."""
    padded = np.concatenate(([False], selected, [False])).astype(np.int8)
    steps = np.diff(padded)
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    return tuple((int(first), int(end) - 1) for first, end in zip(starts, ends, strict=True))
