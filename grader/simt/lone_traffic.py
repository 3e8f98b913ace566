"""What the accesses of a loop that ran in one go cost, as if it had gone iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grader.simt import affine
from grader.simt.affine import Affine
from grader.simt.evidence import Site
from grader.simt.lone_chunk import LoneChunk
from grader.simt.mask import Active, named
from grader.simt.memory import Address, View
from grader.simt.requests import Cost, Pattern, of_lanes, period
from grader.simt.tally import MAX_HELD, STORE
from grader.simt.values import Value

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
#: Lanes whose set is told by one number.
MAX_BITS = 48
NOWHERE = np.iinfo(np.int64).max


class Unbatched(Exception):
    """The loop has to go iteration by iteration."""


@dataclass(frozen=True, slots=True)
class Request:
    """One load or store of a loop's body, by the threads of ``active``, in all iterations."""

    site: Site
    kind: str
    address: Address
    active: Active
    valid: Bools | None
    view: View
    dims: tuple[Value, ...]
    chunk: LoneChunk

    def threads(self) -> Bools:
        """The threads that make the access, iteration by iteration."""
        return self.chunk.in_turn(np.True_ if self.active is None else self.active.array)  # type: ignore[arg-type]

    def addresses(self) -> npt.NDArray[np.int64]:
        """The address of each thread, iteration by iteration."""
        address = self.address
        return self.chunk.in_turn(address.array() if isinstance(address, Affine) else np.asarray(address))


@dataclass(slots=True)
class Traffic:
    """The costs of a loop's accesses, and the elements that are in registers after it.

    ``held`` are those in registers before it, ``owners`` says which access loaded one within it. Where
    indices are ``unsure`` to be linear in each iteration, no element may be loaded twice.
    """

    held: set[Any]
    warp: int
    unsure: bool
    booked: list[tuple[Site, str, Cost]] = field(default_factory=list)
    owners: dict[Any, int] = field(default_factory=dict)
    names: dict[bytes, bytes] = field(default_factory=dict)

    def add(self, number: int, one: Request) -> None:
        """Work out one access; raises Unbatched where the order of several decides what counts."""
        threads = one.threads()
        chosen: Bools = threads.reshape(len(threads), -1).any(axis=1)  # type: ignore[assignment]
        if one.kind != STORE and one.site.space == "global":
            self._load(number, one, threads, chosen)
        if chosen.any():
            self.booked.append((one.site, one.kind, self._cost(one, threads, chosen)))

    def _cost(self, one: Request, threads: Bools, chosen: Bools) -> Cost:
        """The cost of an access in the chosen iterations."""
        chunk, taken = one.chunk, threads
        if one.valid is not None:
            taken = taken & chunk.in_turn(one.valid)
        taken = taken[chosen].reshape(-1, chunk.lanes)
        if chunk.lanes == 1:
            count = int(np.count_nonzero(taken))
            return count, count if one.site.space == "global" else 0, count
        number = chunk.lane_number
        assert isinstance(number, Affine)
        lanes = np.broadcast_to(number.array(), chunk.shape).reshape(-1, chunk.lanes)[0]
        rows = np.where(taken, one.addresses()[chosen].reshape(-1, chunk.lanes), -1)
        wanted = Warps(one.site.space, one.site.itemsize, self.warp, tuple(lanes.tolist()))
        if isinstance(one.address, Affine) and chunk.lanes <= MAX_BITS:
            return _of_forms(wanted, one.address, rows)
        return _of_rows(wanted, rows)

    def _load(self, number: int, one: Request, threads: Bools, chosen: Bools) -> None:
        """Leave out of ``chosen`` the iterations whose element is in a register by then."""
        known, bases, coefs = _elements(one, threads)
        whose = (one.site.array, one.site.itemsize)
        apart = (coefs,) if any(coefs) else ()
        for at in np.flatnonzero(chosen & known).tolist():
            element = (*whose, int(bases[at]), *apart, self._name(one.chunk, threads[at]))
            if element in self.held or element in self.owners:
                if self.unsure or self.owners.get(element, number) != number:
                    raise Unbatched  # which of two statements comes first is not looked at here
                chosen[at] = False
            else:
                self.owners[element] = number
        if len(self.held) + len(self.owners) > MAX_HELD:
            raise Unbatched

    def _name(self, chunk: LoneChunk, threads: Bools) -> bytes:
        """The name of the threads of one iteration."""
        key = threads.tobytes()
        found = self.names.get(key)
        if found is None:
            found = self.names[key] = named(chunk.spread(threads))
        return found


