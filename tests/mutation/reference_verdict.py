"""What the reference checker says of a mutant: the kinds of fault it shows, over all small shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.mutation.reference import Launch, Undefined, run
from tests.mutation.reference_rewrite import Refused, rewritten
from tests.mutation.shapes import SHAPES, TILE, TOLERANCE, block_of, grid_of, inputs


def faults(source: str, style: str) -> tuple[str, ...]:
    """Sorted kinds; empty where no launch shows anything and every output is right."""
    try:
        names = rewritten(source, TILE)
    except Refused:
        return ("refused",)
    found: set[str] = set()
    for sizes in SHAPES:
        found |= _one(names, style, sizes)
        if "endless" in found:
            break
    return tuple(sorted(found))


def _one(names: dict[str, Any], style: str, sizes: tuple[int, int, int]) -> set[str]:
    grid: Any = grid_of(sizes)
    block: Any = block_of(style)
    if "launch_config" in names:
        grid, block = names["launch_config"](*sizes[:2])
        if not all(isinstance(axis, int) and axis > 0 for axis in (*grid, *block)):
            return {"refused"}
    a, b, wanted = inputs(sizes)
    launch, out = run(names, grid, block, a, b, sizes)
    return launch.faults | _output(launch, out.words, wanted)


def _output(launch: Launch, words: list[Any], wanted: Any) -> set[str]:
    if launch.faults & {"endless", "refused", "error"}:
        return set()
    if any(isinstance(word, Undefined) for word in words):
        return {"undefined"}
    got = np.array(words, np.float64).reshape(wanted.shape)
    return set() if np.allclose(got, wanted, rtol=TOLERANCE, atol=0) else {"wrong"}
