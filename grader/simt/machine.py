"""The state of one launch while it runs, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from grader.records import Finding, Span
from grader.simt.evidence import Ledger, Site, freeze
from grader.simt.geometry import Chunk, Geometry
from grader.simt.mask import DEAD, Active, Dead, Narrowing, State, without
from grader.simt.memory import Buffer, View
from grader.simt.observer import AccessEvent, BarrierEvent, Observer, StatementEvent, spread
from grader.simt.race import Log
from grader.simt.race_check import close, fold, settle_warps
from grader.simt.race_grid import GridShadow
from grader.simt.taint import TaintTrail
from grader.simt.tally import Tally
from grader.simt.values import strip

#: Iterations after which a loop that only memory can end counts as starved by lockstep.
MAX_WAITS = 20_000


class Stop(Exception):
    """The end of a launch that cannot go on, with the finding that says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.name)
        self.finding = finding


class Machine:
    """One launch. Per-chunk state is renewed by :meth:`begin`."""

    #: Set where warps run one by one: what a barrier waits for, and which warp this machine runs.
    baton: Any = None
    warp_number: int = 0
    detect: bool = True
    proxied: Any = None

    def __init__(self, geometry: Geometry, fuel: int, tally: Tally) -> None:
        self.geometry = geometry
        self.ledger = Ledger()
        self.tally = tally
        self.fuel = fuel
        self.budget = fuel
        self.logs: list[Log] = []
        self.global_buffers: list[Buffer] = []
        self.grids: dict[int, GridShadow] = {}
        self.reached: dict[int, list[int]] = {}
        self.indirect: set[tuple[int, int]] = set()
        self.written: dict[int, Any] = {}
        self.shared_bytes = 0
        self.observers: tuple[Observer, ...] = ()

    def begin(self, chunk: Chunk) -> None:
        """Start the next chunk of blocks."""
        self.chunk = chunk
        self.extents = chunk.extents
        self.narrowing = Narrowing()
        self.live: State = None
        self.interval = 1
        self.shared: dict[int, View] = {}
        self.loops: list[list[Any]] = []
        self.open: list[list[Any]] = []
        self.trail = TaintTrail(chunk, self.ledger)
        self.logs = [buffer.log for buffer in self.global_buffers if buffer.shadowed]
        self.exits: list[tuple[Site, Any]] = []
        self.harmless: dict[Any, Any] = {}
        self.located: dict[Any, Any] = {}
        self.swept: dict[Any, Any] = {}
        #: For each mask, its one thread of each block, if it is one; and by loop how many runs were undone.
        self.lone_masks: dict[int, Any] = {}
        self.lost_runs: dict[int, int] = {}
        self.same_masks: dict[tuple[int, int], bool] = {}
        self.kept_masks: list[Any] = []
        self.noted_exits: set[Any] = set()
        self.flattened: dict[int, View] = {}
        self.aliases: dict[tuple[str, str], View] = {}
        #: Of aliased memory, by unit: the bytes of the atomic operations on it (0: none).
        self.widths: Any = None
        self.copies: Any = None
        #: What a warpgroup multiplies meanwhile, and what its tensor cores see of shared memory.
        self.products: Any = None
        self.proxy: Any = self.proxied(chunk) if self.proxied is not None else None
        #: Lanes that wait at a ``syncwarp`` for others of their warp.
        self.waiting: Any = None
        self.tally.begin(chunk)
        for log in self.logs:
            log.clear()
        for observer in self.observers:
            observer.block_start(chunk)

    def end(self) -> None:
        """Finish the chunk: the launch's end orders everything, as a barrier would."""
        self.settle(None)
        self.trail.finish()
        self.tally.finish()
        for observer in self.observers:
            observer.block_end(self.chunk)
        for view in self.shared.values():
            view.buffer.log = None  # the log holds the buffer: without the cycle, memory is freed at once

    def ask(
        self, site: Site, kind: str, place: tuple[View, tuple[Any, ...], Any], active: Active, valid: Any
    ) -> None:
        """Count an access to ``place``: an array, the indices, and the address that they are."""
        self.tally.access(site, kind, place[2], active, valid)

    def show(self, kind: str, site: Site, view: View, address: Any, active: Active, value: Any) -> None:
        """Tell the observers of an access."""
        mask = None if active is None else active.array
        event = AccessEvent(
            kind,
            site.span,
            view.name,
            view.buffer.space,
            spread(address),
            mask,
            strip(value),
            freeze(self.loops),
            self.chunk,
            view,
        )
        for observer in self.observers:
            (observer.load if kind == "load" else observer.store)(event)

    def show_statement(self, span: Span, active: Active, sets: tuple[tuple[str, Any], ...]) -> None:
        """Tell the observers of a statement."""
        mask = None if active is None else active.array
        event = StatementEvent(span, mask, sets, freeze(self.loops), self.chunk)
        for observer in self.observers:
            if observer.wants_statements:
                observer.statement(event)

    def arrive(self, active: Active, site: Site) -> None:
        """Tell the observers of a barrier."""
        mask = None if active is None else active.array
        for observer in self.observers:
            observer.barrier(BarrierEvent(site.span, mask, self.interval, self.chunk))

    def finish(self) -> None:
        """Finish the launch: conflicts between blocks are known only now."""
        for grid in self.grids.values():
            grid.finish(self.ledger)

    def spend(self, site: Site) -> None:
        """Count one iteration of the innermost loop against the launch's budget."""
        self.fuel -= 1
        if self.open:
            self.open[-1][1] += 1
            if site.waits and self.open[-1][1] > MAX_WAITS:
                self._starved(site)
        if self.fuel < 0:
            # Of the loops that are open, the one that went round most often is the one without an end.
            if self.open:
                site = max(self.open, key=lambda entry: int(entry[1]))[0]
            if site.waits:
                self._starved(site)
            counts, facts = {"operations": self.budget}, {"ends": site.ends}
            raise Stop(Finding("did-not-finish", "error", site.span, counts=counts, facts=facts, loops=()))

    def _starved(self, site: Site) -> NoReturn:
        counts, facts = {"operations": self.budget - self.fuel}, {"construct": "spin-wait"}
        raise Stop(Finding("unsupported-construct", "error", site.span, counts=counts, facts=facts))

    def split(self, active: Active, condition: Any) -> tuple[State, State]:
        """The threads for which a condition holds, and those for which it does not."""
        return self.narrowing.split(active, condition)

    def leave(self, active: Active) -> None:
        """Threads return from the kernel."""
        self.live = without(self.live, active)

    def settle(self, passed: Any) -> None:
        """End the barrier interval of the blocks in ``passed`` (None: of all blocks)."""
        for log in self.logs:
            self._grid(log)
            close(log, self.chunk, self.ledger, passed)
        self.interval += 1
        self.tally.fence()
        for view in self.shared.values():
            buffer = view.buffer
            if buffer.dirty and buffer.taint is not None and not buffer.taint.any():
                buffer.dirty = False

    def settle_warps(self, active: Active) -> None:
        """A ``syncwarp``: what came before it is ordered within the warps of ``active``."""
        mask = None if active is None else active.array
        for log in self.logs:
            settle_warps(log, self.chunk, self.ledger, mask, self.tally.warp)

    def fold(self, log: Log) -> None:
        """Keep a log that has grown long by word from now on."""
        self._grid(log)
        fold(log, self.chunk)

    def _grid(self, log: Log) -> None:
        grid = self.grids.get(id(log.buffer))
        if grid is not None:
            grid.update(log.accesses, self.chunk)

    def shared_array(self, key: int, make: Callable[[Chunk], View]) -> View:
        """The shared array declared at a place of the kernel: one for all executions of that place."""
        view = self.shared.get(key)
        if view is None:
            view = make(self.chunk)
            self.shared[key] = view
            if not self.detect:
                view.buffer.taint, view.buffer.dirty, view.buffer.stamp = None, False, None
                return view
            view.buffer.log = Log(view.buffer)
            view.buffer.shadowed = True
            self.logs.append(view.buffer.log)
        return view


def is_dead(state: State) -> bool:
    """Whether no thread goes on."""
    return isinstance(state, Dead)


__all__ = ["DEAD", "Machine", "Stop", "is_dead", "np"]
