"""Launch a kernel on the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grader.perf.devices import device as device_profile
from grader.records import Fact, Finding
from grader.simt.binding import kind_of
from grader.simt.execution import Setting, execute
from grader.simt.geometry import Box, Geometry
from grader.simt.kernel import Compiled, compile_kernel
from grader.simt.limits import check_limits, dim3
from grader.simt.machine import Stop
from grader.simt.observer import Observer
from grader.simt.outcome import Run
from grader.simt.program import Program, parse
from grader.simt.signature import declared, layout_of
from grader.simt.tally import Counters

DEFAULT_FUEL = 4_000_000


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
    return execute(compiled, geometry, args, setting)


def _compiled(
    program: Program, function: Any, what: tuple[str, bool], args: Sequence[Any], constants: Mapping[str, Any]
) -> Compiled:
    """The kernel for these argument types, compiled once; ``what`` is its name and whether it is traced."""
    given = tuple(kind_of(arg, position) for position, arg in enumerate(args))
    layouts = tuple(layout_of(arg) if isinstance(arg, np.ndarray) else "" for arg in args)
    kinds = declared(program, function, given, layouts)
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


__all__ = ["Run", "launch"]
