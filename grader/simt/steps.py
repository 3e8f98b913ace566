"""Compiled statements, one after another under a mask."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from grader.simt.context import Context, Frame, Run
from grader.simt.flops import operations
from grader.simt.mask import DEAD, Active, Dead, State

Body = Callable[[Frame, Active], State]


class Step:
    """One compiled statement; ``control`` says that it may change which threads go on."""

    __slots__ = ("control", "run")

    def __init__(self, run: Any, control: bool = False) -> None:
        self.run = run
        self.control = control


def sequence(steps: list[Step]) -> Body:
    """The steps as one body, which gives the threads that reach its end."""
    parts = tuple((step.run, step.control) for step in steps)
    if not any(control for _, control in parts):
        return straight([run for run, _ in parts])

    def execute(fr: Frame, m: Active) -> State:
        for run, control in parts:
            if control:
                state = run(fr, m)
                if type(state) is Dead:
                    return DEAD
                m = state
            else:
                run(fr, m)
        return m

    return execute


def straight(runs: list[Any]) -> Body:
    """A body that no thread leaves early."""
    if len(runs) == 1:
        only = runs[0]

        def single(fr: Frame, m: Active) -> State:
            only(fr, m)
            return m

        return single
    fixed = tuple(runs)

    def execute(fr: Frame, m: Active) -> State:
        for run in fixed:
            run(fr, m)
        return m

    return execute


def counted(context: Context, node: ast.stmt, run: Run) -> Step:
    """Tally the statement's floating-point operations, where it has any."""
    work = operations(node, context)
    if not work:
        return Step(run)
    ident = context.kernel.statements

    def execute(fr: Frame, m: Active) -> None:
        fr.mc.tally.flop(ident, work, m)
        run(fr, m)

    return Step(execute)
