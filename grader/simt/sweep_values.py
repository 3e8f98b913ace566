"""The arithmetic of a swept loop, in the order and with the roundings of the source."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.context import Frame
from grader.simt.mask import Active
from grader.simt.sweep_plan import CARRIED, FIXED, SWEPT, Op, Plan
from grader.simt.values import Tainted, cast

#: Elements that products of several iterations may take together.
BATCH_ELEMENTS = 1 << 14

Taint = npt.NDArray[np.uint8]


class Arithmetic:
    """The values of a swept loop, by node.

    What does not hang on earlier iterations is worked out for several iterations at once, the rest
    iteration by iteration. From the third iteration on results go where those of the second are.
    """

    def __init__(self, fr: Frame, m: Active, plan: Plan, rows: list[npt.NDArray[Any]], count: int) -> None:
        self.plan = plan
        self.count = count
        self.rows = {read.node: part for read, part in zip(plan.reads, rows, strict=True)}
        self.values: list[Any] = [None] * len(plan.levels)
        self.targets: dict[int, npt.NDArray[Any]] = {}
        self.taints: dict[int, Taint] = {}
        self.sound = True
        for node, run in plan.fixed:
            self._start(node, run(fr, m))
        for start, _, run in plan.carried:
            value = run(fr, m)
            if type(value) is Tainted:
                self.taints[start], value = value.taint, value.value
            self._start(start, value)

    def _start(self, node: int, value: Any) -> None:
        self.sound &= isinstance(value, np.ndarray | np.generic | float)
        self.values[node] = value

    def run(self) -> list[Any] | None:
        """The values after the last iteration; None where they are no arrays."""
        if not self.sound:
            return None
        values, shapes = self.values, [rows.shape[1:] for rows in self.rows.values()]
        step = max(1, BATCH_ELEMENTS // math.prod(np.broadcast_shapes(*shapes)))
        self._evaluate(self.plan.ops_of(FIXED), 1)
        for done in range(0, self.count, step):
            size = min(step, self.count - done)
            for node, rows in self.rows.items():
                values[node] = rows[done : done + size]
            self._evaluate(self.plan.ops_of(SWEPT), size)
            if not self._carry(done, size):
                return None
        for node, level in enumerate(self.plan.levels):
            if level == SWEPT:
                values[node] = values[node][-1]
        return values

    def _evaluate(self, ops: tuple[Op, ...], size: int) -> None:
        """Work nodes out for ``size`` iterations at once."""
        values, targets = self.values, self.targets
        for op in ops:
            if op.ufunc is None:
                values[op.node] = cast(values[op.left], op.code)
                continue
            target = targets.get(op.node)
            if target is None:
                values[op.node] = made = op.ufunc(values[op.left], values[op.right])
                if isinstance(made, np.ndarray) and self.plan.levels[op.node] == SWEPT:
                    targets[op.node] = made
            else:
                values[op.node] = op.ufunc(values[op.left], values[op.right], out=target[:size])

    def _carry(self, done: int, size: int) -> bool:
        """Go through ``size`` iterations; whether their results are arrays of a shape that stays."""
        ops, values = self.plan.ops_of(CARRIED), self.values
        used = {node for op in ops for node in (op.left, op.right) if self.plan.levels[node] == SWEPT}
        columns = {node: list(values[node]) for node in used}
        fresh = min(max(0, 2 - done), size)
        for at in range(fresh):
            known = [np.shape(values[op.node]) for op in ops]
            self._iterate(ops, columns, at)
            if not all(isinstance(values[op.node], np.ndarray) for op in ops):
                return False
            if done + at == 1 and known != [values[op.node].shape for op in ops]:
                return False
        if self.plan.sums:
            for op in ops:
                assert op.ufunc is not None
                total = values[op.node]
                left, right = columns.get(op.left), columns.get(op.right)
                for at in range(fresh, size):
                    op.ufunc(
                        total if left is None else left[at], total if right is None else right[at], out=total
                    )
            return True
        for at in range(fresh, size):
            self._iterate(ops, columns, at, in_place=True)
        return True

    def _iterate(
        self, ops: tuple[Op, ...], columns: dict[int, list[Any]], at: int, in_place: bool = False
    ) -> None:
        values = self.values
        for op in ops:
            left = columns[op.left][at] if op.left in columns else values[op.left]
            if op.ufunc is None:
                values[op.node] = cast(left, op.code)
                continue
            right = columns[op.right][at] if op.right in columns else values[op.right]
            values[op.node] = op.ufunc(left, right, out=values[op.node] if in_place else None)
        for start, final, _ in self.plan.carried:
            values[start] = values[final]
