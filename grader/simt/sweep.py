"""Running a swept loop: its arithmetic iteration by iteration, its bookkeeping for all of them at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt import affine
from grader.simt.access import in_bounds
from grader.simt.addresses import locate
from grader.simt.affine import Affine
from grader.simt.aliases import sweeps, units
from grader.simt.context import Frame
from grader.simt.evidence import Site
from grader.simt.machine import Machine
from grader.simt.mask import Active
from grader.simt.memory import View, inside
from grader.simt.race import READ
from grader.simt.race_sweep import Sweep
from grader.simt.sweep_plan import Plan, Read
from grader.simt.sweep_values import Arithmetic, Taint
from grader.simt.values import Tainted
from grader.simt.variables import assign

#: Fewer iterations are not worth it, and more are taken in pieces.
LEAST, MOST = 3, 512
MAX_PLACES = 1024


class Place:
    """Where a read goes in all iterations: the first address, the step, and a row of memory for each.

    ``taint`` has rows too, of each unit that an element consists of.
    """

    __slots__ = ("address", "dims", "rows", "step", "steps", "taint", "view")

    def __init__(
        self, view: View, address: Affine, dims: tuple[Any, ...], steps: tuple[int, ...], count: int
    ) -> None:
        self.view = view
        self.address = address
        self.dims = dims
        self.steps = steps
        self.step = sum(step * stride for step, stride in zip(steps, view.strides, strict=True))
        buffer = view.buffer
        self.rows = _rows(buffer.data, address, self.step, count)
        parts = units(buffer, address)
        step = self.step * len(parts)
        taint = buffer.taint
        self.taint = [] if taint is None else [_rows(taint, part, step, count) for part in parts]

    def is_tainted(self) -> bool:
        """Whether some iteration reads a word that holds no value of this round."""
        return self.view.buffer.dirty and any(part.any() for part in self.taint)


def _rows(data: npt.NDArray[Any], address: Affine, step: int, count: int) -> npt.NDArray[Any]:
    """A strided view, one row an iteration, of extent 1 along axes that do not change the address."""
    size = data.itemsize
    shape = [extent if coef else 1 for coef, extent in zip(address.coefs, address.extents.shape, strict=True)]
    strides = [coef * size for coef in address.coefs]
    return np.ndarray((count, *shape), data.dtype, data, address.base * size, (step * size, *strides))


def sweep(fr: Frame, m: Active, plan: Plan, slot: int, indices: range) -> int:
    """Take the first iterations of a loop together; gives how many were, 0 where they cannot be.

    What cannot be: indices that are not linear or leave the array, values that are the same for all
    threads. Such iterations go one by one, which reports what is wrong.
    """
    mc = fr.mc
    indices = indices[:MOST]
    count = len(indices)
    if count < LEAST or mc.observers or mc.fuel < count * plan.fuel or not _simple(fr, m, plan):
        return 0
    places = []
    for read in plan.reads:
        place = _place(fr, m, read, slot, indices)
        if place is None:
            return 0
        places.append(place)
    mc.loops[-1][1] = indices[0]
    fr.values[slot], fr.defined[slot] = indices[0], m
    arithmetic = Arithmetic(fr, m, plan, [place.rows for place in places], count)
    tainted = [place.is_tainted() for place in places]
    if (any(tainted) or arithmetic.taints) and not (plan.sums and len(plan.results) == len(plan.carried)):
        return 0
    if any(bad and not place.view.buffer.plain for bad, place in zip(tainted, places, strict=True)):
        return 0  # which unit of an element it is has to be looked at each time
    values = arithmetic.run()
    if values is None:
        return 0
    if any(tainted) or arithmetic.taints:
        _taint(mc, m, plan, places, tainted, indices, values, arithmetic.taints)
    _book(mc, m, plan, places, indices)
    mc.fuel -= count * plan.fuel
    mc.open[-1][1] += count
    for cell, node in plan.results:
        if isinstance(cell.store, int):
            assign(fr, cell.store, values[node], m)
        else:
            cell.store(fr, m, values[node])
    for inner, last in plan.inner:
        assign(fr, inner, last, m)
    return count


def _simple(fr: Frame, m: Active, plan: Plan) -> bool:
    """Whether the local arrays of the body are held cell by cell, each under one name."""
    arrays = [run(fr, m) for run in plan.locals.values()]
    return all(array.view is None for array in arrays) and len(set(map(id, arrays))) == len(arrays)


def _place(fr: Frame, m: Active, read: Read, slot: int, indices: range) -> Place | None:
    """Where a read goes; None where that is not in bounds, linear and defined in all iterations.

    The index is linear in the loop's variable, up to the wrapping of its type. Its step is taken from
    the first two iterations: with those and the last in bounds, no iteration wraps.
    """
    mc = fr.mc
    fr.values[slot], fr.defined[slot] = indices[1], m
    second = [dim(fr, m) for dim in read.dims]
    fr.values[slot] = mc.loops[-1][1] = indices[0]
    first = [dim(fr, m) for dim in read.dims]
    view = read.array(fr, m)
    key: list[Any] = [read.site.ident, len(indices)]
    for a, b in zip(first, second, strict=True):
        if type(a) is Affine and type(b) is Affine and a.coefs == b.coefs:
            key += [a.base, a.coefs, b.base - a.base]
        elif type(a) is int and type(b) is int:
            key += [a, (), b - a]
        else:
            return None
    known = mc.swept.get(tuple(key))
    if known is None or known.view is not view:
        known = _new_place(mc, m, view, first, tuple(key[4::3]), read.site, len(indices))
        if known is None:
            return None
        if len(mc.swept) > MAX_PLACES:
            mc.swept.clear()
        mc.swept[tuple(key)] = known
    return known


def _new_place(
    mc: Machine, m: Active, view: View, first: list[Any], steps: tuple[int, ...], site: Site, count: int
) -> Place | None:
    last = [affine.add(dim, step * (count - 1)) for dim, step in zip(first, steps, strict=True)]
    if not in_bounds(view, first) or not in_bounds(view, last):
        return None
    if not view.buffer.plain and view.code == "?":
        return None
    address, valid, dims = locate(mc, m, view, first, site, READ)
    if type(address) is not Affine or valid is not None:
        return None
    place = Place(view, address, dims, steps, count)
    end = affine.add(address, place.step * (count - 1))
    if not isinstance(end, Affine) or not inside(end, view.buffer.data.size):
        return None
    return place


def _taint(
    mc: Machine,
    m: Active,
    plan: Plan,
    places: list[Place],
    tainted: list[bool],
    indices: range,
    values: list[Any],
    before: dict[int, Taint],
) -> None:
    """Note the reads of words without a value of this round, in order, and taint the sums they go into."""
    every = {
        at: np.bitwise_or.reduce(place.taint[0], axis=0) for at, place in enumerate(places) if tainted[at]
    }
    _note(mc, m, plan, places, dict(every), indices)
    for start, final, _ in plan.carried:
        whole = before.get(start)
        for one in (every[at] for at in plan.feeds[final] if at in every):
            whole = one if whole is None else whole | one
        if whole is not None:
            values[final] = Tainted(values[final], whole)


def _note(
    mc: Machine, m: Active, plan: Plan, places: list[Place], left: dict[int, Taint], indices: range
) -> None:
    """Note tainted reads iteration by iteration, until each thread's first at every place is noted."""
    for at, index in enumerate(indices):
        mc.loops[-1][1] = index
        for number, whole in list(left.items()):
            read, place = plan.reads[number], places[number]
            if mc.trail.knows(read.site, whole, m):
                del left[number]
            elif place.taint[0][at].any():
                base = place.address.base + at * place.step
                address = Affine(base, place.address.coefs, place.address.extents)
                mc.loops.extend([name, value] for name, value in read.inner)
                mc.trail.read(read.site, place.view, np.array(place.taint[0][at]), m, address, mc.loops)
                del mc.loops[len(mc.loops) - len(read.inner) :]
        if not left:
            break


def _book(mc: Machine, m: Active, plan: Plan, places: list[Place], indices: range) -> None:
    """Log the reads and count them and the operations, for all iterations."""
    count = len(indices)
    logs: dict[int, list[int]] = {}
    for number, place in enumerate(places):
        if place.view.buffer.shadowed:
            logs.setdefault(id(place.view.buffer.log), []).append(number)
    for numbers in logs.values():
        log = places[numbers[0]].view.buffer.log
        frozen, full = tuple([(name, at) for name, at in mc.loops[:-1]]), False
        for position, number in enumerate(numbers, start=1):
            read, place = plan.reads[number], places[number]
            order = (log.order + position, len(numbers))
            loops = (frozen, mc.loops[-1][0], indices, read.inner)
            whole = Sweep(order, read.site, place.view, place.address, place.dims, place.steps, m, loops)
            for part in (whole,) if place.view.buffer.plain else sweeps(whole):
                full |= log.sweep(part)
        log.order += count * len(numbers)
        if full:
            mc.fold(log)
    tally = mc.tally
    for read, place in zip(plan.reads, places, strict=True):
        tally.sweep(read.site, place.address, place.step, count, m)
    for ident, work, times in plan.flops:
        tally.flop(ident, work, m, times * count)
