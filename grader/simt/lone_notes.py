"""What a loop that runs in one go has done so far, to be committed or undone as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine, Whole
from grader.simt.evidence import Ledger, Site, freeze
from grader.simt.lone_skips import last_of, leave_out, skips
from grader.simt.lone_traffic import Request, Traffic, Unbatched
from grader.simt.mask import Active
from grader.simt.memory import Buffer, View
from grader.simt.race import WRITE
from grader.simt.race_batch import Batch, Stored
from grader.simt.tally import Uncounted
from grader.simt.values import Tainted


class Notes:
    """The stores, accesses and operations of a loop; in the place of the log, the tally and the trail.

    Within a ``with`` block the logs of all arrays lead here. An exception that leaves it undoes the
    stores.
    """

    def __init__(self, mc: Any, unsure: bool) -> None:
        self.mc = mc
        self.unsure = unsure
        self.stored: list[Stored] = []
        self.forms: dict[int, Any] = {}
        self.kept: dict[int, tuple[Buffer, Any, Any, Any, bool]] = {}
        self.views: dict[int, tuple[View, View]] = {}
        self.logs: list[tuple[Buffer, Any]] = []
        self.requests: list[Request] = []
        self.traffic: Traffic | None = None
        self.flops: list[tuple[Any, int]] = []
        self.rounds: dict[int, Any] = {}
        self.ledger = KnownFaults(mc.ledger)
        self.spent = 0
        self.chunk: Any = None

    def __enter__(self) -> Notes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for buffer, log in self.logs:
            buffer.log = log
        if kind is not None:
            for buffer, data, taint, stamp, dirty in self.kept.values():
                buffer.data[...] = data
                buffer.dirty = dirty
                for shadow, before in ((buffer.taint, taint), (buffer.stamp, stamp)):
                    if shadow is not None:
                        shadow[...] = before

    def view(self, view: View, convert: Callable[[Affine], Whole]) -> View:
        """An array as the lone threads see it."""
        # What shares its memory with another array has no note of its own to take back.
        if view.whole is not None or type(view.buffer) is not Buffer:
            raise Unbatched
        made = replace(view, base=view.base if isinstance(view.base, int) else convert(view.base))
        root = self.views[id(view)][1] if id(view) in self.views else view
        self.views[id(made)] = (made, root)
        buffer = view.buffer
        if buffer.shadowed and type(buffer.log) is not StoreLog:
            self.logs.append((buffer, buffer.log))
            buffer.log = StoreLog(self)
        return made

    # -- as the tally ------------------------------------------------------------------------------

    def ask(
        self, site: Site, kind: str, place: tuple[View, tuple[Any, ...], Any], active: Active, valid: Any
    ) -> None:
        """An access in all iterations."""
        view, dims, address = place
        self.requests.append(Request(site, kind, address, active, valid, view, dims, self.chunk))

    def flop(self, _: Any, work: tuple[tuple[str, int], ...], active: Active) -> None:
        """Floating-point operations of a statement."""
        self.flops.append((work, int(np.count_nonzero(_taken(active, self.chunk.shape)))))

    # -- as the trail ------------------------------------------------------------------------------

    def read(self, *_: Any) -> None:
        """A value that nobody wrote is told where it is read."""
        raise Unbatched

    reach = skipped = read

    # -- the end -----------------------------------------------------------------------------------

    def keep(self, buffer: Buffer) -> None:
        """Remember what a buffer holds before the first store."""
        if id(buffer) not in self.kept:
            taint, stamp = (None if part is None else part.copy() for part in (buffer.taint, buffer.stamp))
            self.kept[id(buffer)] = (buffer, buffer.data.copy(), taint, stamp, buffer.dirty)

    def settle(self) -> None:
        """Work out what the accesses cost; raises Unbatched where that is not known."""
        if self.mc.live is not None and any(skips(one) for one in self.stored):
            raise Unbatched  # of threads that have returned, none leaves out a word
        tally = self.mc.tally
        if isinstance(tally, Uncounted):
            return
        self.traffic = Traffic(tally.held, tally.warp, self.unsure)
        for number, one in enumerate(self.requests):
            self.traffic.add(number, one)

    def commit(self) -> None:
        """Log the stores, and count what was counted."""
        mc = self.mc
        around = freeze(mc.loops[:-1])
        starts: dict[int, int] = {}
        for position, stored in enumerate(self.stored, start=1):
            log = stored.view.buffer.log
            start = starts.setdefault(id(log), log.order)
            view = self.views[id(stored.view)][1]
            order = (start + position, len(self.stored))
            log.batch(partial(Batch, stored, view, order, around), stored.site, view)
        for log in {id(stored.view.buffer.log): stored.view.buffer.log for stored in self.stored}.values():
            log.order = starts[id(log)] + self.spent * (len(self.stored) + 1)
            if log.is_long():
                mc.fold(log)
        stamped = [one for one in self.stored if one.view.buffer.stamp is not None]
        if stamped:
            latest = last_of(stamped)
            mc.trail.rounds[mc.interval] = (*around, *latest.chunk.loops_of(latest.last()))
        leave_out(mc, self.stored, {key: root for key, (_, root) in self.views.items()})
        for fault, counts in self.ledger.more:
            mc.ledger.seen(*fault, **counts)
        if self.traffic is not None:
            mc.tally.held.update(self.traffic.owners)
            for booked in self.traffic.booked:
                mc.tally.lone(*booked)
        for work, times in self.flops:
            mc.tally.lone_flops(work, times)


class _Known(dict[Any, Any]):
    """Entries of a ledger, of which none is added or replaced."""

    def __setitem__(self, key: Any, entry: Any) -> None:
        raise Unbatched


class KnownFaults(Ledger):
    """The launch's faults, to which a loop may add counts, but no other fault."""

    def __init__(self, ledger: Ledger) -> None:
        self.entries = _Known(ledger.entries)
        self.more: list[tuple[tuple[Any, ...], dict[str, int]]] = []

    def seen(self, *key: Any, **counts: int) -> bool:
        """Whether a fault is known; keeps the counts until the end."""
        if key not in self.entries:
            raise Unbatched
        self.more.append((key, counts))
        return True


class StoreLog:
    """Stands in for an array's log: notes stores by linear forms that are apart in all iterations."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def add(
        self,
        kind: int,
        site: Site,
        view: View,
        address: Any,
        dims: tuple[Any, ...],
        mask: Active,
        valid: Any,
        _: Any,
        value: Any,
        __: bool = False,
    ) -> bool:
        """Note a store, before it is made."""
        notes, buffer = self.notes, view.buffer
        if kind != WRITE or type(address) is not Affine or valid is not None or type(value) is Tainted:
            raise Unbatched
        form = (address.base, address.coefs)
        if notes.forms.setdefault(id(buffer), form) != form or not _apart(address.coefs, notes.chunk.shape):
            raise Unbatched
        notes.keep(buffer)
        if isinstance(value, np.ndarray) and value.base is not None:
            value = value.copy()
        notes.stored.append(Stored(site, view, address, dims, mask, value, notes.chunk))
        return False


def _apart(coefs: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a linear form is another number for every combination of its axes' values."""
    reach = 0
    for coef, extent in sorted(zip(map(abs, coefs), shape, strict=False)):
        if extent > 1:
            if coef <= reach:
                return False
            reach += coef * (extent - 1)
    return True


def _taken(active: Active, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Which threads execute a statement, in which iterations."""
    return np.broadcast_to(np.True_ if active is None else active.array, shape)


__all__ = ["Notes", "StoreLog", "Unbatched"]
