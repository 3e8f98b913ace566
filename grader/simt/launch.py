"""Launch a kernel on the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.perf.devices import Device
from grader.perf.devices import device as device_profile
from grader.records import Fact, Finding
from grader.simt.binding import bind, kind_of
from grader.simt.context import UNSET, Frame
from grader.simt.evidence import Entry
from grader.simt.fences import handed_over
from grader.simt.geometry import Box, Geometry
from grader.simt.kernel import Compiled, compile_kernel
from grader.simt.limits import check_limits, check_shared, dim3
from grader.simt.machine import Machine, Stop
from grader.simt.memory import View
from grader.simt.observer import Observer
from grader.simt.program import Program, parse
from grader.simt.schedule import ORDERS, run_block
from grader.simt.signature import declared
from grader.simt.tally import Counters, Tally, Uncounted
from grader.simt.traffic import traffic_notes
from grader.simt.types import ANY_ARRAY
from grader.simt.variables import MixedArrays

DEFAULT_FUEL = 4_000_000


@dataclass(frozen=True)
class Run:
    """What a launch showed.

    ``findings`` is the evidence. ``completed`` is False where the launch stopped early, for which
    one of the findings gives the reason. ``written`` maps the position of each array argument to
    a bool array of its shape: the elements that the kernel stored to. ``reached`` gives, for each
    such argument, the greatest index along each axis that any thread computed for a store.
    ``iterations`` is how many times loops went round, for all threads together.
    """

    findings: tuple[Finding, ...]
    counters: Counters
    completed: bool
    written: dict[int, npt.NDArray[np.bool_]] = field(default_factory=dict)
    axes_reached: dict[int, tuple[int, ...]] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    iterations: int = 0

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of severity "error"."""
        return tuple(finding for finding in self.findings if finding.severity == "error")


def launch(
    source: str | Program,
    kernel: str,
    *,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    shared_bytes: int = 0,
    device: str = "h100",
    constants: Mapping[str, Any] | None = None,
    observers: Sequence[Observer] = (),
    fuel: int | None = None,
    schedule: str = "lockstep",
    detect: bool = True,
    counted: bool = True,
    box: Box | None = None,
) -> Run:
    """Run ``kernel`` of a submission's text over a grid, and gather evidence and counters.

    ``detect=False`` computes values alone, without evidence and counters; ``counted=False`` leaves the
    counters out, and the notes that come of them. With a ``box`` only those blocks of the grid run.
    ``schedule`` is "lockstep", or the name of an order (see :mod:`grader.simt.schedule`) in which
    warps run one by one between barriers: slow, for small launches, and values only.
    ``grid`` and ``block`` are an int or up to three, x first. ``args`` are NumPy arrays, which are
    written in place, and scalars. ``constants`` overrides module-level and closure values by name.
    Nothing of the submission is executed by Python. Bad kernels give findings, never exceptions;
    :class:`ValueError` is for a launch that makes no sense (a block of no threads, an object array).
    """
    program = parse(source)
    if program.findings:
        return Run(program.findings, Counters(), False)
    geometry = Geometry(dim3(grid, "grid"), dim3(block, "block"))
    profile = device_profile(device)
    try:
        check_limits(geometry, profile, shared_bytes)
        function = program.function(kernel, constants or {})
        if function is None:
            facts: dict[str, Fact] = {"kernel": kernel, "candidates": program.functions}
            raise Stop(Finding("missing-kernel", "error", facts=facts))
        traced = any(observer.wants_statements for observer in observers)
        compiled = _compiled(program, function, (kernel, traced), args, constants or {})
    except Stop as stop:
        return Run((stop.finding,), Counters(), False)
    setting = Setting(
        profile, shared_bytes, fuel or DEFAULT_FUEL, tuple(observers), schedule, detect, counted, box
    )
    return _execute(compiled, geometry, args, setting)


def _compiled(
    program: Program, function: Any, what: tuple[str, bool], args: Sequence[Any], constants: Mapping[str, Any]
) -> Compiled:
    """The kernel for these argument types, compiled once; ``what`` is its name and whether it is traced."""
    kinds = declared(program, function, tuple(kind_of(arg, position) for position, arg in enumerate(args)))
    key = (what, kinds, repr(sorted(constants.items())))
    found = program.compiled.get(key)
    if found is None:
        try:
            found = compile_kernel(program, function, kinds, what[1])
        except Stop as stop:
            found = stop.finding
        program.compiled[key] = found
    if isinstance(found, Finding):
        raise Stop(found)
    assert isinstance(found, Compiled)
    return found


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


