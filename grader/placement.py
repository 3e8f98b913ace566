"""Where a submission stands on the roofline: its intensity as the machine counts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.simt import NotConstant, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.checks.launching import Pass
    from grader.rubric.model import KernelSpec, Rubric
    from grader.simt import Program

# Deep enough that the stores of C weigh what they weigh in the model's tables, and small in M and N,
# on which the intensity of whole tiles does not depend.
_DEPTH = 4096
_TILES_A_SIDE = 2


class PlacementError(Exception):
    """A submission without a place on the roofline; the text is one line that says why."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What the machine counted in one launch on M, N, K: 2 M N K, and the bytes threads asked for."""

    M: int
    N: int
    K: int
    load_bytes: int
    store_bytes: int

    @property
    def flops(self) -> int:
        """2 M N K."""
        return 2 * self.M * self.N * self.K

    @property
    def intensity(self) -> float:
        """Flop per byte of global loads and stores, as the model counts it."""
        return self.flops / (self.load_bytes + self.store_bytes)


def place(text: str, rubric: Rubric, device: str) -> Placement:
    """Launch the rubric's kernel from a submission's text on whole tiles and count its bytes.

    Raises PlacementError where the exercise is no matrix product, the kernel cannot be launched, or
    its result is wrong: the traffic of a wrong product says nothing.
    """
    kernel = rubric.kernel
    if kernel is None or set(kernel.dims) != {"M", "N", "K"}:
        raise PlacementError(f"{rubric.exercise} has no matrix product to place on a roofline")
    program = parse(text)
    constants = _constants(program, kernel)
    done = _launch(program, rubric, kernel, constants, device)
    counters, dims = done.run.counters, _dims(rubric, constants)
    if counters.global_load_bytes + counters.global_store_bytes == 0:
        raise PlacementError(f"{kernel.name} reads and writes no global memory")
    return Placement(**dims, load_bytes=counters.global_load_bytes, store_bytes=counters.global_store_bytes)


def _constants(program: Program, kernel: KernelSpec) -> dict[str, int]:
    """The submission's constants, each one that the rubric allows: they size the launch."""
    found = {}
    for name, allowed in kernel.constants.items():
        try:
            value = program.constant(name)
        except NotConstant:
            raise PlacementError(
                f"the file gives {name} no value that can be read without running it"
            ) from None
        if type(value) is not int or value not in allowed:
            raise PlacementError(f"{name} must be one of {', '.join(map(str, allowed))}")
        found[name] = value
    return found


def _dims(rubric: Rubric, constants: Mapping[str, int]) -> dict[str, int]:
    from grader.rubric.expressions import evaluate

    hidden = rubric.suites.hidden if rubric.suites is not None else None
    tile = max(1, int(evaluate(str(hidden.tile), constants))) if hidden is not None else 32
    side = _TILES_A_SIDE * tile
    return {"M": side, "N": side, "K": -(-_DEPTH // tile) * tile}


def _launch(
    program: Program, rubric: Rubric, kernel: KernelSpec, constants: Mapping[str, int], device: str
) -> Pass:
    from grader.checks.launching import Launcher
    from grader.rubric.suites import Shape

    launcher = Launcher(program, kernel, rubric.exercise, constants, device=device)
    shape = Shape("aligned", _dims(rubric, constants), shown=False)
    config, findings = launcher.config(shape)
    again = f"grader check {rubric.exercise} says why"
    if config is None:
        raise PlacementError(f"no launch configuration ({findings[0].name}); {again}")
    done = launcher.launch(shape, config, exact=False)
    if done is None or not done.run.completed:
        raise PlacementError(f"{kernel.name} does not run to its end; {again}")
    if not done.right:
        raise PlacementError(f"{kernel.name} gives a wrong result, so its traffic says nothing; {again}")
    return done
