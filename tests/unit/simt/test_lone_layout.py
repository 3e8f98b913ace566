"""Axes of a loop's iterations along which quotients and remainders of its index are linear."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from grader.simt.affine import Affine, Extents, divide
from grader.simt.lone_layout import layout


@pytest.mark.parametrize(
    ("indices", "divisors", "axes"),
    [
        (range(255), [16], (15, 16)),
        (range(240, 255), [16], (15,)),
        (range(0, 256, 2), [16], (16, 8)),
        (range(255, 0, -1), [16], (15, 16)),
        (range(3, 100), [16], (13,)),
        (range(16, 100), [16], (5, 16)),
        (range(256), [4, 16], (16, 4, 4)),
        (range(0, 256, 3), [16], (86,)),
        (range(256), [], (256,)),
        (range(256), [16, 24], (16, 16)),
        (range(5), [16], (5,)),
    ],
)
def test_axes(indices: range, divisors: list[int], axes: tuple[int, ...]) -> None:
    assert layout(indices, divisors) == axes


@pytest.mark.parametrize("step", [1, 2, 4, -1, -2])
@pytest.mark.parametrize("start", [0, 1, 7, 15, 16, 63, 255])
def test_what_is_taken_has_linear_quotients(start: int, step: int) -> None:
    indices = range(start, start + 100 * step, step)
    axes = layout(indices, [4, 16])
    taken = indices[: prod(axes)]
    assert taken
    coefs = [step * prod(axes[place + 1 :]) for place in range(len(axes))]
    index = Affine(start, tuple(coefs), Extents(axes))
    assert np.broadcast_to(index.array(), axes).ravel().tolist() == list(taken)
    if start % 4 == (0 if step > 0 else 3):
        parts = divide(index, 4)
        assert parts is not None
        for part, wanted in zip(parts, np.divmod(np.array(taken), 4), strict=True):
            values = part.array() if isinstance(part, Affine) else part
            assert np.broadcast_to(values, axes).ravel().tolist() == wanted.tolist()
