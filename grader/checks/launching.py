"""Launching a submission on a suite: one trial for each shape, and the evidence that it leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from grader.checks.fractions import hangs_on_fractions
from grader.checks.idle_blocks import (
    ENOUGH_IDLE,
    STRETCHED,
    Crowd,
    crowd_of,
    idle_finding,
    launch_sampled,
    left_the_same,
)
from grader.checks.inputs import Arguments, drawn_arguments, is_exact
from grader.checks.launch_config import Config, student_config
from grader.checks.result import wrong_elements
from grader.checks.trial import STOPPING, Pass, Trial
from grader.records import Finding
from grader.rubric.expressions import evaluate
from grader.rubric.model import KernelSpec
from grader.rubric.suites import Shape
from grader.simt import Box, Program, launch
from grader.simt.observer import Observer

__all__ = ["STOPPING", "Effort", "Launcher", "Pass", "Trial"]

#: What a launch gathers: values alone, hazards and bounds as well ("watch"), or traffic counters too.
Effort = Literal["values", "watch", "all"]

#: Loop iterations that a launch may take: a start, so many for each element of its arrays, and a cap.
#: The largest of a correct solution takes some 6,000.
FUEL_START, FUEL_PER_ELEMENT, FUEL_CAP = 20_000, 1, 60_000


@dataclass(slots=True)
class Launcher:
    """Launches one submission. ``drawn`` keeps the arguments of each shape for repaired programs."""

    program: Program
    kernel: KernelSpec
    exercise: str
    constants: Mapping[str, int]
    key: bytes = b""
    device: str = "h100"
    drawn: dict[tuple[str, bool], Arguments] = field(default_factory=dict)
    #: Whether a grid of far more blocks than cover the output was seen to need them.
    needs_all: bool = False
    #: How many shapes came out as wrong with all blocks of such a grid as with those that cover the output.
    idle_seen: int = 0
    #: So many times the blocks along each axis that would cover the output are taken to be needed.
    stretch: int = 1

    def with_program(self, program: Program) -> Launcher:
        """The same suite for another program, with the arguments that are drawn already."""
        return replace(self, program=program)

    def suite(self, shapes: Iterable[Shape]) -> tuple[Trial, ...]:
        """Try the shapes in order; a finding that every shape would repeat ends the suite."""
        shapes = tuple(shapes)
        trials: list[Trial] = []
        for shape, floats in zip(shapes, self.take_floats(shapes)):
            trials.append(self.trial(shape, floats=floats))
            if trials[-1].stopped:
                break
        return tuple(trials)

    def take_floats(self, shapes: Sequence[Shape]) -> tuple[bool, ...]:
        """For each shape, whether it is launched on floats as well as on whole numbers.

        Whole numbers go to every shape. What a kernel does with fractions does not hang on the
        shape, so floats go to the shown shapes and, unless the text shows that fractions make no
        difference, to the first of each family; then to two families that the text itself picks,
        so that nobody knows a hidden shape that sees whole numbers alone.
        """
        watched = hangs_on_fractions(self.program, self.kernel)
        picked = _picked([shape.family for shape in shapes if not shape.shown], self.program.text)
        taken, families = [], set[str]()
        for shape in shapes:
            first = shape.family not in families and (watched or shape.family in picked)
            taken.append(shape.shown or first)
            families.add(shape.family)
        return tuple(taken)

    def trial(self, shape: Shape, *, floats: bool = True) -> Trial:
        """Launch a shape on whole numbers, then, where asked for and those came out right, on floats."""
        config, findings = self.config(shape)
        if config is None:
            return Trial(shape, None, findings)
        crowd = crowd_of(self, shape, config) if not self.needs_all else None
        sampled: tuple[Pass, ...] = ()
        if crowd is not None:
            sampled = self._sampled(shape, config, crowd, floats)
            if crowd.too_many or self.idle_seen >= ENOUGH_IDLE or all(one.right for one in sampled):
                findings = (idle_finding(self, crowd), *sampled[0].run.findings)
                return Trial(shape, config, findings, sampled)
        exact = self.launch(shape, config, exact=True)
        passes = [] if exact is None else [exact]
        if exact is None or (floats and exact.right):
            # The first pass has counted what the launch does to memory.
            passes.append(self.approximate(shape, config, effort="all" if exact is None else "watch"))
        machine = passes[0].run.findings
        extra = _new(passes[1].run.findings, machine) if len(passes) > 1 else ()
        trial = Trial(shape, config, (*findings, *machine, *extra), tuple(passes))
        if crowd is not None:
            self.needs_all |= trial.right
            self._compare(crowd, sampled[0], passes[0])
        return trial

    def _compare(self, crowd: Crowd, some: Pass, every: Pass) -> None:
        """Note of a wrong shape whether the blocks beyond those that cover the output made a difference."""
        if left_the_same(self.kernel, some, every):
            self.idle_seen += crowd.is_oblong
        else:
            self.idle_seen, self.stretch = 0, STRETCHED

    def _sampled(self, shape: Shape, config: Config, crowd: Crowd, floats: bool) -> tuple[Pass, ...]:
        """The passes of a grid with far too many blocks, of which only some are launched."""
        exact = launch_sampled(self, shape, config, crowd, exact=True)
        if exact is not None and not (floats and exact.right):
            return (exact,)
        also = launch_sampled(self, shape, config, crowd, exact=False)
        return tuple(one for one in (exact, also) if one is not None)

    def cover(self, shape: Shape, config: Config) -> Box | None:
        """The blocks that an experiment has to run where the grid has far more; None for all of them."""
        crowd = crowd_of(self, shape, config) if not self.needs_all else None
        return None if crowd is None else Box((0, 0, 0), crowd.cover)

    def extents(self, sizes: Sequence[str | int], shape: Shape) -> tuple[int, ...]:
        """Sizes as the rubric writes them, worked out for a shape."""
        names = {**self.constants, **shape.dims}
        return tuple(int(evaluate(str(size), names)) for size in sizes)

    def config(self, shape: Shape) -> tuple[Config | None, tuple[Finding, ...]]:
        """Grid and block for a shape: the rubric's, or what the submission's own function returns."""
        spec, names = self.kernel.launch, {**self.constants, **shape.dims}
        if spec.from_ is not None:
            sizes = tuple(shape.dims[name] for name in (spec.arguments or self.kernel.dims))
            return student_config(self.program, spec.from_, sizes)
        grid = tuple(int(evaluate(str(axis), names)) for axis in spec.grid)
        block = tuple(int(evaluate(str(axis), names)) for axis in spec.block)
        return Config(grid, block), ()

    def launch(
        self,
        shape: Shape,
        config: Config,
        *,
        exact: bool,
        schedule: str = "lockstep",
        effort: Effort = "all",
        box: Box | None = None,
    ) -> Pass | None:
        """One launch; None where exact arithmetic is asked for and the shape cannot give it."""
        arguments = self.arguments(shape, exact)
        if exact and not is_exact(self.kernel, arguments):
            return None
        return self.launch_with(arguments, shape, config, schedule, effort=effort, box=box)

    def launch_with(
        self,
        arguments: Arguments,
        shape: Shape,
        config: Config,
        schedule: str = "lockstep",
        *,
        effort: Effort = "all",
        box: Box | None = None,
        after: Mapping[str, Any] | None = None,
        observers: Sequence[Observer] = (),
    ) -> Pass:
        """One launch with given arguments; ``after`` are those of an earlier one that it continues."""
        after = arguments.fresh() if after is None else after
        names = {**self.constants, **shape.dims}
        run = launch(
            self.program,
            self.kernel.name,
            grid=config.grid,
            block=config.block,
            args=tuple(after.values()),
            shared_bytes=int(evaluate(str(self.kernel.shared_bytes), names)),
            device=self.device,
            fuel=_fuel(after.values()),
            schedule=schedule,
            detect=effort != "values",
            counted=effort == "all",
            box=box,
            observers=observers,
        )
        return Pass(arguments, after, wrong_elements(self.kernel, arguments, after), run)

    def approximate(
        self, shape: Shape, config: Config, *, effort: Effort = "all", box: Box | None = None
    ) -> Pass:
        """One launch on floats."""
        one = self.launch(shape, config, exact=False, effort=effort, box=box)
        assert one is not None
        return one

    def arguments(self, shape: Shape, exact: bool) -> Arguments:
        """The arguments of a shape, drawn once."""
        label = f"{self.exercise}/{shape.family}/{'x'.join(map(str, shape.dims.values()))}"
        if (label, exact) not in self.drawn:
            sizes = {**self.constants, **shape.dims}
            self.drawn[label, exact] = drawn_arguments(self.kernel, sizes, label, exact=exact, key=self.key)
        return self.drawn[label, exact]


def _new(findings: Iterable[Finding], known: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of a name and place that the first pass did not have, say of a value's type."""
    seen = {(finding.name, finding.primary, finding.secondary) for finding in known}
    return tuple(one for one in findings if (one.name, one.primary, one.secondary) not in seen)


def _picked(families: Sequence[str], text: str, count: int = 2) -> set[str]:
    """So many of the families, by the submission's text: the same on every machine, another for each text."""
    order = sorted(set(families), key=lambda name: hashlib.sha256(f"{name}\0{text}".encode()).digest())
    return set(order[:count])


def _fuel(arguments: Iterable[object]) -> int:
    """An endless loop is told within a second; a loop over all elements, or a few, fits easily."""
    elements = sum(int(getattr(argument, "size", 0)) for argument in arguments)
    return min(FUEL_CAP, FUEL_START + FUEL_PER_ELEMENT * elements)