def _execute(compiled: Compiled, geometry: Geometry, args: Sequence[Any], setting: Setting) -> Run:
    kernel, profile = compiled.kernel, setting.profile
    splits = tuple(sorted(kernel.divisors))
    tally = (Tally if setting.detect and setting.counted else Uncounted)(profile.warp_width)
    machine = Machine(Geometry(geometry.grid, geometry.block, splits), setting.fuel, tally)
    machine.detect = setting.detect
    machine.shared_bytes = setting.shared_bytes
    counters = machine.tally.counters
    static = sum(kernel.shared_bytes)
    counters.shared_bytes_per_block = static + setting.shared_bytes
    try:
        _check_writable(compiled, args)
        place = max(zip(kernel.shared_bytes, kernel.shared_spans, strict=True), default=(0, None))[1]
        check_shared(static, profile.shared_bytes_per_block_static, profile, place)
        check_shared(static + setting.shared_bytes, profile.shared_bytes_per_block_optin, profile, place)
    except Stop as stop:
        return Run((stop.finding,), counters, False)
    views = bind(compiled, machine, args)
    machine.observers = setting.observers
    completed = True
    with np.errstate(all="ignore"):
        try:
            if not setting.detect:
                _unwatched(views)
            if setting.schedule != "lockstep":
                _by_warps(compiled, machine, views, setting)
            else:
                local = kernel.local_bytes * geometry.threads_per_block
                block_bytes = static + setting.shared_bytes + local
                # Blocks that wait for one another all have to be there.
                box = None if kernel.grid_sync else setting.box
                for chunk in machine.geometry.chunks(kernel.grid_sync, block_bytes, box):
                    machine.begin(chunk)
                    _interpret(compiled, machine, views)
                    machine.end()
                machine.finish()
        except Stop as stop:
            finding = _with_loops(stop.finding, machine)
            machine.ledger.add((finding.name, "stop"), _entry_of(finding))
            completed = False
        except MixedArrays:
            facts = {"construct": "array-per-thread"}
            machine.ledger.add(("stop",), Entry("unsupported-construct", "error", None, facts=facts))
            completed = False
    return _result(compiled, machine, views, completed)


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
    return Finding(finding.name, finding.severity, finding.primary, loops=loops, counts=finding.counts)


def _entry_of(finding: Finding) -> Entry:
    entry = Entry(finding.name, finding.severity, finding.primary, finding.secondary)
    entry.counts, entry.facts, entry.loops = dict(finding.counts), dict(finding.facts), finding.loops
    return entry


def _result(compiled: Compiled, machine: Machine, views: list[Any], completed: bool) -> Run:
    written: dict[int, npt.NDArray[np.bool_]] = {}
    reached: dict[int, tuple[int, ...]] = {}
    for position, view in enumerate(views):
        if not isinstance(view, View) or not view.buffer.shadowed:
            continue
        flat = machine.written[id(view.buffer)]
        start = view.base if isinstance(view.base, int) else 0
        strides = tuple(stride * flat.itemsize for stride in view.strides)
        if view.size:
            written[position] = np.lib.stride_tricks.as_strided(
                flat[start:], view.shape, strides, writeable=False
            )
        else:
            written[position] = np.zeros(view.shape, bool)
        if id(view) in machine.reached:
            reached[position] = tuple(machine.reached[id(view)])
            if completed:
                _note_grid(machine, compiled, position, view, written[position], reached[position])
    notes = (*compiled.kernel.notes.values(), *traffic_notes(machine.tally))
    found = (handed_over(finding, compiled.kernel) for finding in machine.ledger.findings())
    findings = (*found, *notes)
    iterations = machine.budget - machine.fuel
    return Run(findings, machine.tally.counters, completed, written, reached, iterations=iterations)


def _note_grid(
    machine: Machine, compiled: Compiled, position: int, view: View, written: Any, reached: tuple[int, ...]
) -> None:
    """An output whose end no thread's index reaches along some axis: the grid is too small."""
    site = next(
        (s for s in compiled.kernel.sites if s.space == "global" and s.array == view.name and s.is_store),
        None,
    )
    for axis, (high, size) in enumerate(zip(reached, view.shape, strict=True)):
        if (id(view), axis) in machine.indirect:
            continue  # computed from data, say: not the grid's doing
        if 0 <= high < size - 1 and not written.all():
            entry = Entry("grid-too-small", "warning", site.span if site else None)
            entry.counts = {"reached": high + 1, "size": size, "unwritten": int((~written).sum())}
            entry.facts = {"axis": axis, "array": view.name}
            machine.ledger.add(("grid-too-small", position, axis), entry)


__all__ = ["UNSET", "Run", "launch"]
