"""What the guarded stores of a loop that ran in one go left out, as if they had gone one by one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cmp_to_key

import numpy as np

from grader.simt import affine
from grader.simt.affine import Affine, Whole
from grader.simt.machine import Machine
from grader.simt.mask import Mask
from grader.simt.memory import View
from grader.simt.race_batch import Stored
from grader.simt.shadows import mark_skipped


def last_of(stores: list[Stored]) -> Stored:
    """The store that is executed last of all; ``stores`` are in the order of the text."""

    def compare(left: tuple[int, Stored], right: tuple[int, Stored]) -> int:
        loops = zip(left[1].chunk.loops, right[1].chunk.loops, _at(left[1]), _at(right[1]), strict=False)
        for one, two, here, there in loops:
            if one.ident != two.ident:
                break
            if here != there:
                return here - there
        return left[0] - right[0]

    return max(enumerate(stores), key=cmp_to_key(compare))[1]


def _at(one: Stored) -> list[int]:
    """How often each loop had gone round when a store was executed for the last time, outermost first."""
    number = one.last()
    found: list[int] = []
    for loop in reversed(one.chunk.loops):
        number, here = divmod(number, len(loop.indices))
        found.append(here)
    return found[::-1]


def leave_out(mc: Machine, stores: list[Stored], roots: Mapping[int, View]) -> None:
    """Mark what threads outside the loop have left out, after all of its stores.

    A word that is written later in the loop loses its mark again, so those are marked alone that no
    iteration wrote; and of all stores to an array the last one is the one that a gap is explained by.
    """
    skipping = [one for one in stores if skips(one)]
    for one in skipping:
        for number in _within_part(mc, one):
            _mark(mc, one, number, roots)
    for name in dict.fromkeys(one.view.name for one in skipping):
        latest = last_of([one for one in skipping if one.view.name == name])
        _mark(mc, latest, latest.last(), roots)


def skips(one: Stored) -> bool:
    """Whether a store is guarded and has a word of its own for each thread of a block."""
    site, block = one.site, one.address.coefs[len(one.address.coefs) - len(one.chunk.box) :]
    return site.guard is not None and not site.covered and any(block)


def _within_part(mc: Machine, one: Stored) -> list[int]:
    """The iterations in which the words of all threads of a block, in the loop or not, are the block's."""
    buffer, chunk = one.view.buffer, one.chunk
    number = chunk.root.block_number
    start: Whole = affine.scale(number, buffer.pitch) if isinstance(number, Affine) else 0
    first = affine.subtract(chunk.in_iteration(one.address, 0), start)
    low, high = (first, first) if isinstance(first, int) else first.bounds()
    bases, _ = chunk.bases(one.address)
    moved = bases - bases[0]
    return np.flatnonzero((low + moved >= 0) & (high + moved < buffer.words)).tolist()


def _mark(mc: Machine, one: Stored, number: int, roots: Mapping[int, View]) -> None:
    taken = one.threads_in(number)
    if taken.any():
        address = one.chunk.in_iteration(one.address, number)
        mark_skipped(mc, Mask(one.chunk.spread(taken), None), roots[id(one.view)], address, None, one.site)


__all__ = ["last_of", "leave_out", "skips"]
