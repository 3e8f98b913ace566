"""Race detection: two threads, one word, one barrier interval, at least one write, not both atomic.

Accesses of an interval are logged, not looked up word by word: an interval in which an array is
only read, or only written by each thread to a word of its own, is dismissed by comparing a few
linear forms (:mod:`grader.simt.race_check`). A log that grows long is folded into the least and
greatest thread of each word, so that its memory is bounded however long an interval lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine
from grader.simt.evidence import Site
from grader.simt.geometry import Chunk
from grader.simt.mask import Active
from grader.simt.memory import Address, Buffer, View
from grader.simt.race_sweep import Sweep

READ: Final = 0
WRITE: Final = 1
ATOMIC: Final = 2

FOLD_ACCESSES = 20_000
FOLD_BYTES = 48 << 20


@dataclass(eq=False, slots=True)
class Access:
    """One logged access: by which threads, to which words, at which values of the loops.

    ``number`` finds its statement among the log's. ``gridded`` says that the shadow between
    blocks has it already, ``bounded`` that each of its threads' indices is known to be in range.
    """

    order: int
    kind: int
    site: Site
    view: View
    address: Address
    dims: tuple[Any, ...]
    mask: Active
    valid: npt.NDArray[np.bool_] | None
    loops: tuple[tuple[str, Any], ...]
    value: Any
    number: int = 0
    gridded: bool = False
    bounded: bool = False

    def active(self) -> npt.NDArray[np.bool_] | None:
        """The threads that really touched memory; None for all of them."""
        if self.mask is None:
            return self.valid
        return self.mask.array if self.valid is None else self.mask.array & self.valid

    def nbytes(self) -> int:
        """Bytes of the arrays that only this access keeps alive."""
        parts = (self.address, self.value, self.valid)
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))


class Log:
    """The accesses to one buffer in the current barrier interval of its blocks.

    ``settled`` are those that a ``syncwarp`` has ordered within their warps, and ``folded`` those
    of a long interval, by word (:class:`grader.simt.race_words.Folded`).
    """

    __slots__ = (
        "buffer",
        "detailed",
        "folded",
        "held",
        "keys",
        "known",
        "numbers",
        "order",
        "raw",
        "reads",
        "settled",
        "sites",
        "swept",
        "writes",
    )

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.detailed: dict[Any, int] = {}
        #: Intervals whose conflicts are reported, by their form: signature, and words by ledger key.
        self.known: dict[Any, tuple[Any, dict[Any, int]]] = {}
        self.sites: list[tuple[Site, View]] = []
        self.numbers: dict[int, int] = {}
        self.order = 0
        self.clear()

    def clear(self) -> None:
        """Forget the interval."""
        self.raw: list[Access | Sweep] = []
        self.swept: set[Any] = set()
        self.reads = 0
        self.settled: list[Access] = []
        self.folded: Any = None
        self.keys: set[Any] = set()
        self.writes = 0
        self.held = 0

    def add(
        self,
        kind: int,
        site: Site,
        view: View,
        address: Address,
        dims: tuple[Any, ...],
        mask: Active,
        valid: Any,
        loops: Sequence[Sequence[Any]],
        value: Any,
        bounded: bool = False,
    ) -> bool:
        """Log one access; the same read again within the interval adds nothing.

        The result says that the log has grown long and is to be folded.
        """
        self.order += 1
        if kind == READ:
            key = _read_key(site, address, mask)
            if key in self.keys and valid is None:
                return False
            self.keys.add(key)
        else:
            self.writes += 1
            if type(value) is np.ndarray and value.base is not None:
                value = value.copy()
        frozen = tuple([(name, at) for name, at in loops])
        number = self._number(site, view)
        parts = (self.order, kind, site, view, address, dims, mask, valid, frozen, value, number)
        access = Access(*parts, bounded=bounded)
        self.raw.append(access)
        self.held += access.nbytes()
        return self.held > FOLD_BYTES or len(self.raw) + self.reads > FOLD_ACCESSES

    def sweep(self, sweep: Sweep) -> bool:
        """Log a read in all iterations of a loop, as :meth:`add` would have one by one."""
        address = sweep.address
        key = (sweep.site.ident, address.base, address.coefs, sweep.steps, sweep.count, id(sweep.mask))
        if key in self.swept:
            return False
        self.swept.add(key)
        sweep.number = self._number(sweep.site, sweep.view)
        self.raw.append(sweep)
        self.reads += sweep.count
        return len(self.raw) + self.reads > FOLD_ACCESSES

    def batch(self, make: Callable[[int], Sweep], site: Site, view: View) -> None:
        """Log a store in many iterations; ``make`` gives it for the statement's number."""
        batch = make(self._number(site, view))
        self.swept.add(id(batch))
        self.raw.append(batch)
        self.writes += 1
        self.reads += batch.count

    def is_long(self) -> bool:
        """Whether the log is to be folded."""
        return self.held > FOLD_BYTES or len(self.raw) + self.reads > FOLD_ACCESSES

    def separate(self) -> list[Access | Sweep]:
        """The interval's accesses, a swept loop's as one where no other read says the same again."""
        swept = {one.site.ident for one in self.raw if isinstance(one, Sweep) and not one.stores}
        reads = (one for one in self.raw if one.site.ident in swept)
        sites = [one.site.ident for one in reads if isinstance(one, Sweep) or one.kind == READ]
        alone = all(sites.count(ident) == 1 for ident in swept)
        return list(self.raw) if alone else list(self.accesses)

    @property
    def accesses(self) -> list[Access]:
        """The interval's accesses, each iteration of a swept loop for itself."""
        if self.swept:
            self.accesses = list(self._each())
        return self.raw  # type: ignore[return-value]

    @accesses.setter
    def accesses(self, accesses: list[Access]) -> None:
        self.raw, self.swept, self.reads = list(accesses), set(), 0

    def _each(self) -> Iterator[Access]:
        """All accesses in turn, without the reads that an earlier one says already."""
        seen: set[Any] = set()
        for one in self.raw:
            for access in _separate(one) if isinstance(one, Sweep) else (one,):
                if access.kind == READ:
                    key = _read_key(access.site, access.address, access.mask)
                    if key in seen and access.valid is None:
                        continue
                    seen.add(key)
                yield access

    def _number(self, site: Site, view: View) -> int:
        number = self.numbers.get(site.ident)
        if number is None:
            number = self.numbers[site.ident] = len(self.sites)
            self.sites.append((site, view))
        return number

    def drop(self, passed: npt.NDArray[np.bool_] | None, chunk: Chunk) -> None:
        """Forget the accesses of the blocks in ``passed`` (None: of all)."""
        if passed is None:
            self.clear()
            return
        self.accesses = without(self.accesses, passed, chunk)
        self.settled = without(self.settled, passed, chunk)
        self.keys = set()
        if self.folded is not None:
            self.folded.drop(chunk.by_block(passed) > 0)
        kept = sum(access.kind != READ for access in (*self.accesses, *self.settled))
        self.writes = kept + (self.folded.writes if self.folded is not None else 0)


