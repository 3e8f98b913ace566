"""The corpus: every operator on every style, in a fixed order, duplicates of the same text left out."""

from __future__ import annotations

from functools import cache

from tests.mutation import barrier_operators as barriers
from tests.mutation import guard_operators as guards
from tests.mutation import index_operators as indices
from tests.mutation import range_operators as ranges
from tests.mutation import value_operators as values
from tests.mutation.mutant import Mutant, Operator, mutant
from tests.mutation.styles import Style, styles

OPERATORS: dict[str, Operator] = {
    "drop barrier": barriers.drop,
    "move barrier": barriers.move,
    "duplicate barrier": barriers.duplicate,
    "weaken barrier": barriers.weaken,
    "barrier under a condition": barriers.condition,
    "return before barriers": barriers.leave_early,
    "break before barriers": barriers.leave_in_loop,
    "drop guard": guards.drop,
    "weaken guard": guards.weaken,
    "strengthen guard": guards.strengthen,
    "reverse guard": guards.reverse,
    "guard against another size": guards.wrong_size,
    "guard with another index": guards.wrong_index,
    "drop else": guards.drop_else,
    "other value in else": guards.other_else,
    "nested guards": guards.split,
    "exchange indices": indices.exchange,
    "shift index": indices.shift,
    "repeat index": indices.repeat,
    "index zero": indices.zero,
    "flat index": indices.flat,
    "number of k-tiles": ranges.tiles,
    "range of products": ranges.products,
    "step of the loop": ranges.steps,
    "offset": ranges.offsets,
    "transpose": ranges.transpose,
    "launch configuration": ranges.launch,
    "share of a thread": ranges.register_shares,
    "shared type": values.shared_type,
    "shared shape": values.shared_shape,
    "initial value": values.start_value,
    "sum": values.sum_,
    "store": values.store,
}


#: Operators with more changes than this are thinned on styles other than the first, to one in THINNED.
FEW = 4
THINNED = 3


@cache
def corpus() -> tuple[Mutant, ...]:
    """The mutants that are judged: all of the first solution, a regular quarter of the other styles."""
    kept: list[Mutant] = []
    for number, style in enumerate(styles()):
        groups: dict[str, list[Mutant]] = {}
        for one in _mutants(style):
            groups.setdefault(one.operator, []).append(one)
        for place, group in enumerate(groups.values()):
            whole = number == 0 or len(group) <= FEW
            part = group if whole else group[(number + place) % THINNED :: THINNED]
            # Of long groups every fourth of those is left out too: a quarter of the whole stays.
            kept += part if whole else [one for at, one in enumerate(part) if at % 4 != 3]
    return tuple(kept)


def _mutants(style: Style) -> tuple[Mutant, ...]:
    made: dict[str, Mutant] = {}
    for name, operator in OPERATORS.items():
        for change in operator(style):
            one = mutant(style, name, change)
            made.setdefault(one.source, one)
    return tuple(made.values())
