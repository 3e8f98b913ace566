"""The misconceptions that number questions name, each with the wrong value that follows from it.

A rubric writes ``mistakes: [factor-two-forgotten]``; the wrong value is then computed from the question's
own expression, so it follows whatever numbers a student was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Number = int | float
Formula = Callable[[Mapping[str, Number]], Number]


@dataclass(frozen=True, slots=True)
class Misconception:
    """One known way to be wrong.

    ``derive`` gives the wrong value from the question's formula and its names. ``needs`` are names that
    the formula must use for that to mean anything.
    """

    says: str
    derive: Callable[[Formula, Mapping[str, Number]], Number]
    needs: frozenset[str] = frozenset()


def _scaled(factor: float) -> Callable[[Formula, Mapping[str, Number]], Number]:
    return lambda formula, names: formula(names) * factor


def _with(name: str, change: Callable[[Number], Number]) -> Callable[[Formula, Mapping[str, Number]], Number]:
    return lambda formula, names: formula({**names, name: change(names[name])})


LIBRARY: Mapping[str, Misconception] = {
    "factor-two-forgotten": Misconception(
        "That is half of it: each step along k is a multiplication and an addition, so it counts as two.",
        _scaled(0.5),
    ),
    "factor-two-added": Misconception(
        "That is twice too much: the factor 2 for multiply and add is already in the count.",
        _scaled(2.0),
    ),
    "bytes-of-one-operand": Misconception(
        "That counts the bytes of one operand only; both A and B are loaded.",
        _scaled(0.5),
    ),
    "intensity-of-one-operand": Misconception(
        "That is twice too much: it divides by the bytes of one operand only, and both A and B are loaded.",
        _scaled(2.0),
    ),
    "eight-byte-floats": Misconception(
        "That takes 8 bytes for each value; float32 has 4 (8 is float64).",
        _with("e", lambda _: 8),
        frozenset({"e"}),
    ),
    "four-byte-floats": Misconception(
        "That still takes the 4 bytes of float32 for each value; count the bytes of the narrower type.",
        _with("e", lambda _: 4),
        frozenset({"e"}),
    ),
    "two-byte-floats": Misconception(
        "That takes 2 bytes for each value; the values here are float32.",
        _with("e", lambda _: 2),
        frozenset({"e"}),
    ),
    "elements-not-bytes": Misconception(
        "That counts values, not bytes.",
        _with("e", lambda _: 1),
        frozenset({"e"}),
    ),
    "tile-squared": Misconception(
        "That takes the tile's area, T * T, for the reuse; a loaded value is used once per row or column of "
        "the tile.",
        _with("T", lambda tile: tile * tile),
        frozenset({"T"}),
    ),
    "ridge-inverted": Misconception(
        "That is upside down: the ridge point is peak arithmetic over bandwidth, in FLOP per byte.",
        lambda formula, names: 1 / formula(names),
    ),
}
