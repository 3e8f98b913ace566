"""What loads find in the taint of memory, and what stores leave in its taint and stamps."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.addresses import own_part
from grader.simt.affine import Affine
from grader.simt.aliases import over_units, units
from grader.simt.elements import gather, put
from grader.simt.evidence import Site
from grader.simt.machine import Machine
from grader.simt.mask import Active
from grader.simt.memory import Address, Buffer, View
from grader.simt.taint import Skip
from grader.simt.values import STALE, UNDEFINED

Bools = npt.NDArray[np.bool_]


def read_taint(
    mc: Machine, active: Active, view: View, address: Address, valid: Bools | None, site: Site
) -> npt.NDArray[np.uint8] | None:
    """Note what of a read holds no value of this round; gives its taint, None where there is none."""
    buffer = view.buffer
    if not buffer.plain:
        over = over_units(view)
        parts = [read_taint(mc, active, over, there, valid, site) for there in units(buffer, address)]
        found = [part for part in parts if part is not None]
        return reduce(np.bitwise_or, found) if found else None
    taint = gather(buffer.taint, address, valid, "")  # type: ignore[arg-type]
    if not np.any(taint):
        return None
    taint = np.array(taint)  # a copy: the memory's own taint changes under a kept value
    taint = taint.reshape((1,) * (len(mc.chunk.shape) - taint.ndim) + taint.shape)
    mc.trail.read(site, view, taint, active, address, mc.loops)
    return taint


def mark(mc: Machine, buffer: Buffer, shadow: Any, address: Address, where: Bools | None, value: Any) -> None:
    """Write into a buffer's taint or stamps, for all that an element consists of."""
    for there in (address,) if buffer.plain else units(buffer, address):
        put(mc, shadow, there, where, value)


def _marked(buffer: Buffer, shadow: Any, address: Address, join: np.ufunc) -> Any:
    """The taint or stamp of each thread's element, joined from those of all that it consists of."""
    return reduce(join, [gather(shadow, there, None, "") for there in units(buffer, address)])


def mark_skipped(
    mc: Machine, active: Any, view: View, address: Address, valid: Bools | None, site: Site
) -> None:
    """Words that a guarded store left out although its siblings were rewritten: stale from now on.

    Only words that hold an older value: one written in this interval (zeroed first, say) is fresh,
    and one never written is undefined as it is. A word read and modified in place never counts.
    """
    buffer = view.buffer
    grid_axes = mc.chunk.grid_axes
    if type(address) is int or (type(address) is Affine and not any(address.coefs[grid_axes:])):
        return  # one word for the whole block: whoever skipped it had no word of its own to leave out
    skipped = ~active.array
    live = mc.live
    if live is not None and hasattr(live, "array"):
        skipped = skipped & live.array
    block_axes = tuple(range(grid_axes, len(mc.chunk.shape)))
    some = active.array.any(axis=block_axes, keepdims=True)
    skipped = skipped & some
    if not skipped.any():
        return
    full = np.broadcast_to(skipped, mc.chunk.shape).reshape(mc.chunk.blocks, -1)
    mc.trail.skipped(view.name, Skip(site, full.sum(axis=1)))
    in_place = site.update >= 0 or site.in_place
    if in_place or buffer.stamp is None or buffer.taint is None or valid is not None:
        return
    if not own_part(mc, view, address):
        return
    stamp = _marked(buffer, buffer.stamp, address, np.maximum)
    taint = _marked(buffer, buffer.taint, address, np.bitwise_or)
    old = skipped & (np.asarray(stamp) != mc.interval) & ((np.asarray(taint) & UNDEFINED) == 0)
    old = old & (np.asarray(stamp) > 0)
    if old.any():
        mark(mc, buffer, buffer.taint, address, old, np.uint8(STALE))
        buffer.dirty = True


__all__ = ["mark", "mark_skipped", "read_taint"]
