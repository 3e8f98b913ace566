"""Launching a submission on a suite: one trial for each shape, and the evidence that it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.checks.inputs import Arguments, draw_arguments, is_exact
from grader.checks.launch_config import Config, student_config
from grader.checks.result import wrong_elements
from grader.records import Finding
from grader.rubric.expressions import evaluate
from grader.rubric.model import KernelSpec
from grader.rubric.suites import Shape
from grader.simt import Program, Run, launch

__all__ = ["STOPPING", "Launcher", "Pass", "Trial"]

Mask = npt.NDArray[np.bool_]

#: Operations that one launch may take. The largest of a correct solution takes some 6,000.
#: Loop iterations that a launch may take: a start, so many for each element of its arrays, and a cap.
FUEL_START, FUEL_PER_ELEMENT, FUEL_CAP = 20_000, 1, 60_000

#: Findings that every shape would repeat, so that the first is enough.
STOPPING = frozenset(
    {
        "syntax-error",
        "missing-kernel",
        "unsupported-construct",
        "type-error",
        "non-constant-shared-shape",
        "forbidden-call",
        "block-too-large",
        "shared-memory-too-large",
        "bad-launch-config",
        "did-not-finish",
    }
)


@dataclass(frozen=True, slots=True)
class Pass:
    """One launch of a shape: its arguments before and after, the wrong elements, the machine's run."""

    arguments: Arguments
    after: Mapping[str, Any]
    wrong: Mapping[str, Mask]
    run: Run

    @property
    def right(self) -> bool:
        """Whether the launch finished and every element is right."""
        return self.run.completed and not any(mask.any() for mask in self.wrong.values())


@dataclass(frozen=True, slots=True)
class Trial:
    """One shape of the suite as it went. ``passes`` holds the exact pass, then the approximate one."""

    shape: Shape
    config: Config | None
    findings: tuple[Finding, ...]
    passes: tuple[Pass, ...] = ()

    @property
    def right(self) -> bool:
        """Whether both passes are right."""
        return bool(self.passes) and all(one.right for one in self.passes)

    @property
    def wrong(self) -> int:
        """How many elements are wrong, in the worse of the passes."""
        return max((int(sum(mask.sum() for mask in one.wrong.values())) for one in self.passes), default=0)

    @property
    def elements(self) -> int:
        """How many elements the outputs have together."""
        return sum(mask.size for mask in self.passes[0].wrong.values()) if self.passes else 0

    @property
    def failed_pass(self) -> Pass | None:
        """The first pass with a wrong element."""
        return next((one for one in self.passes if not one.right), None)

    @property
    def stopped(self) -> bool:
        """Whether the launch ended in a finding that every shape would repeat."""
        return any(
            finding.severity == "error"
            and finding.name in STOPPING
            # A grid that has no block for a small shape may serve a larger one.
            and finding.facts.get("rule") != "not-positive"
            for finding in self.findings
        )


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

    def with_program(self, program: Program) -> Launcher:
        """The same suite for another program, with the arguments that are drawn already."""
        return replace(self, program=program)

    def suite(self, shapes: Iterable[Shape]) -> tuple[Trial, ...]:
        """Try the shapes in order; a finding that every shape would repeat ends the suite.

        Whole numbers go to every shape. What a kernel does with fractions does not hang on the
        shape, so floats go to the shown shapes and to the first of each family.
        """
        trials: list[Trial] = []
        families: set[str] = set()
        for shape in shapes:
            trials.append(self.trial(shape, floats=shape.shown or shape.family not in families))
            families.add(shape.family)
            if trials[-1].stopped:
                break
        return tuple(trials)

    def trial(self, shape: Shape, *, floats: bool = True) -> Trial:
        """Launch a shape on whole numbers, then, where asked for and those came out right, on floats."""
        config, findings = self.config(shape)
        if config is None:
            return Trial(shape, None, findings)
        exact = self.launch(shape, config, exact=True)
        passes = [] if exact is None else [exact]
        if exact is None or (floats and exact.right):
            passes.append(self.approximate(shape, config))
        machine = passes[0].run.findings
        extra = _new(passes[1].run.findings, machine) if len(passes) > 1 else ()
        return Trial(shape, config, (*findings, *machine, *extra), tuple(passes))

    def config(self, shape: Shape) -> tuple[Config | None, tuple[Finding, ...]]:
        """Grid and block for a shape: the rubric's, or what the submission's own function returns."""
        spec, names = self.kernel.launch, {**self.constants, **shape.dims}
        if spec.from_ is not None:
            sizes = tuple(shape.dims[name] for name in (spec.arguments or self.kernel.dims))
            return student_config(self.program, spec.from_, sizes)
        grid = tuple(int(evaluate(str(axis), names)) for axis in spec.grid)
        block = tuple(int(evaluate(str(axis), names)) for axis in spec.block)
        return Config(grid, block), ()

    def launch(self, shape: Shape, config: Config, *, exact: bool, schedule: str = "lockstep") -> Pass | None:
        """One launch; None where exact arithmetic is asked for and the shape cannot give it."""
        arguments = self._arguments(shape, exact)
        if exact and not is_exact(self.kernel, arguments):
            return None
        return self.launch_with(arguments, shape, config, schedule)

    def launch_with(
        self, arguments: Arguments, shape: Shape, config: Config, schedule: str = "lockstep"
    ) -> Pass:
        """One launch with given arguments."""
        after = arguments.fresh()
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
        )
        return Pass(arguments, after, wrong_elements(self.kernel, arguments, after), run)

    def approximate(self, shape: Shape, config: Config) -> Pass:
        """One launch on floats."""
        one = self.launch(shape, config, exact=False)
        assert one is not None
        return one

    def _arguments(self, shape: Shape, exact: bool) -> Arguments:
        label = f"{self.exercise}/{shape.family}/{'x'.join(map(str, shape.dims.values()))}"
        if (label, exact) not in self.drawn:
            sizes = {**self.constants, **shape.dims}
            self.drawn[label, exact] = draw_arguments(self.kernel, sizes, label, exact=exact, key=self.key)
        return self.drawn[label, exact]


def _new(findings: Iterable[Finding], known: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of a name and place that the first pass did not have, say of a value's type."""
    seen = {(finding.name, finding.primary, finding.secondary) for finding in known}
    return tuple(one for one in findings if (one.name, one.primary, one.secondary) not in seen)


def _fuel(arguments: Iterable[object]) -> int:
    """An endless loop is told within a second; a loop over all elements, or a few, fits easily."""
    elements = sum(int(getattr(argument, "size", 0)) for argument in arguments)
    return min(FUEL_CAP, FUEL_START + FUEL_PER_ELEMENT * elements)
