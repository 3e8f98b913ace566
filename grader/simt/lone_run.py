"""Running a loop of one thread in each block in one go, over the axes of :class:`LoneChunk`.

The body's own closures are executed, by a machine that commits nothing: stores are noted before they
are made, and what cannot be taken together (a fault that is not known yet, a value nobody wrote, an
address that is not linear) undoes them all, so that the iterations go one by one and report what is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.simt.affine import Affine
from grader.simt.context import UNSET, Frame
from grader.simt.evidence import Site
from grader.simt.lone_chunk import LoneChunk
from grader.simt.lone_notes import Notes, Unbatched
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active, Mask, Narrowing, contains
from grader.simt.memory import View
from grader.simt.variables import MixedArrays

#: Fewer iterations are not worth it.
LEAST = 4
#: A loop is no longer tried where so many more of its runs were undone than committed.
MOST_LOST = 8


class LoneMachine(Machine):
    """What executes the body: a copy of the launch's machine whose evidence goes to ``notes``."""

    def __init__(self, mc: Machine, chunk: LoneChunk, notes: Notes) -> None:
        self.__dict__.update(mc.__dict__)
        self.notes = notes
        self.chunk = chunk
        self.extents = chunk.extents
        self.narrowing = Narrowing()
        self.ledger = notes.ledger
        self.tally = notes  # type: ignore[assignment]
        self.trail = notes  # type: ignore[assignment]
        self.located, self.harmless = {}, {}
        self.loops, self.open = [], []

    def spend(self, _: Site) -> None:
        """No loop of the body goes round for itself."""
        raise Unbatched

    def settle(self, _: Any) -> None:
        """No barrier is in the body."""
        raise Unbatched


def take(fr: Frame, m: Active, loop: Any, indices: range) -> range:
    """Take all iterations but the last in one go, if that can be; gives those that are left.

    The last one leaves the variables as they have to be.
    """
    mc = fr.mc
    most = indices[:-1]
    if len(most) < LEAST or m is None or mc.observers or not mc.detect or mc.baton is not None:
        return indices
    chunk = _lone(mc, m)
    lost = mc.lost_runs.get(loop.site.ident, 0)
    if chunk is None or lost > MOST_LOST or not _same_in_block(fr, loop.lone, chunk):
        return indices
    notes = Notes(mc, m)
    try:
        with notes:
            machine = LoneMachine(mc, chunk, notes)
            frame = _of_lone(fr, m, machine)
            left = chunk.part(m.array)
            notes.chunk = chunk
            mask = None if left.all() else Mask(left, None)
            iterate(frame, mask, loop, most)
            if notes.spent > mc.fuel:
                raise Unbatched
    except (Unbatched, Stop, MixedArrays):
        mc.lost_runs[loop.site.ident] = lost + 1
        return indices
    mc.lost_runs[loop.site.ident] = lost - 1
    notes.commit()
    mc.fuel -= notes.spent
    mc.open[-1][1] += len(most)
    return indices[-1:]


def iterate(fr: Frame, m: Active, loop: Any, indices: range) -> Active:
    """All iterations of a loop within a machine of lone threads."""
    mc: Any = fr.mc
    if not indices:
        return m
    machine = LoneMachine(mc, mc.chunk.within(loop.name, indices), mc.notes)
    frame = _deeper(fr, machine)
    frame.values[loop.slot], frame.defined[loop.slot] = machine.chunk.index_of_innermost(), None  # type: ignore[attr-defined]
    notes: Notes = mc.notes
    notes.chunk, outer = machine.chunk, notes.chunk
    loop.body(frame, m)
    notes.chunk = outer
    notes.spent += machine.chunk.iterations  # type: ignore[attr-defined]
    return m


def _lone(mc: Machine, m: Mask) -> LoneChunk | None:
    """The chunk of the threads of a mask that has the same one thread of every block, or of some."""
    found = mc.lone_masks.get(id(m))
    if found is not None and found[0] is m:
        chunk: LoneChunk | None = found[1]
        return chunk
    chunk = None
    root = mc.chunk
    if np.count_nonzero(m.array) * 16 <= m.array.size:
        full = np.broadcast_to(m.array, root.shape)
        places = np.argwhere(full.any(axis=tuple(range(root.grid_axes))))
        if len(places) == 1:
            chunk = LoneChunk(root, tuple(int(at) for at in places[0]))
    mc.lone_masks[id(m)] = (m, chunk)
    return chunk


def _same_in_block(fr: Frame, plan: Any, chunk: LoneChunk) -> bool:
    """Whether the variables in the indices of stores are the same for all threads of a block."""
    for slot in plan.indices:
        value = fr.values[slot] if slot < len(fr.values) else UNSET
        if type(value) is Affine:
            if any(value.coefs[chunk.root.grid_axes :]):
                return False
        elif value is not UNSET and type(value) is not int:
            return False
    return True


def _of_lone(fr: Frame, m: Mask, machine: LoneMachine) -> Frame:
    """The variables of the lone threads; what is neither a number nor an array is not read."""
    chunk: Any = machine.chunk
    frame = Frame(machine, len(fr.values))
    for slot, value in enumerate(fr.values):
        if value is UNSET:
            continue
        frame.values[slot] = _own(value, chunk, machine.notes)
        defined = fr.defined[slot]
        if defined is not None and not contains(defined, m):
            frame.defined[slot] = Mask(chunk.part(defined.array), None)
    return frame


def _own(value: Any, chunk: LoneChunk, notes: Notes) -> Any:
    kind = type(value)
    if kind is Affine:
        return chunk.linear(value)
    if kind is np.ndarray:
        return chunk.part(value)
    if kind is View:
        return notes.view(value, chunk.linear)
    return value if isinstance(value, int | float | np.generic) else UNSET


def _deeper(fr: Frame, machine: LoneMachine) -> Frame:
    """The variables over one axis more, in front of the others."""
    chunk: Any = machine.chunk
    frame = Frame(machine, len(fr.values))
    frame.defined[:] = fr.defined
    for slot, value in enumerate(fr.values):
        if type(value) is View:
            frame.values[slot] = machine.notes.view(value, chunk.deeper)
        else:
            frame.values[slot] = chunk.deeper(value) if type(value) is Affine else value
    return frame


__all__ = ["LoneMachine", "Unbatched", "iterate", "take"]
