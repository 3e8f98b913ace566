"""The lanes of each warp, and whether those that come to a warp's call are those that its mask names.

Lanes are the threads of a block in linear order, a warp's worth at a time. The CUDA C++ Programming
Guide asks of every call with a mask that the calling lane is in it, and that "all non-exited threads
named in mask" make the same call with the same mask; what it does otherwise is undefined. So a lane
that has returned from the kernel does not count, nor does one past the end of the block, and a lane
that is elsewhere does, however soon it ends. Lanes with disjoint masks may share a call.

For ``__syncwarp`` the guide asks for "a corresponding" call and not for the same one: since compute
capability 7.0 the lanes of a mask may meet on different lines. That is no fault, but lockstep does not
follow it, since it runs one side of a branch to its end before the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Finding
from grader.simt.evidence import Entry, Site, loops_at
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active, Dead, Mask

#: The mask that names all lanes of a warp.
WHOLE = 0xFFFFFFFF
#: Whether each lane's own mask names each other lane of its warp: (blocks, warps, lanes, lanes).
Pairs = npt.NDArray[np.bool_]


class Lanes:
    """The chunk's threads laid out as one row of lanes for each warp."""

    def __init__(self, mc: Machine, m: Active) -> None:
        self.mc = mc
        self.width = mc.tally.warp
        # A schedule that runs warps one by one has a chunk of one warp.
        self.threads = mc.chunk.threads // mc.chunk.blocks
        self.rows = -(-self.threads // self.width)
        active = np.ones(mc.chunk.shape, bool) if m is None else np.broadcast_to(m.array, mc.chunk.shape)
        self.active = self.spread(active, False)
        live = mc.live
        gone = isinstance(live, Dead)
        self.live = self.spread(
            live.array if isinstance(live, Mask) else np.full(mc.chunk.shape, not gone), False
        )

    def spread(self, value: Any, filler: Any) -> npt.NDArray[Any]:
        """(blocks, warps, lanes) of a value, lanes beyond the block filled up."""
        full = np.broadcast_to(np.asarray(value), self.mc.chunk.shape).reshape(self.mc.chunk.blocks, -1)
        lack = self.rows * self.width - full.shape[1]
        if lack:
            full = np.concatenate([full, np.full((len(full), lack), filler, full.dtype)], axis=1)
        return full.reshape(len(full), self.rows, self.width)

    def gather(self, lanes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Back to the chunk's shape."""
        flat = lanes.reshape(len(lanes), -1)[:, : self.threads]
        return np.ascontiguousarray(flat).reshape(self.mc.chunk.shape)


class Members:
    """The masks that the lanes of a call give it, bit i for lane i."""

    def __init__(self, lanes: Lanes, mask: Any) -> None:
        self.lanes = lanes
        self.masks = lanes.spread(np.asarray(mask, np.int64) & WHOLE, 0)
        self.own = np.arange(lanes.width)

    def names_itself(self) -> npt.NDArray[np.bool_]:
        """(blocks, warps, lanes): whether a lane's mask has its own bit."""
        found: npt.NDArray[np.bool_] = (self.masks >> self.own) & 1 == 1
        return found

    def names(self, other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """(blocks, warps, lanes): whether a lane's mask has the bit of lane ``other``."""
        found: npt.NDArray[np.bool_] = (self.masks >> other) & 1 == 1
        return found

    def named(self) -> npt.NDArray[np.bool_]:
        """(blocks, warps, lanes): the lanes that any calling lane's mask names."""
        whole = np.bitwise_or.reduce(np.where(self.lanes.active, self.masks, 0), axis=2, keepdims=True)
        found: npt.NDArray[np.bool_] = (whole >> self.own) & 1 == 1
        return found

    def takers(self) -> Pairs:
        """For each lane, which lanes of its warp its mask names and that come to the call.

        One row for a whole warp where every warp has but one mask.
        """
        if not self._unlike():
            row: Pairs = (self.named() & self.lanes.active)[:, :, None, :]
            return row
        each: Pairs = ((self.masks[..., None] >> self.own) & 1 == 1) & self.lanes.active[..., None, :]
        return each

    def _unlike(self) -> bool:
        """Whether lanes of one warp come with different masks."""
        active, bounds = self.lanes.active, np.iinfo(np.int64)
        least = np.where(active, self.masks, bounds.max).min(axis=2)
        return bool((least < np.where(active, self.masks, bounds.min).max(axis=2)).any())

    def differing(self) -> npt.NDArray[np.bool_]:
        """(blocks, warps, lanes): lanes that call with another mask than a lane that names them."""
        active = self.lanes.active
        if not self._unlike():
            return np.zeros(active.shape, bool)
        unlike = self.masks[..., :, None] != self.masks[..., None, :]
        found: npt.NDArray[np.bool_] = (self.takers() & unlike & active[..., :, None]).any(axis=2)
        return found

    def away(self) -> npt.NDArray[np.bool_]:
        """(blocks, warps, lanes): lanes that are named, have not returned, and do not call."""
        found: npt.NDArray[np.bool_] = self.lanes.live & ~self.lanes.active & self.named()
        return found


def check(members: Members, site: Site, source: npt.NDArray[Any] | None = None, *, call: str = "") -> None:
    """Report what the masks and those that call with them do not agree on.

    ``source`` is the lane that each lane reads from, for a shuffle; ``call`` names the operation where
    its wording differs.
    """
    lanes, mc = members.lanes, members.lanes.mc
    itself, away = members.names_itself(), members.away()
    missing, other_mask = (away, False) if away.any() else (members.differing(), True)
    found = [("lane-not-in-mask", lanes.active & ~itself), ("inactive-lane-in-mask", missing)]
    if source is not None:
        # Where one of the two is not even in its own mask, that is what is told.
        asked = members.names(source) | ~itself | ~np.take_along_axis(itself, source, axis=2)
        there = np.take_along_axis(lanes.active, source, axis=2) & asked
        found.insert(0, ("shuffle-from-inactive-lane", lanes.active & ~there))
    for name, wrong in found:
        if not wrong.any() or mc.ledger.seen(name, site.ident):
            continue
        flat = int(np.argmax(lanes.gather(wrong)))
        entry = Entry(name, "error", site.span, site.guard)
        entry.threads = (mc.chunk.thread(flat),)
        entry.loops = loops_at(mc.loops, mc.chunk, flat)
        entry.counts = {"threads": int(np.count_nonzero(wrong))}
        lane = members.own if source is None or name == "inactive-lane-in-mask" else source
        entry.facts = {"lane": int(lanes.gather(np.broadcast_to(lane, wrong.shape)).ravel()[flat])}
        if call:
            entry.facts["call"] = call
        if name == "inactive-lane-in-mask" and other_mask:
            entry.facts["other_mask"] = True
        mc.ledger.add((name, site.ident), entry)


class Waiting:
    """The lanes of a chunk that wait at a ``syncwarp`` for others that their mask names."""

    def __init__(self) -> None:
        self.lanes: npt.NDArray[np.bool_] | None = None
        self.masks: Any = None
        self.sites: set[int] = set()

    def arrive(self, members: Members, site: Site) -> None:
        """Lanes come to a ``syncwarp``.

        Raises
        ------
            Stop: where they are the last ones that lanes on another line wait for.
        """
        lanes, away = members.lanes, members.away().any(axis=2, keepdims=True)
        alone = lanes.active & away
        if self.lanes is None:
            self.lanes, self.masks = np.zeros(alone.shape, bool), np.zeros(alone.shape, np.int64)
        # A warp that comes together has gone past whatever some of its lanes waited for before.
        self.lanes &= away | ~lanes.active.any(axis=2, keepdims=True)
        if alone.any():
            self.sites.add(site.ident)
        fresh = alone & ~(self.lanes & alone).any(axis=2, keepdims=True)
        if not fresh.any():
            return
        self.lanes |= fresh
        self.masks = np.where(fresh, members.masks, self.masks)
        mask = np.where(fresh, members.masks, np.iinfo(np.int64).min).max(axis=2, keepdims=True)
        missing = ((mask >> members.own) & 1 == 1) & lanes.live & ~(self.lanes & (self.masks == mask))
        if (fresh.any(axis=2) & ~missing.any(axis=2)).any():
            for ident in self.sites:
                lanes.mc.ledger.entries.pop(("inactive-lane-in-mask", ident), None)
            facts = {"construct": "split-warp-barrier"}
            raise Stop(Finding("unsupported-construct", "error", site.span, facts=facts))


__all__ = ["WHOLE", "Lanes", "Members", "Waiting", "check"]
