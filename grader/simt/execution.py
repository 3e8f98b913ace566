"""The execution of a compiled kernel: chunk by chunk in lockstep, or block by block in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.perf.devices import Device
from grader.records import Fact, Finding
from grader.simt.async_proxy import AsyncProxy
from grader.simt.binding import bind
from grader.simt.context import Frame
from grader.simt.evidence import Entry
from grader.simt.geometry import Box, Geometry
from grader.simt.kernel import Compiled
from grader.simt.limits import check_shared
from grader.simt.machine import Machine, Stop
from grader.simt.memory import View
from grader.simt.observer import Observer
from grader.simt.outcome import Run, outcome
from grader.simt.schedule import ORDERS, run_block
from grader.simt.tally import Tally, Uncounted
from grader.simt.types import ANY_ARRAY
from grader.simt.variables import MixedArrays


@dataclass(frozen=True, slots=True)
class Setting:
    """What a launch is given besides its kernel: device, dynamic shared bytes, operation budget."""

    profile: Device
    shared_bytes: int
    fuel: int
    observers: tuple[Observer, ...] = ()
    schedule: str = "lockstep"
    detect: bool = True
    counted: bool = True
    box: Box | None = None


def execute(compiled: Compiled, geometry: Geometry, args: Sequence[Any], setting: Setting) -> Run:
    """Run a compiled kernel over a grid; ``args`` are NumPy arrays, written in place, and scalars.

    What is wrong with the kernel or its arguments is among the findings of the :class:`Run`.
    """
    machine = _machine(compiled, geometry, setting)
    try:
        _check_writable(compiled, args)
        _check_shared(compiled, setting)
    except Stop as stop:
        return Run((stop.finding,), machine.tally.counters, False)
    views = bind(compiled, machine, args)
    machine.observers = setting.observers
    completed = True
    with np.errstate(all="ignore"):
        try:
            if not setting.detect:
                _unwatched(views)
            (_lockstep if setting.schedule == "lockstep" else _by_warps)(compiled, machine, views, setting)
        except Stop as stop:
            finding = _with_loops(stop.finding, machine)
            machine.ledger.add((finding.name, "stop"), _entry_of(finding))
            completed = False
        except MixedArrays:
            facts = {"construct": "array-per-thread"}
            machine.ledger.add(("stop",), Entry("unsupported-construct", "error", None, facts=facts))
            completed = False
    return outcome(compiled, machine, views, completed)


def _machine(compiled: Compiled, geometry: Geometry, setting: Setting) -> Machine:
    kernel = compiled.kernel
    splits = tuple(sorted(kernel.divisors))
    tally = (Tally if setting.detect and setting.counted else Uncounted)(setting.profile.warp_width)
    machine = Machine(Geometry(geometry.grid, geometry.block, splits), setting.fuel, tally)
    machine.detect = setting.detect
    machine.proxied = AsyncProxy if kernel.proxied and setting.detect else None
    machine.shared_bytes = setting.shared_bytes
    machine.tally.counters.shared_bytes_per_block = sum(kernel.shared_bytes) + setting.shared_bytes
    return machine


def _check_shared(compiled: Compiled, setting: Setting) -> None:
    """Refuse more shared memory than a block may have; the largest array is shown."""
    kernel, profile = compiled.kernel, setting.profile
    static = sum(kernel.shared_bytes)
    place = max(zip(kernel.shared_bytes, kernel.shared_spans, strict=True), default=(0, None))[1]
    check_shared(static, profile.shared_bytes_per_block_static, profile, place)
    check_shared(static + setting.shared_bytes, profile.shared_bytes_per_block_optin, profile, place)


def _check_writable(compiled: Compiled, args: Sequence[Any]) -> None:
    """Refuse a store into a read-only array, as numba refuses to compile it."""
    kernel = compiled.kernel
    for position, arg in enumerate(args):
        stored = position in kernel.stores or ANY_ARRAY in kernel.stores
        if stored and isinstance(arg, np.ndarray) and not arg.flags.writeable:
            name = compiled.parameters[position]
            site = next((site for site in kernel.sites if site.is_store and site.array == name), None)
            facts: dict[str, Fact] = {"rule": "readonly-array", "name": name}
            raise Stop(Finding("type-error", "error", site.span if site else None, facts=facts))


def _interpret(compiled: Compiled, machine: Machine, views: list[Any]) -> None:
    """Run the kernel's body for the machine's current chunk."""
    frame = Frame(machine, compiled.size)
    for slot, value in zip(compiled.slots, views, strict=True):
        frame.values[slot] = value
    compiled.body(frame, None)


def _lockstep(compiled: Compiled, machine: Machine, views: list[Any], setting: Setting) -> None:
    """Run as many blocks at a time as memory allows, all their threads together."""
    kernel = compiled.kernel
    local = kernel.local_bytes * machine.geometry.threads_per_block
    block_bytes = sum(kernel.shared_bytes) + setting.shared_bytes + local
    # Blocks that wait for one another all have to be there.
    box = None if kernel.grid_sync else setting.box
    for chunk in machine.geometry.chunks(kernel.grid_sync, block_bytes, box):
        machine.begin(chunk)
        _interpret(compiled, machine, views)
        machine.end()
    machine.finish()


def _unwatched(views: list[Any]) -> None:
    for view in views:
        if isinstance(view, View):
            view.buffer.shadowed = False
        elif isinstance(view, tuple):
            _unwatched(list(view))


def _by_warps(compiled: Compiled, machine: Machine, views: list[Any], setting: Setting) -> None:
    """Run block after block, each warp by warp: values only, no evidence."""
    geometry = machine.geometry
    order = ORDERS[setting.schedule]
    _unwatched(views)

    def prepare(warp: Any) -> None:
        warp.written = machine.written
        warp.shared_bytes = setting.shared_bytes

    (left, top, front), (gx, gy, gz) = setting.box or Box((0, 0, 0), geometry.grid)
    places = ((x, y, z) for z in range(gz) for y in range(gy) for x in range(gx))
    blocks = ((left + x, top + y, front + z) for x, y, z in places)
    for block in blocks:
        run_block(
            geometry, block, order, lambda warp: _interpret(compiled, warp, views), prepare, setting.fuel
        )


def _with_loops(finding: Finding, machine: Machine) -> Finding:
    if finding.name != "did-not-finish":
        return finding
    loops = tuple((name, value) for name, value in machine.loops if isinstance(value, int))
    return replace(finding, loops=loops)


def _entry_of(finding: Finding) -> Entry:
    entry = Entry(finding.name, finding.severity, finding.primary, finding.secondary)
    entry.counts, entry.facts, entry.loops = dict(finding.counts), dict(finding.facts), finding.loops
    return entry


__all__ = ["Setting", "execute"]