class Warps(NamedTuple):
    """Who asks for elements, and of what kind: the lanes are numbers of threads within their blocks."""

    space: str
    itemsize: int
    warp: int
    lanes: tuple[int, ...]


def _of_forms(wanted: Warps, address: Affine, rows: Ints) -> Cost:
    """The cost of rows of lanes, -1 for one that asks for nothing, each of one block in one iteration.

    The lanes of a linear address are as far apart in each row, so rows of the same lanes cost the same
    where they start at the same place of a sector or a bank's word.
    """
    taken = rows >= 0
    rows, taken = rows[taken.any(axis=1)], taken[taken.any(axis=1)]
    every = period(wanted.space, wanted.itemsize)
    starts = np.where(taken, rows, NOWHERE).min(axis=1)
    forms = taken @ (1 << np.arange(len(wanted.lanes))) * every + starts % every
    _, first, times = np.unique(forms, return_index=True, return_counts=True)
    total = [0, 0, 0]
    for at, count in zip(first.tolist(), times.tolist(), strict=True):
        moved = rows[at] - starts[at] + starts[at] % every
        for place, part in enumerate(_of_row(wanted, tuple(np.where(taken[at], moved, -1).tolist()))):
            total[place] += count * part
    return total[0], total[1], total[2]


@lru_cache(maxsize=4096)
def _of_row(wanted: Warps, row: tuple[int, ...]) -> Cost:
    return _of_rows(wanted, np.array([row], np.int64))


def _of_rows(wanted: Warps, rows: Ints) -> Cost:
    at = np.array(wanted.lanes)
    warps, number = np.unique(at // wanted.warp, return_inverse=True)
    lanes = np.full((len(rows), warps.size, wanted.warp), -1, np.int64)
    lanes[:, number, at % wanted.warp] = rows
    pattern = Pattern(wanted.space, wanted.itemsize, wanted.warp, None, None)
    return of_lanes(lanes.reshape(-1, wanted.warp), pattern)


def _elements(one: Request, threads: Bools) -> tuple[Bools, Ints, tuple[int, ...]]:
    """In which iterations a load's address is linear, as :func:`grader.simt.addresses.locate` finds it.

    Besides, the linear form over the axes of the whole chunk: its base in each iteration, and its
    coefficients.
    """
    chunk, view = one.chunk, one.view
    known: Bools = np.ones(chunk.iterations, bool)
    form = view.base
    for dim, size, stride in zip(one.dims, view.shape, view.strides, strict=True):
        if type(dim) is not int and type(dim) is not Affine:
            raise Unbatched  # what is linear in one iteration need not be so in all of them
        form = affine.add(form, affine.scale(dim, stride) if isinstance(dim, Affine) else dim * stride)
        low, high = dim.bounds() if isinstance(dim, Affine) else (dim, dim)
        if low < 0 or high >= size:
            index = chunk.in_turn(dim.array() if isinstance(dim, Affine) else np.int64(dim))  # type: ignore[arg-type]
            if (threads & (index < 0)).any():
                raise Unbatched
            known &= ~(threads & (index >= size)).reshape(chunk.iterations, -1).any(axis=1)
    if isinstance(form, int):
        form = Affine(form, (0,) * len(chunk.shape), chunk.extents)
    bases, coefs = chunk.bases(form)
    low, high = Affine(0, coefs, chunk.root.extents).bounds()
    inside = (bases + low >= 0) & (bases + high < view.buffer.words)
    if not any(coefs):
        # One address for all threads that is outside goes on as element 0, of which nothing is read.
        return np.ones_like(known), np.where(known | inside, bases, 0), coefs
    return known | inside, bases, coefs
