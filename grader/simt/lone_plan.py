"""Which loops a few threads can run in one go: those whose iterations do not build on one another.

Such a loop computes indices from its own variable and from what does not change in it, and stores
values to elements of shared arrays that it does not read. Anything else goes iteration by iteration.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from grader.simt.context import Context, Frame, Run
from grader.simt.lone_body import THREAD, Body, Names, stored_in
from grader.simt.machine import Stop
from grader.simt.mask import Active
from grader.simt.types import Kind
from grader.simt.unroll import Unsuited

MAX_DIVISOR = 1 << 20


@dataclass(frozen=True)
class LonePlan:
    """What has to be looked at before a loop is run in one go.

    ``indices`` are the slots of the outer variables that indices of stores are computed from, ``divided``
    of those that go through an operator that is not linear. ``owned`` and ``places`` are those of what the
    body sets and computes indices of stores and of loads from, ``fresh`` of all that it sets. ``divisors``
    give what whole numbers are divided by. ``unsure`` says that indices of loads are computed from what is
    set under a condition, so that they need not be linear in each iteration.
    """

    indices: frozenset[int]
    divided: frozenset[int]
    owned: frozenset[int]
    places: frozenset[int]
    fresh: frozenset[int]
    divisors: tuple[tuple[type[ast.operator], Run], ...]
    unsure: bool

    def divisors_of(self, fr: Frame, m: Active) -> list[int]:
        """The numbers that indices are divided by, or masked and shifted as if they were."""
        found = []
        for operator, run in self.divisors:
            value = run(fr, m)
            if type(value) is not int or not 0 < value < MAX_DIVISOR:
                continue
            if operator is ast.RShift:
                value = 1 << value if value < 20 else 0
            elif operator is ast.BitAnd:
                value = value + 1 if value & (value + 1) == 0 else 0
            found += [value] if value > 1 else []
        return found


def lone_plan(
    context: Context, node: ast.For | ast.While, name: str, head: dict[str, Kind]
) -> LonePlan | None:
    """The plan of a loop over ``name``, or None where its iterations have to go one by one."""
    if context.kernel.traced or node.orelse:
        return None
    names = Names(stored_in(node))
    kinds = context.kinds
    context.kinds = {**kinds, **head, name: kinds[name]}
    try:
        Body(context, names).suite(_without_step(node), {name})
    except (Unsuited, Stop):
        # What the body's own compilation takes or refuses is not for a plan to say.
        return None
    finally:
        context.kinds = kinds
    divided = _sources(names, names.divided)
    indices = _sources(names, names.indices)
    if not names.stored or THREAD in divided or names.guarded & (divided | indices):
        return None

    def slots(wanted: set[str]) -> frozenset[int]:
        return frozenset(slot for (known, _), slot in context.slots.items() if known in wanted)

    places = _sources(names, names.places)
    counter = {name} if isinstance(node, ast.While) else set()
    return LonePlan(
        slots(indices - names.assigned),
        slots(divided - names.assigned),
        slots(names.set_here & (indices | divided) | counter),
        slots(names.set_here & places),
        slots(names.set_here),
        tuple(names.divisors),
        unsure=bool(names.guarded & places),
    )


def _without_step(node: ast.For | ast.While) -> list[ast.stmt]:
    """A loop's body without the statement that moves its own variable on."""
    return node.body[:-1] if isinstance(node, ast.While) else node.body


def _sources(names: Names, wanted: set[str]) -> set[str]:
    """All names that some names are computed from, themselves included."""
    found, left = set(), set(wanted)
    while left:
        name = left.pop()
        found.add(name)
        left |= names.sources.get(name, set()) - found
    return found


__all__ = ["LonePlan", "lone_plan"]
