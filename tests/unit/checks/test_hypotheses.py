from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from grader.checks.hypotheses import Product, matching

Array = npt.NDArray[np.float64]
TILE = 4


def product(out: Callable[[Array, Array], Array], m: int = 10, n: int = 6, k: int = 14) -> Product:
    rng = np.random.default_rng(m * 100 + n * 10 + k)
    left = rng.integers(1, 9, (m, k)).astype(np.float64)
    right = rng.integers(1, 9, (k, n)).astype(np.float64)
    old = -70_000.5 - np.arange(m * n, dtype=np.float64).reshape(m, n)
    grid = (-(-n // TILE), -(-m // TILE))
    return Product(left, right, out(left, right), old, np.ones((m, n), bool), TILE, grid, (TILE, TILE))


def names(one: Product) -> list[tuple[str, str]]:
    return [guess.key for guess in matching(one)]


@pytest.mark.parametrize(
    ("out", "name", "rule"),
    [
        (lambda a, b: a[:, :12] @ b[:12], "dropped-k-tail", "full-tiles"),
        (lambda a, b: a[:, :4] @ b[:4], "dropped-k-tail", "one-tile"),
        (lambda a, b: a[:, :8] @ b[:8], "dropped-k-tail", "grid-tiles"),
        (lambda a, b: a[:, :10] @ b[:10], "dropped-k-tail", "M"),
        (lambda a, b: a[:, :6] @ b[:6], "dropped-k-tail", "N"),
        (lambda a, b: a[:, :13] @ b[:13], "dropped-k-tail", "all-but-one"),
        (lambda a, b: a @ b + a[:, 10:12] @ b[10:12], "repeated-k-tail", "stale-tile"),
        (lambda a, b: a @ b + a[:, 12:] @ b[12:], "repeated-k-tail", "last-tile-twice"),
        (lambda a, b: 2 * (a @ b), "repeated-k-tail", "every-product-twice"),
        (lambda a, b: (a @ b).T.reshape(10, 6), "transposed-result", "stored-by-columns"),
        (lambda a, b: a.reshape(14, 10).T @ b, "transposed-result", "left"),
        (lambda a, b: a @ b.reshape(6, 14).T, "transposed-result", "right"),
        (lambda a, b: a[:, 12:] @ b[12:], "wrong-result", "last-tile-only"),
        (lambda a, b: np.roll(a @ b, 1, 0), "wrong-result", "one-row-down"),
        (lambda a, b: np.roll(a @ b, -1, 1), "wrong-result", "one-column-up"),
        (
            lambda a, b: np.tile((a @ b)[:4, :4], (3, 2))[:10, :6],
            "wrong-result",
            "first-block-everywhere",
        ),
    ],
)
def test_a_wrong_product_is_named_by_what_it_equals(
    out: Callable[[Array, Array], Array], name: str, rule: str
) -> None:
    assert names(product(out))[0] == (name, rule)


@pytest.mark.parametrize(
    ("cut", "grid", "rule"),
    [
        (8, (4, 2), "grid-y-tiles"),
        (8, (2, 4), "grid-y-tiles"),
        (12, (3, 2), "blocks-x"),
        (12, (2, 3), "blocks-y"),
    ],
)
def test_tiles_are_counted_along_what_they_lie_along(cut: int, grid: tuple[int, int], rule: str) -> None:
    """Seven rows take two tiles and fourteen columns four, along whichever axis of the grid they lie."""
    one = product(lambda a, b: a[:, :cut] @ b[:cut], m=7, n=14, k=18)
    assert names(replace(one, grid=grid))[0] == ("dropped-k-tail", rule)


def test_the_missing_range_goes_with_the_cut() -> None:
    guess = matching(product(lambda a, b: a[:, :12] @ b[:12]))[0]
    assert guess.k_range == (12, 13)


def test_square_products_show_transposes_and_swaps() -> None:
    transposed = product(lambda a, b: (a @ b).T, 8, 8, 8)
    swapped = product(lambda a, b: b @ a, 8, 8, 8)
    assert ("transposed-result", "result") in names(transposed)
    assert ("swapped-operands", "operands") in names(swapped)
    assert names(swapped)[0][0] == "swapped-operands"


def test_the_old_output_added_in() -> None:
    plain = product(lambda a, b: a @ b)
    one = Product(
        plain.left, plain.right, plain.old + plain.out, plain.old, plain.written, TILE, (2, 3), (4, 4)
    )
    assert names(one)[0] == ("accumulated-into-output", "added")


def test_unwritten_elements_come_first_and_the_rest_is_compared() -> None:
    full = product(lambda a, b: a[:, :12] @ b[:12])
    written = full.written.copy()
    written[8:] = False
    out = np.where(written, full.out, full.old)
    one = Product(full.left, full.right, out, full.old, written, TILE, (2, 2), (4, 4))
    assert names(one)[:2] == [("unwritten-output", "some"), ("dropped-k-tail", "full-tiles")]


def test_nothing_written_at_all() -> None:
    plain = product(lambda a, b: a @ b)
    nothing = np.zeros_like(plain.written)
    one = Product(plain.left, plain.right, plain.old, plain.old, nothing, TILE, (2, 3), (4, 4))
    assert names(one) == [("unwritten-output", "all"), ("wrong-result", "")]


def test_an_output_that_fits_nothing_is_a_wrong_result() -> None:
    assert names(product(lambda a, b: a @ b + 1)) == [("wrong-result", "")]
    assert names(product(lambda a, b: np.full((10, 6), np.nan))) == [("wrong-result", "")]


def test_integers_and_half_precision_on_fractions() -> None:
    rng = np.random.default_rng(5)
    left, right = rng.random((10, 14)), rng.random((14, 6))
    written = np.ones((10, 6), bool)

    def judged(out: Array) -> list[tuple[str, str]]:
        one = Product(left, right, out, written * np.nan, written, TILE, (2, 3), (4, 4), exact=False)
        return names(one)

    assert judged(np.trunc(left @ right))[0] == ("precision-loss", "truncated-result")
    assert judged(np.zeros((10, 6)))[0] == ("precision-loss", "truncated-operands")
    half = left.astype(np.float16).astype(float) @ right.astype(np.float16).astype(float)
    assert judged(half)[0] == ("precision-loss", "few-digits")
    assert judged(left @ right * 1.5) == [("wrong-result", "")]


def test_tiles_multiplied_in_the_wrong_order_are_named() -> None:
    def swapped(left: Array, right: Array) -> Array:
        """Element by element, as a thread sums: a row of the right tile times a column of the left one."""
        rows, depth, columns = left.shape[0], left.shape[1], right.shape[1]
        out = np.zeros((rows, columns))
        for row, column in np.ndindex(rows, columns):
            top, side = row // TILE * TILE, column // TILE * TILE
            for start in range(0, depth, TILE):
                for k in range(TILE):
                    place = start + row - top, side + k
                    other = top + k, start + column - side
                    if place[0] < depth and place[1] < columns and other[0] < rows and other[1] < depth:
                        out[row, column] += right[place] * left[other]
        return out

    assert names(product(swapped))[0] == ("swapped-operands", "tiles")
