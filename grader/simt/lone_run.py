"""Running a loop of a few threads in each block in one go, over the axes of :class:`LoneChunk`.

The body's own closures are executed, by a machine that commits nothing: stores are noted before they
are made, and what cannot be taken together (a fault that is not known yet, a value nobody wrote, an
address that is not linear) undoes them all, so that the iterations go one by one and report what is wrong.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from grader.simt.affine import Affine
from grader.simt.context import UNSET, Frame
from grader.simt.evidence import Site
from grader.simt.lone_chunk import LoneChunk, Round
from grader.simt.lone_layout import layout
from grader.simt.lone_notes import Notes, Unbatched
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active, Mask, Narrowing, contains
from grader.simt.memory import View
from grader.simt.variables import MixedArrays, assign

#: Fewer iterations are not worth it.
LEAST = 4
#: A loop is no longer tried where so many more of its runs were undone than committed.
MOST_LOST = 8
#: Of at least so many threads, one takes part.
FEW = 16


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

    def ask(
        self, site: Site, kind: str, place: tuple[View, tuple[Any, ...], Any], active: Active, valid: Any
    ) -> None:
        """Note an access in all iterations."""
        self.notes.ask(site, kind, place, active, valid)

    def spend(self, _: Site) -> None:
        """No loop of the body goes round for itself."""
        raise Unbatched

    def settle(self, _: Any) -> None:
        """No barrier is in the body."""
        raise Unbatched


def take(fr: Frame, m: Active, loop: Any, values: range) -> range:
    """Take iterations in one go, as far as that can be, all but the last; gives those that are left.

    The last one leaves the variables as they have to be. ``values`` are those of the loop's variable.
    """
    mc = fr.mc
    if len(values) <= LEAST or m is None or mc.observers or not mc.detect or mc.baton is not None:
        return values
    if mc.lost_runs.get(loop.site.ident, 0) > MOST_LOST:
        return values
    chunk = _lone(mc, m)
    if chunk is None or not _is_as_planned(fr, m, loop.lone, chunk):
        return values
    divisors, left = loop.lone.divisors_of(fr, m), values
    while len(left) > LEAST:
        extents = layout(left[:-1], divisors)
        count = prod(extents)
        done = len(values) - len(left)
        if count < LEAST or not _run(fr, m, loop, chunk, _round(loop, left[:count], done, extents)):
            break
        left = left[count:]
    return left


def _round(loop: Any, values: range, done: int, extents: tuple[int, ...]) -> Round:
    indices = range(done, done + len(values)) if loop.by_passes else values
    return Round(loop.site.ident, loop.name, indices, values, extents)


def _run(fr: Frame, m: Mask, loop: Any, chunk: LoneChunk, round_: Round) -> bool:
    """Execute iterations of a loop; False, and nothing is done, where they have to go one by one."""
    mc = fr.mc
    lost = mc.lost_runs.get(loop.site.ident, 0)
    notes = Notes(mc, loop.lone.unsure or not _are_own(fr, m, loop.lone.places))
    try:
        with notes:
            machine = LoneMachine(mc, chunk, notes)
            frame = _of_lone(fr, m, machine, loop.lone.fresh)
            left = chunk.part(m.array)
            notes.chunk = chunk
            mask = None if left.all() else Mask(left, None)
            _go_through(frame, mask, loop, round_)
            if notes.spent > mc.fuel:
                raise Unbatched
            notes.settle()
    except (Unbatched, Stop, MixedArrays):
        mc.lost_runs[loop.site.ident] = lost + 1
        return False
    mc.lost_runs[loop.site.ident] = lost - 1
    notes.commit()
    mc.fuel -= notes.spent
    mc.open[-1][1] += len(round_.values)
    return True


def iterate(fr: Frame, m: Active, loop: Any, values: range) -> Active:
    """All iterations of a loop within a machine of lone threads."""
    if values:
        extents = layout(values, loop.lone.divisors_of(fr, m)) if loop.lone is not None else ()
        whole = extents if prod(extents) == len(values) else (len(values),)
        _go_through(fr, m, loop, _round(loop, values, 0, whole))
    return m


def iterate_passes(fr: Frame, m: Active, loop: Any) -> Active:
    """All passes of a ``while`` loop within a machine of lone threads; its variable ends beyond them."""
    values = None if loop is None else loop.values_in(fr, m)
    if values is None or not (m is None or _is_own(fr.defined[loop.slot], m)):
        raise Unbatched
    iterate(fr, m, loop, values)
    assign(fr, loop.slot, values.start + len(values) * values.step, m)
    return m


def _go_through(fr: Frame, m: Active, loop: Any, round_: Round) -> None:
    mc: Any = fr.mc
    machine = LoneMachine(mc, mc.chunk.within(round_), mc.notes)
    frame = _deeper(fr, machine)
    frame.values[loop.slot], frame.defined[loop.slot] = machine.chunk.index_of_innermost(), None  # type: ignore[attr-defined]
    notes: Notes = mc.notes
    notes.chunk, outer = machine.chunk, notes.chunk
    loop.body(frame, m)
    notes.chunk = outer
    notes.spent += machine.chunk.iterations  # type: ignore[attr-defined]


def _lone(mc: Machine, m: Mask) -> LoneChunk | None:
    """The chunk of the threads of a mask that has the same few threads of every block, or of some."""
    found = mc.lone_masks.get(id(m))
    if found is not None and found[0] is m:
        chunk: LoneChunk | None = found[1]
        return chunk
    chunk, root = None, mc.chunk
    if np.count_nonzero(m.array) * FEW <= m.array.size:
        full = np.broadcast_to(m.array, root.shape)
        places = np.argwhere(full.any(axis=tuple(range(root.grid_axes))))
        box = tuple(
            range(int(low), int(high) + 1)
            for low, high in zip(places.min(axis=0), places.max(axis=0), strict=True)
        )
        if prod(map(len, box)) * FEW <= prod(root.shape[root.grid_axes :]):
            chunk = LoneChunk(root, box)
    mc.lone_masks[id(m)] = (m, chunk)
    return chunk


def _is_as_planned(fr: Frame, m: Mask, plan: Any, chunk: LoneChunk) -> bool:
    """Whether the variables hold what the plan takes for granted.

    Those in indices are linear; those that are divided are the same for all threads of a block, for a
    quotient may be linear for a few of them alone; and those that the loop sets are these threads' own,
    for other threads would keep a value of their own, and such a variable is not linear.
    """
    if any(type(_held(fr, slot)) not in (int, Affine, type(UNSET)) for slot in plan.indices):
        return False
    for slot in plan.divided:
        value = _held(fr, slot)
        if type(value) is Affine and any(value.coefs[chunk.root.grid_axes :]):
            return False
    return _are_own(fr, m, plan.owned)


def _are_own(fr: Frame, m: Mask, slots: frozenset[int]) -> bool:
    return all(_held(fr, slot) is UNSET or _is_own(fr.defined[slot], m) for slot in slots)


def _held(fr: Frame, slot: int) -> Any:
    return fr.values[slot] if slot < len(fr.values) else UNSET


def _is_own(defined: Active, m: Mask) -> bool:
    """Whether an assignment by the threads of a mask replaces a variable's value for all threads."""
    return defined is m or (defined is not None and defined.within(m))


def _of_lone(fr: Frame, m: Mask, machine: LoneMachine, fresh: frozenset[int]) -> Frame:
    """The variables of the lone threads.

    What is neither a number nor an array is not read, nor is what each iteration sets (``fresh``).
    """
    chunk: Any = machine.chunk
    frame = Frame(machine, len(fr.values))
    for slot, value in enumerate(fr.values):
        if value is UNSET or slot in fresh:
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


__all__ = ["LoneMachine", "Unbatched", "iterate", "iterate_passes", "take"]
