"""Launches with many more blocks than the output has tiles: what the blocks beyond it do.

A grid of one block for each *element* is a common slip, and a launch of it takes hundreds of times as
long. So the blocks that cover the output run first, and one block of each part of the grid beyond them;
where the result is right then, and those blocks leave it so, the rest is not run. Where it is wrong, all
blocks run, until it was seen on a few shapes that those beyond make no difference. What the memory
counters would have been is worked out from the blocks that ran:

    counter = counter of the covering blocks + sum over the parts: counter of its one block * its blocks
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from grader.checks.launch_config import Config, returned_grid
from grader.checks.trial import Pass
from grader.records import Dim3, Finding
from grader.rubric.model import KernelSpec
from grader.rubric.suites import Shape
from grader.simt import Box, Run

if TYPE_CHECKING:
    from grader.checks.launching import Launcher

__all__ = ["ENOUGH_IDLE", "STRETCHED", "Crowd", "crowd_of", "idle_finding", "launch_sampled", "left_the_same"]

#: So many times the blocks that are needed are launched whole: a block too many along each axis is common.
LENIENCY = 4
#: The most blocks that are launched whole where the blocks that cover the output do not give the result.
MOST_BLOCKS = 16_384
#: Of so many shapes with sides that differ, all blocks have to leave what the covering ones left. Then the
#: blocks beyond are taken to be idle on every shape, where the result is wrong too.
ENOUGH_IDLE = 2
#: Where blocks beyond made a difference, so many times the covering ones are tried along each axis: a block
#: may be larger than the tile that it computes.
STRETCHED = 2

_COUNTED = ("global_load_requests", "global_load_sectors", "global_load_bytes")


@dataclass(frozen=True, slots=True)
class Crowd:
    """A grid and the ``cover``: how many of its blocks, along each axis, have a thread for each element."""

    grid: Dim3
    cover: Dim3

    @property
    def blocks(self) -> int:
        """How many blocks the grid has."""
        return prod(self.grid)

    @property
    def too_many(self) -> bool:
        """Whether no kernel of a suite's small shapes needs so many."""
        return self.blocks > MOST_BLOCKS

    @property
    def is_oblong(self) -> bool:
        """Whether the axes need different numbers of blocks: exchanged axes would leave some out."""
        return self.cover[0] != self.cover[1]

    def parts(self) -> Iterator[tuple[Dim3, int]]:
        """The last block of each part of the grid beyond the cover, and how many blocks the part has."""
        beyond = [axis for axis in range(3) if self.grid[axis] > self.cover[axis]]
        for axes in chain.from_iterable(combinations(beyond, count) for count in (1, 2, 3)):
            last = tuple(self.grid[axis] - 1 if axis in axes else 0 for axis in range(3))
            sizes = [
                self.grid[axis] - self.cover[axis] if axis in axes else self.cover[axis] for axis in range(3)
            ]
            yield (last[0], last[1], last[2]), prod(sizes)


def crowd_of(launcher: Launcher, shape: Shape, config: Config) -> Crowd | None:
    """The crowd of the submission's own grid where it is one; a rubric's grid is as it should be."""
    kernel = launcher.kernel
    outputs = [kernel.args[name] for name in kernel.outputs]
    sizes = max((arg.shape for arg in outputs), key=len)[::-1]
    if kernel.launch.from_ is None or not 1 <= len(sizes) <= 3:
        return None
    # The last axis of an array is walked along x, the one before it along y.
    extents = launcher.extents(sizes, shape)
    grid, block = _dim3(config.grid), _dim3(config.block)
    cover = [
        min(blocks, launcher.stretch * -(-size // threads))
        for blocks, threads, size in zip(grid, block, (*extents, 1, 1), strict=False)
    ]
    crowd = Crowd(grid, (cover[0], cover[1], cover[2]))
    return crowd if crowd.blocks > LENIENCY * prod(cover) else None


def launch_sampled(
    launcher: Launcher, shape: Shape, config: Config, crowd: Crowd, *, exact: bool
) -> Pass | None:
    """The covering blocks and a block of each part beyond; None where exact arithmetic is not to be had."""
    first = launcher.launch(shape, config, exact=exact, box=Box((0, 0, 0), crowd.cover))
    if first is None or not first.right:
        return first
    runs, weights = [first.run], [1]
    for block, blocks in crowd.parts():
        again = launcher.launch_with(
            first.arguments, shape, config, box=Box(block, (1, 1, 1)), after=first.after
        )
        runs.append(again.run)
        weights.append(blocks)
        if not again.right:
            return again
    return replace(first, run=_together(runs, weights))


def left_the_same(kernel: KernelSpec, some: Pass, every: Pass) -> bool:
    """Whether all blocks left in every output what the covering ones had left."""
    pairs = ((some.after[name], every.after[name]) for name in kernel.outputs)
    return all(np.array_equal(one, other, equal_nan=True) for one, other in pairs)


def idle_finding(launcher: Launcher, crowd: Crowd) -> Finding:
    """``idle-blocks``: counts blocks and needed; facts grid and cover, as (x, y, z)."""
    function = launcher.kernel.launch.from_
    place = returned_grid(launcher.program, function) if function is not None else None
    counts = {"blocks": crowd.blocks, "needed": prod(crowd.cover)}
    return Finding(
        "idle-blocks", "warning", place, counts=counts, facts={"grid": crowd.grid, "cover": crowd.cover}
    )


def _together(runs: list[Run], weights: list[int]) -> Run:
    counters = replace(runs[0].counters)
    for name in _COUNTED:
        total = sum(
            weight * int(getattr(run.counters, name)) for run, weight in zip(runs, weights, strict=True)
        )
        setattr(counters, name, total)
    known = {(one.name, one.primary, one.secondary) for one in runs[0].findings}
    added = [
        one
        for run in runs[1:]
        for one in run.findings
        # A block beyond the output reaches no end of anything.
        if one.name != "grid-too-small" and (one.name, one.primary, one.secondary) not in known
    ]
    return replace(runs[0], findings=(*runs[0].findings, *added), counters=counters)


def _dim3(axes: tuple[int, ...]) -> Dim3:
    x, y, z = (*axes, 1, 1)[:3]
    return x, y, z
