"""A second, slow schedule: warp after warp between barriers, in a chosen order.

Lockstep gives a kernel with a race the answer that its author hoped for. Here one warp runs to its
next barrier before another one moves, which a device may do as well: where a barrier is missing,
some order gives a wrong element. Meant for small launches.

Each warp of a block is interpreted by a Python thread of its own, and a baton lets one run at a
time, so that the order is exact and the same in every run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grader.records import Dim3, Thread
from grader.simt.affine import Affine, Extents, Whole
from grader.simt.geometry import Axis, Chunk, Geometry
from grader.simt.machine import Machine
from grader.simt.mask import Active
from grader.simt.tally import Uncounted

MAX_THREADS = 65_536
Order = Callable[[int], Sequence[int]]

ORDERS: Mapping[str, Order] = {
    "ascending": range,
    "descending": lambda warps: range(warps - 1, -1, -1),
    "middle-first": lambda warps: [*range(warps // 2, warps), *range(warps // 2)],
}


class WarpChunk(Chunk):
    """One warp of one block: a single axis of lanes, or two where the warp covers whole rows."""

    def __init__(self, geometry: Geometry, block: Dim3, warp: int, width: int) -> None:
        self.geometry = geometry
        self.start = block
        self.size = (1, 1, 1)
        first = warp * width
        count = min(width, geometry.threads_per_block - first)
        self.axes = (Axis(False, 0, 1, count),)
        self.grid_axes = 0
        self.shape = (count,)
        self.extents = Extents(self.shape)
        self.blocks = 1
        self.threads = count
        self.first = first

    def index(self, of_grid: bool, dim: int) -> Any:
        """``blockIdx`` or ``threadIdx``: linear where a row holds the whole warp, else an array."""
        if of_grid:
            return self.start[dim]
        bx, by, _ = self.geometry.block
        lanes = np.arange(self.first, self.first + self.threads, dtype=np.int64)
        values = (lanes % bx, lanes // bx % by, lanes // (bx * by))[dim]
        if self.threads == 1 or (values == values[0]).all():
            return int(values[0])
        if (np.diff(values) == 1).all():
            return Affine(int(values[0]), (1,), self.extents)
        return values

    def thread(self, flat: int) -> Thread:
        """The thread at a lane of the warp."""
        bx, by, _ = self.geometry.block
        lane = self.first + flat
        return Thread(self.start, (lane % bx, lane // bx % by, lane // (bx * by)))

    @property
    def lane_number(self) -> Whole:
        """The linear number of a thread within its block."""
        return Affine(self.first, (1,), self.extents) if self.threads > 1 else self.first


class Votes(NamedTuple):
    """How many threads came to a barrier with a predicate other than 0, and how many came at all."""

    yes: int
    present: int


class Baton:
    """Lets the warps of a block run one at a time, from barrier to barrier."""

    def __init__(self, warps: int) -> None:
        self.turns = [threading.Semaphore(0) for _ in range(warps)]
        self.back = threading.Semaphore(0)
        self.done = [False] * warps
        self.failure: BaseException | None = None
        self.aborted = False
        self.arriving = self.arrived = Votes(0, 0)

    def wait(self, warp: int, votes: Votes | None = None) -> Votes:
        """A warp is at a barrier: give the baton back and wait for the next turn.

        ``votes`` are those of its threads, at a barrier that counts; given are those of the block.
        """
        if votes is not None:
            self.arriving = Votes(self.arriving.yes + votes.yes, self.arriving.present + votes.present)
        self.back.release()
        self.turns[warp].acquire()
        if self.aborted:
            raise _Aborted
        return self.arrived

    def run(self, order: Sequence[int]) -> None:
        """Barrier interval after barrier interval, each warp in its turn."""
        while not all(self.done) and self.failure is None:
            self.arrived, self.arriving = self.arriving, Votes(0, 0)
            for warp in order:
                if not self.done[warp] and self.failure is None:
                    self.turns[warp].release()
                    self.back.acquire()

    def abort(self) -> None:
        """Let the warps that still wait end."""
        self.aborted = True
        for warp, done in enumerate(self.done):
            if not done:
                self.turns[warp].release()


class _Aborted(BaseException):
    pass


class ScheduledMachine(Machine):
    """The machine of one warp. Memory is shared with the block's other warps."""

    def __init__(self, geometry: Geometry, fuel: int, baton: Baton, warp: int) -> None:
        super().__init__(geometry, fuel, Uncounted())
        self.detect = False
        self.baton = baton
        self.warp_number = warp

    def settle(self, passed: Any) -> None:
        """No interval ends here: this schedule shows values, it detects nothing."""

    def settle_warps(self, active: Active) -> None:
        """A warp runs in lockstep, so ``syncwarp`` orders nothing that is not in order."""


def run_block(
    geometry: Geometry, block: Dim3, order: Order, body: Callable[[Machine], None], prepare: Any, fuel: int
) -> None:
    """Run one block; ``body`` interprets the kernel on a warp's machine, ``prepare`` readies it."""
    width = 32
    warps = -(-geometry.threads_per_block // width)
    baton = Baton(warps)
    shared: dict[int, Any] = {}
    threads = []
    for warp in range(warps):
        machine = ScheduledMachine(geometry, fuel, baton, warp)
        machine.begin(WarpChunk(geometry, block, warp, width))
        machine.shared = shared
        prepare(machine)
        thread = threading.Thread(target=_work, args=(baton, warp, machine, body), daemon=True)
        thread.start()
        threads.append(thread)
    try:
        baton.run(order(warps))
    finally:
        baton.abort()
        for thread in threads:
            thread.join()
    if baton.failure is not None:
        raise baton.failure


def _work(baton: Baton, warp: int, machine: Machine, body: Callable[[Machine], None]) -> None:
    baton.turns[warp].acquire()
    try:
        if not baton.aborted:
            with np.errstate(all="ignore"):
                body(machine)
    except _Aborted:
        pass
    except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for it
        baton.failure = baton.failure or error
    finally:
        baton.done[warp] = True
        baton.back.release()
