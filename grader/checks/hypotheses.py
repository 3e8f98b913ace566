"""Naming a wrong matrix product by what it equals.

Each hypothesis predicts the whole output from A and B; it holds where the kernel's output equals the
prediction in every element that was written. All are tried on every failing shape of the exact pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Guess", "Product", "matching"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Guess:
    """A finding's name, the rule within it, and the k-range (first and last k) that it is about."""

    name: str
    rule: str
    k_range: tuple[int, int] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What makes two guesses of different shapes the same."""
        return self.name, self.rule


@dataclass(frozen=True, slots=True)
class Product:
    """One failing launch of ``right = A @ B``.

    ``left`` is A (M, K), ``right`` B (K, N); ``out`` (M, N) after the launch, ``old`` before it;
    ``written`` tells where the kernel stored. ``tile`` is the k-tile's width, ``grid`` and ``block``
    the launch, x first. Numbers are whole, as float64. ``exact`` is False for the approximate pass.
    """

    left: Array
    right: Array
    out: Array
    old: Array
    written: npt.NDArray[np.bool_]
    tile: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    exact: bool = True

    @property
    def reference(self) -> Array:
        """A @ B."""
        product: Array = self.left @ self.right
        return product

    def equals(self, predicted: Array) -> bool:
        """Whether the output is the prediction, in every element that was written."""
        return predicted.shape == self.out.shape and bool(
            np.array_equal(predicted[self.written], self.out[self.written])
        )


def matching(product: Product) -> tuple[Guess, ...]:
    """The hypotheses that hold, the most telling first; ``wrong-result`` always holds, last."""
    found: list[Guess] = []
    if not product.written.all():
        found.append(Guess("unwritten-output", "some" if product.written.any() else "all"))
    if product.written.any():
        tried = _exact_guesses(product) if product.exact else _rounded_guesses(product)
        found.extend(guess for guess, predicted in tried if product.equals(predicted))
        if not product.exact and not found and _few_digits(product):
            found.append(Guess("precision-loss", "few-digits"))
    return (*found, Guess("wrong-result", ""))


def _exact_guesses(product: Product) -> Iterator[tuple[Guess, Array]]:
    reference = product.reference
    if np.array_equal(reference[product.written], product.out[product.written]):
        return
    yield from _cut(product)
    yield from _repeated(product, reference)
    yield from _transposed(product, reference)
    yield Guess("accumulated-into-output", "added"), product.old + reference
    yield Guess("accumulated-into-output", "added-every-tile"), product.old + _running_sums(product)
    yield Guess("precision-loss", "half-precision"), reference.astype(np.float16).astype(np.float64)
    yield from _displaced(product, reference)


def _cut(product: Product) -> Iterator[tuple[Guess, Array]]:
    """The sum over a part of the k-range; the guess's range is what is missing."""
    rows, depth = product.left.shape
    tile, columns = product.tile, product.right.shape[1]
    cuts = {
        "full-tiles": depth // tile * tile,
        "grid-tiles": -(-columns // tile) * tile,
        "grid-y-tiles": -(-rows // tile) * tile,
        "blocks-x": product.grid[0] * tile,
        "blocks-y": product.grid[1] * tile if len(product.grid) > 1 else depth,
        "one-tile": tile,
        "all-but-one-tile": (depth - 1) // tile * tile,
        "M": rows,
        "N": columns,
        "all-but-one": depth - 1,
        "all-but-two": depth - 2,
    }
    for rule, cut in cuts.items():
        if 0 <= cut < depth:
            predicted = product.left[:, :cut] @ product.right[:cut]
            yield Guess("dropped-k-tail", rule, (cut, depth - 1)), predicted
    starts = {"last-tile-only": (depth - 1) // tile * tile, "without-first-tile": tile, "without-first": 1}
    for rule, start in starts.items():
        if 0 < start < depth:
            yield Guess("wrong-result", rule, (0, start - 1)), product.left[:, start:] @ product.right[start:]


def _repeated(product: Product, reference: Array) -> Iterator[tuple[Guess, Array]]:
    """Sums in which some products come twice."""
    left, right, tile = product.left, product.right, product.tile
    depth = left.shape[1]
    last, full = (depth - 1) // tile * tile, depth // tile * tile
    stale = slice(max(depth - tile, 0), full)
    yield (
        Guess("repeated-k-tail", "stale-tile", (stale.start, full - 1)),
        reference + left[:, stale] @ right[stale],
    )
    yield (
        Guess("repeated-k-tail", "last-tile-twice", (last, depth - 1)),
        reference + left[:, last:] @ right[last:],
    )
    yield Guess("repeated-k-tail", "every-product-twice", (0, depth - 1)), 2 * reference
    yield (
        Guess("repeated-k-tail", "last-product-twice", (depth - 1, depth - 1)),
        reference + left[:, -1:] @ right[-1:],
    )


def _running_sums(product: Product) -> Array:
    """What is added in all by a kernel that adds its sum so far once for every k-tile."""
    depth, tile = product.left.shape[1], product.tile
    ends = [min(start + tile, depth) for start in range(0, depth, tile)]
    sums: Array = np.sum([product.left[:, :end] @ product.right[:end] for end in ends], axis=0)
    return sums


def _transposed(product: Product, reference: Array) -> Iterator[tuple[Guess, Array]]:
    left, right = product.left, product.right
    (rows, depth), columns = left.shape, right.shape[1]
    if rows == columns:
        yield Guess("transposed-result", "result"), reference.T
    yield Guess("transposed-result", "stored-by-columns"), reference.T.reshape(rows, columns)
    by_columns_left = left.reshape(depth, rows).T
    by_columns_right = right.reshape(columns, depth).T
    yield Guess("transposed-result", "left"), by_columns_left @ right
    yield Guess("transposed-result", "right"), left @ by_columns_right
    if rows == depth == columns:
        yield Guess("swapped-operands", "operands"), right @ left
    if product.tile > 1:
        yield Guess("swapped-operands", "tiles"), _swapped_tiles(left, right, product.tile)


def _swapped_tiles(left: Array, right: Array, tile: int) -> Array:
    """The sum over the k-tiles of the right factor's tile times the left one's, edges filled with zeros."""
    first, second = _in_tiles(left, tile), _in_tiles(right, tile)
    blocks: Array = np.einsum("tajc,ictb->iajb", second, first, optimize=True)
    shape = blocks.shape
    whole = blocks.reshape(shape[0] * tile, shape[2] * tile)
    return whole[: left.shape[0], : right.shape[1]]


def _in_tiles(matrix: Array, tile: int) -> Array:
    """A matrix as (tile row, row in it, tile column, column in it), filled up with zeros."""
    rows, columns = (-(-size // tile) for size in matrix.shape)
    padded = np.zeros((rows * tile, columns * tile))
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows, tile, columns, tile)


def _displaced(product: Product, reference: Array) -> Iterator[tuple[Guess, Array]]:
    """Every element at a place one row or column away, or one block's result in every block."""
    for axis, name in ((0, "row"), (1, "column")):
        for step in (1, -1):
            moved = np.roll(reference, step, axis)
            edge = 0 if step == 1 else -1
            # What lands in the first row came from nowhere: whatever the kernel put there is accepted.
            index = (edge, slice(None)) if axis == 0 else (slice(None), edge)
            moved[index] = product.out[index]
            if reference.shape[axis] > 1:
                yield Guess("wrong-result", f"one-{name}-{'down' if step == 1 else 'up'}"), moved
    if len(product.block) > 1:
        wide, high = product.block[0], product.block[1]
        repeats = (-(-reference.shape[0] // high), -(-reference.shape[1] // wide))
        if max(repeats) > 1:
            tiled = np.tile(reference[:high, :wide], repeats)[: reference.shape[0], : reference.shape[1]]
            yield Guess("wrong-result", "first-block-everywhere"), tiled


def _rounded_guesses(product: Product) -> Iterator[tuple[Guess, Array]]:
    """What integer arithmetic makes of fractions."""
    yield Guess("precision-loss", "truncated-result"), np.trunc(product.reference)
    yield Guess("precision-loss", "truncated-operands"), np.trunc(product.left) @ np.trunc(product.right)


def _few_digits(product: Product) -> bool:
    """Whether the error looks like rounding to about three decimal digits of each product, everywhere."""
    magnitude = np.abs(product.left) @ np.abs(product.right)
    return bool(np.all(np.abs(product.out - product.reference) <= 2.0**-8 * magnitude))
