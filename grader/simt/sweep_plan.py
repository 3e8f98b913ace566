"""Loops whose iterations are taken together: which they are, and what such a loop computes.

``for k in range(TILE): acc += As[ty, k] * Bs[k, tx]`` does the same to other words in each iteration.
Where a loop's body only computes floats from words whose index is linear in the loop's variable, its
bookkeeping (bounds, races, traffic) is done once for all iterations, and only the arithmetic is done
iteration by iteration, in the order and with the roundings of the source (:mod:`grader.simt.sweep`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.simt.context import Run
from grader.simt.evidence import Site

#: How a node's value varies: not at all, with the iteration, or with the iterations before it.
FIXED, SWEPT, CARRIED = range(3)


@dataclass(frozen=True, slots=True)
class Read:
    """One load of the body. ``inner`` are the loops inside the swept one, which are unrolled."""

    node: int
    array: Run
    dims: tuple[Run, ...]
    site: Site
    inner: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Op:
    """``node = ufunc(left, right)``, or a cast of ``left`` to ``code`` where ``ufunc`` is None."""

    node: int
    ufunc: np.ufunc | None
    left: int
    right: int
    code: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A variable of the body: a name, or an element of a local array.

    ``load`` gives its value before the loop, and ``store`` is a name's slot or a closure that sets the
    element.
    """

    load: Run
    store: Any


@dataclass(eq=False, slots=True)
class Plan:
    """What a swept loop computes, node by node; ``results`` maps cells to the nodes they end with.

    ``sums`` says that all it carries from iteration to iteration is sums, each of the reads in ``feeds``.
    """

    reads: list[Read] = field(default_factory=list)
    fixed: list[tuple[int, Run]] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    carried: list[tuple[int, int, Run]] = field(default_factory=list)
    results: list[tuple[Cell, int]] = field(default_factory=list)
    flops: list[tuple[Any, Any, int]] = field(default_factory=list)
    inner: list[tuple[int, int]] = field(default_factory=list)
    locals: dict[str, Run] = field(default_factory=dict)
    fuel: int = 1
    by_level: tuple[tuple[Op, ...], ...] = ()
    sums: bool = False
    feeds: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def ops_of(self, level: int) -> tuple[Op, ...]:
        """The operations whose results vary in a given way, in order."""
        return self.by_level[level]

    def finish(self) -> None:
        """Sort the operations by level, and see whether all that is carried is sums of what is not."""
        self.by_level = tuple(
            tuple(op for op in self.ops if self.levels[op.node] == level) for level in (FIXED, SWEPT, CARRIED)
        )
        ends = {(start, final) for start, final, _ in self.carried}
        self.sums = all(
            op.ufunc is not None
            and ((op.left, op.node) in ends) != ((op.right, op.node) in ends)
            and SWEPT in (self.levels[op.left], self.levels[op.right])
            for op in self.by_level[CARRIED]
        )
        numbers: dict[int, frozenset[int]] = {
            read.node: frozenset([at]) for at, read in enumerate(self.reads)
        }
        for op in self.ops:
            left, right = (numbers.get(node, frozenset()) for node in (op.left, op.right))
            numbers[op.node] = left | right
        self.feeds = {final: tuple(sorted(numbers[final])) for _, final, _ in self.carried}