def without(accesses: list[Access], gone: npt.NDArray[np.bool_], chunk: Chunk) -> list[Access]:
    """The accesses without the threads of ``gone``; those of which nothing is left are dropped."""
    return [kept for access in accesses if (kept := limited(access, ~gone, chunk)) is not None]


def limited(access: Access, threads: npt.NDArray[np.bool_], chunk: Chunk) -> Access | None:
    """The access by ``threads`` alone, or None where none of them takes part."""
    from grader.simt.mask import Mask

    still = threads if access.mask is None else access.mask.array & threads
    if not still.any():
        return None
    fields = (access.order, access.kind, access.site, access.view, access.address, access.dims)
    mask = Mask(np.broadcast_to(still, chunk.shape), None)
    rest = (access.valid, access.loops, access.value, access.number, access.gridded, access.bounded)
    return Access(*fields, mask, *rest)


def _read_key(site: Site, address: Address, mask: Active) -> tuple[Any, ...]:
    where: Any = address if type(address) is int else id(address)
    if type(address) is Affine:
        where = (address.base, address.coefs)
    return (site.ident, where, id(mask))


def first_of(sweep: Sweep) -> Access:
    """The read of a swept loop's first iteration."""
    return next(_separate(sweep))


def _separate(sweep: Sweep) -> Iterator[Access]:
    if sweep.stores:
        yield from sweep.separately()  # type: ignore[attr-defined]
        return
    for order, address, dims, loops in sweep.each():
        parts = (order, READ, sweep.site, sweep.view, address, dims, sweep.mask, None, loops, None)
        yield Access(*parts, sweep.number)
