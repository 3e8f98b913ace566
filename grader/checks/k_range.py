"""A wrong sum's k-range: what a hypothesis says of it, made exact by counting the products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from grader.checks.hypotheses import Guess
from grader.checks.launching import Launcher, Trial
from grader.checks.provenance import are_misplaced, count_products, ranges
from grader.records import Fact

__all__ = ["K_RANGE", "Products", "counted"]

Mask = npt.NDArray[np.bool_]

#: Names whose cause is where the k-loop runs, not where the output is stored.
K_RANGE = frozenset({"dropped-k-tail", "repeated-k-tail"})
COUNTED = K_RANGE | {"wrong-result"}


@dataclass(frozen=True, slots=True)
class Products:
    """What is known of the k-range: one run of k, K, how often the run is added, and all runs as facts."""

    k_range: tuple[int, int] | None = None
    depth: int = 0
    times: int = 0
    facts: Mapping[str, Fact] = field(default_factory=dict)


def counted(
    launcher: Launcher,
    trial: Trial,
    names: tuple[str, str, str] | None,
    guess: Guess,
    index: tuple[int, ...],
) -> tuple[str, Products]:
    """The name of a wrong result, more precise where the products could be counted; and the counts."""
    one = trial.failed_pass
    if (
        names is None
        or one is None
        or len(index) != 2
        or guess.name not in COUNTED
        or not one.arguments.exact
    ):
        return guess.name, Products()
    depth = int(one.arguments.values[names[0]].shape[1])
    known = Products(guess.k_range, depth, 0 if guess.name == "dropped-k-tail" else 2)
    counts = count_products(launcher, trial, names, (index[0], index[1]))
    if counts is None:
        return guess.name, known
    missing, repeated = counts == 0, counts > 1
    if not missing.any() and not repeated.any():
        misplaced = are_misplaced(launcher, trial, names, (index[0], index[1]))
        return guess.name, replace(known, facts={"misplaced": True} if misplaced else {})
    facts: dict[str, Fact] = {
        "missing": ranges(missing),
        "repeated": ranges(repeated),
        # How often the repeated ones are added, where that is not the same for all of them.
        "often": tuple(int(one) for one in np.unique(counts[repeated])),
    }
    name = guess.name if guess.rule else _name_by_count(missing, repeated)
    selected = repeated if name == "repeated-k-tail" else missing
    if not selected.any():
        return name, replace(known, facts=facts)
    first = int(np.argmax(selected))
    last = first + int(np.argmin(np.append(selected[first:], False))) - 1
    return name, Products((first, last), depth, int(counts[first]), facts)


def _name_by_count(missing: Mask, repeated: Mask) -> str:
    if not missing.any():
        return "repeated-k-tail"
    # A tail is one run up to the last k; what is missing elsewhere, or everywhere, has another cause.
    tail = bool(missing[-1]) and not missing.all() and len(ranges(missing)) == 1
    return "dropped-k-tail" if tail and not repeated.any() else "wrong-result"
