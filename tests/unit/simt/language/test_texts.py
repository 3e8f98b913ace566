"""Text: what a kernel prints, and that it makes none of a value. Tried with numba-cuda 0.30.4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize(
    "call",
    [
        "print()",
        "print('row', n, a[0], 1.5, True, n > 2)",
        "print(a.shape, (1, (n, 2.5)))",
        "print(cuda.threadIdx.x, cuda.blockIdx)",
        "print('-' * 20, 2 * 'ab', 'a' + 'b' + 'c')",
        "print(f'plain', TITLE)",
        "print(float16(1), int8(2), n and 1.5)",
    ],
)
def test_what_a_kernel_prints(run: Any, call: str) -> None:
    assert run(f"n = b\n{call}\na[0] = 4", out := np.zeros(1), 3, before="TITLE = 'sums'").errors == ()
    assert out[0] == 4


@pytest.mark.parametrize(
    ("call", "got"),
    [
        ("print('x', end='')", "end="),
        ("print('x', b, sep=', ')", "sep="),
        ("print(b, flush=True)", "flush="),
        ("print(a)", "array(float64, 1d)"),
        ("print('a', cuda.shared.array(2, float32))", "array(float32, 1d)"),
        ("print(None)", "none"),
        ("print(float32)", "numba.float32"),
        ("print(1j)", "complex"),
        ("print(('a', 1))", "tuple"),
        ("print(print(1))", "none"),
    ],
)
def test_what_a_kernel_cannot_print(run: Any, call: str, got: str) -> None:
    (finding,) = run(f"{call}\na[0] = 4", np.zeros(1), 3).errors
    assert (finding.name, finding.facts["rule"], finding.facts["got"]) == (
        "type-error",
        "print-argument",
        got,
    )


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("print(f'b is {b}')", "'b is', b"),
        ("print(f'{b:3d} of {c + 1}')", "b, 'of', c + 1"),
        ("print(f'{3}')", "3"),
        ("x = f'{b}'", "b"),
        ("print(str(b))", "b"),
        ("print(repr('a'))", "'a'"),
        ("assert b > 9, f'{b} is too small'", "b, 'is too small'"),
        ("if b > 9:\n    raise ValueError(f'{b} is too large')", "b, 'is too large'"),
        ("raise ValueError(str(b))", "b"),
    ],
)
def test_a_kernel_makes_no_text_of_a_value(run: Any, statement: str, wanted: str) -> None:
    (finding,) = run(f"{statement}\na[0] = 4", np.zeros(1), 3, 4).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "text-of-value")
    assert finding.facts["wanted"] == wanted


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("if b > 9:\n    raise ValueError('too large', b)", "b"),
        ("i = cuda.grid(1)\nif b > 9:\n    raise ValueError(i + 1)", "i + 1"),
        ("assert b < 9, a[0]", "a[0]"),
    ],
)
def test_an_exception_carries_no_value_of_the_run(run: Any, statement: str, name: str) -> None:
    (finding,) = run(f"{statement}\na[0] = 4", np.zeros(1), 3).errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "exception-value")
    assert finding.facts["name"] == name


@pytest.mark.parametrize(
    "statement",
    [
        "if b > 9:\n    raise ValueError",
        "if b > 9:\n    raise ValueError('too large', 9, 1.5, SIZE, TITLE)",
        "assert b < 9, 'x' + 'y'",
        "assert b < 9, SIZE + 1",
    ],
)
def test_an_exception_carries_constants(run: Any, statement: str) -> None:
    before = "SIZE, TITLE = 3, 'sums'"
    assert run(f"{statement}\na[0] = 4", out := np.zeros(1), 3, before=before).errors == ()
    assert out[0] == 4


def test_the_length_of_a_text(run: Any) -> None:
    assert run("a[0] = len('four') + len(f'six')", out := np.zeros(1)).errors == ()
    assert out[0] == 7
