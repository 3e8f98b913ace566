"""The launch shapes of an exercise: the shown ones, and hidden families drawn from a seed.

A family says of which kind each dimension is: a multiple of the tile, ragged, below one tile, one.
Sizes are drawn by HMAC-SHA256 over (exercise, family, index), so they are the same on every machine;
an instructor's private key gives other shapes of the same kinds. All sizes scale with the student's
own TILE and stay within ``MOST_TILES`` tiles an axis: a suite has to run in a fraction of a second.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from grader.rubric.expressions import evaluate
from grader.rubric.model import HiddenSuite, KernelSpec, Rubric

__all__ = ["GEMM_FAMILIES", "Shape", "draw_family", "families_of", "shapes_of", "shown_shapes"]

PUBLIC_SEED = b"tilegrade suites 1"
MOST_TILES = 4
LONG = 256
ATTEMPTS = 200

GEMM_FAMILIES: Mapping[str, Mapping[str, str]] = {
    "aligned": {},
    "ragged_m": {"M": "ragged"},
    "ragged_n": {"N": "ragged"},
    "ragged_k": {"K": "ragged"},
    "all_ragged": {"M": "ragged", "N": "ragged", "K": "ragged"},
    "k_below_tile": {"K": "below"},
    "k_is_one": {"K": "one", "M": "ragged", "N": "ragged"},
    "one_row": {"M": "one", "N": "ragged", "K": "ragged"},
    "one_column": {"N": "one", "M": "ragged", "K": "ragged"},
    "one_element": {"M": "one", "N": "one", "K": "ragged"},
    "tall": {"M": "long", "N": "short", "K": "ragged"},
    "wide": {"N": "long", "M": "short", "K": "ragged"},
    "deep": {"K": "long", "M": "short", "N": "short"},
}


@dataclass(frozen=True, slots=True)
class Shape:
    """One launch shape: its family, its named sizes, and whether students are told of it."""

    family: str
    dims: Mapping[str, int]
    shown: bool


def families_of(dims: tuple[str, ...]) -> Mapping[str, Mapping[str, str]]:
    """The families that an exercise with these dimensions may name, each as {dimension: kind}.

    With M, N and K those of a matrix product. Otherwise ``aligned``, ``all_ragged``, ``one_element``
    and, for each dimension x, ``ragged_x``, ``x_below_tile`` and ``x_is_one``.
    """
    if set(dims) == {"M", "N", "K"}:
        return GEMM_FAMILIES
    families: dict[str, dict[str, str]] = {
        "aligned": {},
        "all_ragged": dict.fromkeys(dims, "ragged"),
        "one_element": dict.fromkeys(dims, "one"),
    }
    for dim in dims:
        families[f"ragged_{dim.lower()}"] = {dim: "ragged"}
        families[f"{dim.lower()}_below_tile"] = {dim: "below"}
        families[f"{dim.lower()}_is_one"] = {dim: "one"}
    return families


def shapes_of(
    rubric: Rubric, constants: Mapping[str, int], *, private_key: bytes | None = None
) -> tuple[Shape, ...]:
    """All shapes that a submission with these constants is launched with: shown first, then hidden.

    Raises ``ExpressionError`` or ``ValueError`` where a shown size is no positive whole number.
    """
    shapes = list(shown_shapes(rubric, constants))
    hidden = rubric.suites.hidden if rubric.suites is not None else None
    if hidden is not None and rubric.kernel is not None:
        for family in hidden.families:
            shapes += draw_family(rubric.exercise, rubric.kernel, hidden, family, constants, private_key)
    return tuple(shapes)


def shown_shapes(rubric: Rubric, constants: Mapping[str, int]) -> tuple[Shape, ...]:
    """The shapes that students are told; raises as ``shapes_of`` does."""
    if rubric.kernel is None or rubric.suites is None:
        return ()
    return tuple(
        Shape("shown", _sizes(rubric.kernel, sizes, constants), shown=True)
        for sizes in rubric.suites.shown.shapes
    )


def _sizes(
    kernel: KernelSpec, sizes: tuple[str | int | float, ...], constants: Mapping[str, int]
) -> dict[str, int]:
    dims: dict[str, int] = {}
    for name, size in zip(kernel.dims, sizes, strict=True):
        value = evaluate(str(size), constants)
        if value != int(value) or value < 1:
            raise ValueError(f"the size {name} = {size} is {value}, not a positive whole number")
        dims[name] = int(value)
    return dims


def draw_family(
    exercise: str,
    kernel: KernelSpec,
    hidden: HiddenSuite,
    family: str,
    constants: Mapping[str, int],
    private_key: bytes | None = None,
) -> list[Shape]:
    """The ``per_family`` shapes of one family, all different.

    Of the candidates drawn, the first wins whose dimensions differ pairwise and whose number of
    k-tiles differs from its number of column tiles; in a family where that cannot be, the one that
    comes closest.
    """
    tile = max(1, int(evaluate(str(hidden.tile), constants)))
    dims_of = kernel.dims
    kinds = families_of(dims_of)[family]
    # Dimensions that are one by definition cannot differ: fewer flaws than these cannot be had.
    least = max(0, sum(kinds.get(dim) == "one" for dim in dims_of) - 1)
    taken: list[dict[str, int]] = []
    for index in range(hidden.per_family):
        numbers = _numbers(private_key or b"", f"{exercise}/{family}/{index}")
        candidates = (
            {dim: _size(kinds.get(dim, "tiles"), next(numbers), tile) for dim in dims_of}
            for _ in range(ATTEMPTS)
        )
        best: tuple[int, dict[str, int]] | None = None
        for dims in candidates:
            flaw = _flaws(dims, tile) + (100 if dims in taken else 0)
            if best is None or flaw < best[0]:
                best = (flaw, dims)
            if flaw <= least:
                break
        assert best is not None
        taken.append(best[1])
    return [Shape(family, dims, shown=False) for dims in taken]


def _flaws(dims: Mapping[str, int], tile: int) -> int:
    repeated = len(dims) - len(set(dims.values()))
    if "N" not in dims or "K" not in dims:
        return repeated
    same_tiles = -(-dims["N"] // tile) == -(-dims["K"] // tile)
    return repeated + same_tiles


def _size(kind: str, number: int, tile: int) -> int:
    """A size of that kind; ``number`` is 64 random bits."""
    within = number >> 32
    match kind:
        case "one":
            return 1
        case "below":
            return 2 + within % (tile - 2) if tile > 2 else 1
        case "ragged":
            return (1 + number % (MOST_TILES - 1)) * tile + _remainder(within, tile)
        case "short":
            return (number % 2) * tile + _remainder(within, tile)
        case "long":
            # Beyond what a byte counts, and beyond any limit that a kernel for small sizes may carry.
            return max(MOST_TILES * tile, LONG) + 1 + within % (2 * tile)
    return (1 + number % MOST_TILES) * tile


def _remainder(within: int, tile: int) -> int:
    return 1 + within % (tile - 1) if tile > 1 else 1


def _numbers(key: bytes, label: str) -> Iterator[int]:
    for counter in count():
        digest = hmac.new(PUBLIC_SEED + key, f"{label}/{counter}".encode(), hashlib.sha256).digest()
        for start in range(0, 32, 8):
            yield int.from_bytes(digest[start : start + 8], "big")
