"""Where a submission stands on the roofline: its intensity as the machine counts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.counted_launch import LaunchError, constants_for, counted_launch, kernel_faults
from grader.rubric.expressions import evaluate
from grader.rubric.model import Rubric
from grader.rubric.suites import Shape
from grader.simt import parse

# Deep enough that the stores of C weigh what they weigh in the model's tables, and small in M and N,
# on which the intensity of whole tiles does not depend.
_DEPTH = 4096
_TILES_A_SIDE = 2


class PlacementError(Exception):
    """An exercise without a matrix product; the text is one line that names it."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What the machine counted in one launch on M, N, K: 2 M N K, and the bytes threads asked for.

    ``faults`` are the names of what a grading finds wrong with the kernel on other shapes.
    """

    M: int
    N: int
    K: int
    load_bytes: int
    store_bytes: int
    faults: tuple[str, ...] = ()

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

    Raises PlacementError where the exercise is no matrix product, and LaunchError where the kernel
    cannot be launched or its result is wrong.
    """
    kernel = rubric.kernel
    if kernel is None or set(kernel.dims) != {"M", "N", "K"}:
        raise PlacementError(f"{rubric.exercise} has no matrix product to place on a roofline")
    program = parse(text)
    constants = constants_for(program, kernel)
    dims = _dims(rubric, constants)
    shape = Shape("aligned", dims, shown=False)
    _, done = counted_launch(program, rubric, kernel, shape, constants, device)
    counters = done.run.counters
    if counters.global_load_bytes + counters.global_store_bytes == 0:
        raise LaunchError(f"{kernel.name} reads and writes no global memory")
    return Placement(
        **dims,
        load_bytes=counters.global_load_bytes,
        store_bytes=counters.global_store_bytes,
        faults=kernel_faults(rubric, program, done),
    )


def _dims(rubric: Rubric, constants: Mapping[str, int]) -> dict[str, int]:
    hidden = rubric.suites.hidden if rubric.suites is not None else None
    tile = max(1, int(evaluate(str(hidden.tile), constants))) if hidden is not None else 32
    side = _TILES_A_SIDE * tile
    return {"M": side, "N": side, "K": -(-_DEPTH // tile) * tile}
