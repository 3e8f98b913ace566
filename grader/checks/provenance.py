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

__all__ = ["are_misplaced", "count_products", "ranges"]

BASE = 4
DIGITS = 11
MOST_LAUNCHES = 12
#: So many rows, columns and values of k have numbers of their own; sums of products of two stay exact.
MARKS = 61


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
        value = _value_at(launcher, trial, roles, digits, element)
        if not np.isfinite(value) or value != int(value) or not 0 <= value < BASE**width:
            return None
        for place in range(width):
            counts[start + place] = int(value) // BASE**place % BASE
    known = bool((counts == 1).all()) or _accounts_for(counts, trial, roles, element)
    return counts if known else None


def are_misplaced(
    launcher: Launcher, trial: Trial, names: tuple[str, str, str], element: tuple[int, int]
) -> bool:
    """Whether products of the output's ``element`` come from another row of A, column of B, or mix two k.

    Seen in launches on numbers that tell the rows of A, the columns of B, and the values of k apart. A
    kernel that does something else with the right factors (loses a sign, say) sums these rightly.
    """
    roles = _Roles(*names)
    pristine = trial.passes[0].arguments
    (rows, depth), columns = pristine.values[roles.left].shape, pristine.values[roles.right].shape[1]
    marks = np.arange(max(rows, depth, columns)) * 7 % MARKS + 1
    by_row, by_column, by_k = marks[:rows, None], marks[None, :columns], marks[:depth]
    for left, right in ((by_row, 1), (1, by_column), (by_k[None, :], by_k[:, None])):
        told_apart = _filled(pristine, roles, left, right)
        value = _value_at(launcher, trial, roles, told_apart, element)
        row = np.asarray(told_apart.values[roles.left][element[0]], np.float64)
        if value != float(np.sum(row * told_apart.values[roles.right][:, element[1]])):
            return True
    return False


def _value_at(
    launcher: Launcher, trial: Trial, roles: _Roles, arguments: Arguments, element: tuple[int, int]
) -> float:
    """The output's element after a launch on other inputs."""
    assert trial.config is not None
    box = launcher.cover(trial.shape, trial.config)
    after = launcher.launch_with(arguments, trial.shape, trial.config, effort="values", box=box).after
    return float(after[roles.out][element])


def _filled(pristine: Arguments, roles: _Roles, left: Any, right: Any) -> Arguments:
    """The arguments with other inputs (numbers, or arrays that broadcast to them), and a zero output."""
    values: dict[str, Any] = dict(pristine.values)
    for name, filling in ((roles.left, left), (roles.right, right), (roles.out, 0)):
        values[name] = np.empty_like(values[name])
        values[name][...] = filling
    return Arguments(values, pristine.expected, exact=True)


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
    left = np.zeros_like(pristine.values[roles.left])
    left[:, start : start + width] = BASE ** np.arange(width)
    return _filled(pristine, roles, left, 1)


def ranges(selected: npt.NDArray[np.bool_]) -> tuple[Fact, ...]:
    """The runs of true values as (first, last) pairs: [F, T, T, F, T] gives ((1, 2), (4, 4))."""
    padded = np.concatenate(([False], selected, [False])).astype(np.int8)
    steps = np.diff(padded)
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    return tuple((int(first), int(end) - 1) for first, end in zip(starts, ends, strict=True))
