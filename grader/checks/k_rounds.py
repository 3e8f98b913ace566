"""What keeps a product out of a sum where the loop over k does come to it: a test, or the loop within.

Seen in one launch that is watched: which elements of the inputs are loaded, and in which rounds.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.checks.launching import Launcher, Trial
from grader.checks.places import Loop, innermost_loop, loads_of, parents_of
from grader.simt.observer import AccessEvent, Observer, spread

__all__ = ["KeptOut", "Product", "kept_out"]


@dataclass(frozen=True, slots=True)
class Product:
    """A product that a sum lacks: its two factors as (the kernel's own name, flat index), and its k."""

    factors: tuple[tuple[str, int], tuple[str, int]]
    k: int


@dataclass(frozen=True, slots=True)
class KeptOut:
    """What keeps the product out: the test before a load of ``array``; a loop where both are loaded."""

    place: ast.expr | Loop
    array: str = ""


@dataclass(slots=True)
class _Watch(Observer):
    factors: Sequence[tuple[str, int]]
    counter: str
    loaded: set[str] = field(default_factory=set)
    rounds: set[int] = field(default_factory=set)

    def load(self, event: AccessEvent) -> None:
        """Note a factor that comes, and the round."""
        self._count(event)
        for array, at in self.factors:
            if event.space == "global" and event.array == array and array not in self.loaded:
                hit = event.address == at
                if bool(np.any(hit if event.active is None else hit & event.active)):
                    self.loaded.add(array)

    def store(self, event: AccessEvent) -> None:
        """Note the round."""
        self._count(event)

    def _count(self, event: AccessEvent) -> None:
        for name, value in event.loops:
            if name == self.counter:
                self.rounds.update(np.unique(spread(value)).tolist())


def kept_out(
    launcher: Launcher, trial: Trial, function: ast.FunctionDef, loop: Loop, product: Product
) -> KeptOut | None:
    """What keeps the product out; None where the loop does not come to its k, or that is not known."""
    counter = ast.unparse(loop.target) if isinstance(loop, ast.For) else ""
    watch = _Watch(product.factors, counter)
    if not _launched(launcher, trial, watch):
        return None
    inner, missed = innermost_loop(loop), [one for one, _ in product.factors if one not in watch.loaded]
    width = launcher.constants.get("TILE", 1) if inner is not loop else 1
    # What is loaded may be meant for a next round that does not come.
    if (counter or len(missed) != 1) and len(watch.rounds) * width <= product.k:
        return None
    if not missed:
        return KeptOut(inner) if inner is not loop else None
    for array in missed:
        test = _test_before(function, array)
        if test is not None:
            return KeptOut(test, array)
    return None


def _launched(launcher: Launcher, trial: Trial, watch: _Watch) -> bool:
    if trial.failed_pass is None or trial.config is None:
        return False
    box = launcher.cover(trial.shape, trial.config)
    arguments = trial.failed_pass.arguments
    launcher.launch_with(arguments, trial.shape, trial.config, effort="values", box=box, observers=(watch,))
    return True


def _test_before(function: ast.FunctionDef, array: str) -> ast.expr | None:
    """The innermost test that a load of the array stands behind."""
    parents = parents_of(function)
    for load in loads_of(function, array):
        node: ast.AST = load
        while node in parents:
            inside, node = node, parents[node]
            if isinstance(node, ast.If | ast.IfExp) and inside is not node.test:
                return node.test
    return None
