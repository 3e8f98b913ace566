"""What a launch showed: its findings, its counters, which elements it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.records import Finding
from grader.simt.evidence import Entry
from grader.simt.fences import handed_over
from grader.simt.kernel import Compiled
from grader.simt.machine import Machine
from grader.simt.memory import View
from grader.simt.tally import Counters
from grader.simt.traffic import traffic_notes


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


def outcome(compiled: Compiled, machine: Machine, views: list[Any], completed: bool) -> Run:
    """Gather what the machine has seen; ``views`` are the kernel's arguments as it holds them."""
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


__all__ = ["Run", "outcome"]
