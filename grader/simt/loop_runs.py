"""Loops as they run: masks narrow as threads finish, break off or leave."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.simt import affine, expressions, lone_run, values, whole_numbers
from grader.simt.affine import Affine
from grader.simt.context import UNSET, Frame, Run
from grader.simt.evidence import Site
from grader.simt.lone_plan import LonePlan
from grader.simt.lone_while import Counted
from grader.simt.mask import DEAD, Active, Dead, State, union, without
from grader.simt.sweep import sweep
from grader.simt.sweep_plan import Plan
from grader.simt.values import Tainted, as_condition
from grader.simt.variables import assign


class Loop:
    """A compiled ``for`` loop over a range."""

    __slots__ = ("body", "exits", "lone", "name", "orelse", "plan", "site", "slot")
    #: Whether evidence tells an iteration by how many came before it.
    by_passes = False

    def __init__(
        self,
        name: str,
        slot: int,
        site: Site,
        body: Any,
        exits: bool,
        orelse: Any,
        plan: Plan | None = None,
        lone: LonePlan | None = None,
    ) -> None:
        self.name = name
        self.slot = slot
        self.site = site
        self.body = body
        self.exits = exits
        self.orelse = orelse
        self.plan = plan
        self.lone = lone

    def uniform(self, fr: Frame, m: Active, low: int, high: int, step: int) -> State:
        """All threads run the same iterations."""
        if step == 0:
            return m
        if type(fr.mc) is lone_run.LoneMachine:
            return lone_run.iterate(fr, m, self, range(low, high, step))
        mc, slot, body = fr.mc, self.slot, self.body
        pair: list[Any] = [self.name, low]
        mc.loops.append(pair)
        mc.open.append([self.site, 0])
        state: State = m
        if self.exits:
            state = self._with_exits(fr, m, range(low, high, step), pair)
        else:
            before = fr.values[slot], fr.defined[slot]
            indices = range(low, high, step)
            if self.plan is not None:
                indices = self._swept(fr, m, self.plan, indices)
            elif self.lone is not None and m is not None:
                indices = lone_run.take(fr, m, self, indices)
            for index in indices:
                mc.spend(self.site)
                pair[1] = index
                fr.values[slot], fr.defined[slot] = index, m
                body(fr, m)
            if m is not None and before[0] is not UNSET and fr.values[slot] is not before[0]:
                # Only now do the threads outside the loop get their own value back.
                last = fr.values[slot]
                fr.values[slot], fr.defined[slot] = before
                assign(fr, slot, last, m)
        mc.loops.pop()
        mc.open.pop()
        return self._finish(fr, state)

    def _swept(self, fr: Frame, m: Active, plan: Plan, indices: range) -> range:
        """Take iterations together as long as that can be; gives those that are left."""
        while indices and (done := sweep(fr, m, plan, self.slot, indices)):
            fr.values[self.slot], fr.defined[self.slot] = indices[done - 1], m
            indices = indices[done:]
        return indices

    def _finish(self, fr: Frame, state: State) -> State:
        if self.orelse is not None and not self.exits and type(state) is not Dead:
            state = self.orelse(fr, state)
        return state

    def _with_exits(self, fr: Frame, m: Active, indices: range, pair: list[Any]) -> State:
        mc = fr.mc
        fr.broken.append(DEAD)
        state: State = m
        for index in indices:
            mc.spend(self.site)
            pair[1] = index
            assign(fr, self.slot, index, state)  # type: ignore[arg-type]
            state = one_pass(fr, self.body, state)
            if type(state) is Dead:
                break
        return leave_loop(fr, m, state, self.orelse)

    def divergent(self, fr: Frame, m: Active, low: Any, high: Any, step: Any) -> State:
        """Threads differ in where they start, stop or how far they step."""
        mc = fr.mc
        if type(mc) is lone_run.LoneMachine:
            raise lone_run.Unbatched
        low, high, step = (_clean(mc, bound, m) for bound in (low, high, step))
        pair: list[Any] = [self.name, low]
        mc.loops.append(pair)
        mc.open.append([self.site, 0])
        fr.broken.append(DEAD)
        state: State = m
        value = low
        while True:
            yes, _ = mc.split(state, _below(value, high, step))  # type: ignore[arg-type]
            if type(yes) is Dead:
                break
            if yes is not None and yes is not state and yes.origin is None:  # type: ignore[union-attr]
                yes.origin = self.site  # type: ignore[union-attr]
            mc.spend(self.site)
            pair[1] = value
            assign(fr, self.slot, value, yes)  # type: ignore[arg-type]
            state = one_pass(fr, self.body, yes)
            if type(state) is Dead:
                break
            value = whole_numbers.int_add(value, step)
        mc.loops.pop()
        mc.open.pop()
        return leave_loop(fr, m, _unbroken(fr, m), self.orelse)


def _clean(mc: Any, bound: Any, m: Active) -> Any:
    if type(bound) is Tainted:
        mc.trail.reach(bound.taint, m, "trip-count")
        return bound.value
    return bound


def _below(value: Any, high: Any, step: Any) -> Any:
    """Whether an index is still within its range, which may run downwards."""
    if type(step) is int or type(step) is Affine:
        up = affine.compare("gt", step, 0)
        if type(up) is bool:
            return _compare("lt" if up else "gt", value, high)
    step = values.numeric(step)
    up = np.greater(step, 0)
    rising, falling = _compare("lt", value, high), _compare("gt", value, high)
    return np.where(up, rising, falling)


def _compare(operator: str, a: Any, b: Any) -> Any:
    if type(a) in (int, Affine) and type(b) in (int, Affine):
        return affine.compare(operator, a, b)
    ufunc = np.less if operator == "lt" else np.greater
    return ufunc(values.numeric(a), values.numeric(b))


def one_pass(fr: Frame, body: Any, m: State) -> State:
    """One iteration; the threads that continue rejoin at its end."""
    fr.continued.append(DEAD)
    state = body(fr, m)
    return union(state, fr.continued.pop(), m)  # type: ignore[arg-type]


def _unbroken(fr: Frame, m: Active) -> State:
    """The threads that ran a divergent loop to its end."""
    return without(without(m, fr.left), fr.broken[-1])


def leave_loop(fr: Frame, m: Active, state: State, orelse: Any) -> State:
    """The threads that go on after a loop: those that finished it (through its ``else``) or broke out."""
    broken = fr.broken.pop()
    if orelse is not None and type(state) is not Dead:
        state = orelse(fr, state)
    after = union(state, broken, m)
    return m if _whole(fr, m, after) else after


def _whole(fr: Frame, m: Active, state: State) -> bool:
    return state is m


def run_while(
    fr: Frame, m: Active, condition: Run, site: Site, body: Any, orelse: Any, lone: Counted | None = None
) -> State:
    """A ``while`` loop: threads whose test fails wait at its end."""
    mc = fr.mc
    if type(mc) is lone_run.LoneMachine:
        return lone_run.iterate_passes(fr, m, lone)
    fr.broken.append(DEAD)
    state: State = m
    passes: list[Any] = ["while", 0]
    mc.loops.append(passes)
    mc.open.append([site, 0])
    if lone is not None and m is not None and (values := lone.values_in(fr, m)):
        left = lone_run.take(fr, m, lone, values)
        if left is not values:
            passes[1] = len(values) - len(left)
            assign(fr, lone.slot, left[0], m)
    while type(state) is not Dead:
        chosen = as_condition(condition(fr, state))  # type: ignore[arg-type]
        if type(chosen) is bool:
            if not chosen:
                break
            yes: State = state
        else:
            yes, _ = mc.split(state, expressions.decide(fr, chosen, state))  # type: ignore[arg-type]
            if type(yes) is Dead:
                break
            if yes is not None and yes is not state and yes.origin is None:  # type: ignore[union-attr]
                yes.origin = site  # type: ignore[union-attr]
        mc.spend(site)
        state = one_pass(fr, body, yes)
        passes[1] += 1
    mc.loops.pop()
    mc.open.pop()
    return leave_loop(fr, m, _unbroken(fr, m), orelse)
