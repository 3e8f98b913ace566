from __future__ import annotations

import pytest

from grader.rubric.load import RubricError, load_text
from grader.rubric.timing import Operands, operands_of, product_sizes, timed_shapes

RUBRIC = """\
title: Product
kind: kernel
kernel:
  name: product
  args: {A: "float32[M, K]", B: "float32[K, N]", C: "out float32[M, N]", M: int, N: int, K: int}
  constants: {TILE: [4, 8]}
  launch: {block: [TILE, TILE], grid: ["ceil(N / TILE)", "ceil(M / TILE)"]}
  reference: "A @ B"
suites:
  shown: {shapes: [["4*TILE", "4*TILE", "4*TILE"]]}
checks:
  result: {points: 40}
timing:
  sizes:
    - [4096, 4096, 4096]
    - ["100 * TILE + 1", 1000, 30]
"""


def load(text: str = RUBRIC):
    return load_text(text, exercise="07")


def refusal(old: str, new: str) -> RubricError:
    assert old in RUBRIC
    with pytest.raises(RubricError) as caught:
        load_text(RUBRIC.replace(old, new), exercise="07", path="rubrics/07.yaml")
    return caught.value


def test_sizes_are_worked_out_with_the_submission_s_constants() -> None:
    shapes = timed_shapes(load(), {"TILE": 8})
    assert [tuple(shape.dims.items()) for shape in shapes] == [
        (("M", 4096), ("N", 4096), ("K", 4096)),
        (("M", 801), ("N", 1000), ("K", 30)),
    ]
    assert {shape.shown for shape in shapes} == {True}


def test_without_sizes_a_power_of_two_and_a_ragged_one_are_timed() -> None:
    bare = load(RUBRIC[: RUBRIC.index("timing:")] + "timing: {}\n")
    assert [tuple(shape.dims.values()) for shape in timed_shapes(bare, {"TILE": 4})] == [
        (4096, 4096, 4096),
        (1000, 1000, 1000),
    ]


def test_without_the_key_nothing_is_timed() -> None:
    assert timed_shapes(load(RUBRIC[: RUBRIC.index("timing:")]), {"TILE": 4}) == ()


def test_the_operands_are_those_of_the_reference() -> None:
    rubric = load(
        RUBRIC.replace('A: "float32[M, K]", B: "float32[K, N]"', 'B: "float32[K, N]", A: "float32[M, K]"')
    )
    assert rubric.kernel is not None
    assert operands_of(rubric.kernel) == Operands("A", "B", "C", "float32")
    assert product_sizes(rubric.kernel, {"M": 3, "N": 4, "K": 5}) == (3, 4, 5)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("[4096, 4096, 4096]", "[4096, 4096]", 15, "a size needs 3 numbers, for M, N, K, and has 2"),
        ("100 * TILE", "100 * TIEL", 16, "'TIEL' in '100 * TIEL + 1' is not a name here"),
        ("[4096, 4096, 4096]", "[4096, 0, 4096]", 13, "N = 0 is no whole number from 1 to 16384"),
        ("[4096, 4096, 4096]", "[32768, 1, 1]", 13, "M = 32768 is no whole number from 1 to 16384"),
        ('"100 * TILE + 1"', '"TILE / 8"', 13, "with TILE = 4: M = TILE / 8 is no whole number"),
        ("  sizes:", "  shapes:", 14, "unknown key 'shapes' in timing; allowed: sizes"),
        ('reference: "A @ B"', 'reference: "A @ B + 1"', 13, "one product, such as 'A @ B', is timed"),
        ('"float32[K, N]"', '"float32[N, K]"', 13, "shapes [M, K], [K, N] and [M, N]"),
        ("M: int,", 'D: "float32[M]", M: int,', 13, "the arrays A, B, C and no other"),
        ('B: "float32', 'B: "float64', 13, "arrays are all float32 or all float64"),
        ("float32", "int32", 13, "arrays are all float32 or all float64"),
    ],
)
def test_what_cannot_be_timed_is_refused_with_its_line(old: str, new: str, line: int, what: str) -> None:
    error = refusal(old, new)
    assert what in str(error)
    assert error.line == line


def test_timing_belongs_to_kernels() -> None:
    question = "{id: a, kind: number, title: A, points: 1, value: 1}"
    text = f"title: Q\nkind: quiz\ntiming: {{}}\nquestions:\n  - {question}\n"
    with pytest.raises(RubricError, match="'timing' belongs to a rubric of kind kernel"):
        load(text)
