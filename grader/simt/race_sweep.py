"""The reads of a swept loop, logged as one until a conflict has to be told iteration by iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from grader.simt.affine import Affine, add
from grader.simt.evidence import Site
from grader.simt.mask import Active
from grader.simt.memory import View


@dataclass(eq=False, slots=True)
class Sweep:
    """One read of a loop's body in all of its iterations.

    ``order`` is the first one's place among all accesses, and how far the next one's is from it.
    ``address`` and ``dims`` are the first iteration's; each dimension's index grows by its step.
    ``loops`` are the loops around, the loop's own name and indices, and the unrolled loops within.
    """

    order: tuple[int, int]
    site: Site
    view: View
    address: Affine
    dims: tuple[Any, ...]
    steps: tuple[int, ...]
    mask: Active
    loops: tuple[tuple[tuple[str, Any], ...], str, range, tuple[tuple[str, int], ...]]
    number: int = 0
    #: Whether it is stores that are logged as one, see :class:`grader.simt.race_batch.Batch`.
    stores: ClassVar[bool] = False

    @property
    def count(self) -> int:
        """How many iterations there are."""
        return len(self.loops[2])

    @property
    def step(self) -> int:
        """How many words one iteration's address lies beyond the one before."""
        return sum(step * stride for step, stride in zip(self.steps, self.view.strides, strict=True))

    def each(self) -> Iterator[tuple[int, Affine, tuple[Any, ...], tuple[tuple[str, Any], ...]]]:
        """Order, address, indices and loops of each iteration's read."""
        step = self.step
        for number in range(self.count):
            address = Affine(self.address.base + number * step, self.address.coefs, self.address.extents)
            dims = tuple([add(dim, number * each) for dim, each in zip(self.dims, self.steps, strict=True)])
            yield self.order_of(number), address, dims, self.loops_of(number)

    def order_of(self, number: int) -> int:
        """An iteration's place among all accesses."""
        return self.order[0] + number * self.order[1]

    def loops_of(self, number: int) -> tuple[tuple[str, Any], ...]:
        """The values of the loops in an iteration."""
        around, name, indices, inner = self.loops
        return (*around, (name, indices[number]), *inner)
