"""Products that a sum lacks although the loop over k comes to them: shown at what keeps them out."""

from __future__ import annotations

import pytest

from grader.diagnosis import explain, rank
from grader.diagnosis.context import Context
from grader.records import Diagnostic, Finding
from tests.unit.checks.test_repair import KERNEL, seen_in

ROUNDS = "(K + TILE - 1) // TILE"
LOADS = KERNEL[
    KERNEL.index("        if row < M and t *") : KERNEL.index("        cuda.syncthreads()\n        for")
]
JOINT = """\
        if row < M and col < N and t * TILE + tx < K and t * TILE + ty < K:
            As[ty, tx] = A[row, t * TILE + tx]
            Bs[ty, tx] = B[t * TILE + ty, col]
        else:
            As[ty, tx] = 0
            Bs[ty, tx] = 0
"""
SHADOWED = (
    "for k in range(TILE):\n            acc += As[ty, k] * Bs[k, tx]",
    "for K in range(TILE):\n            acc += As[ty, K] * Bs[K, tx]",
)


def dropped(text: str) -> Finding:
    found = [one.finding for one in seen_in(text)]
    return next(one for one in rank(found) if one.name == "dropped-k-tail")


def told(text: str) -> Diagnostic:
    names = {"left": "A", "right": "B", "out": "C", "kernel": "product"}
    return explain(dropped(text), Context("k.py", tuple(text.splitlines()), names=names))


@pytest.mark.parametrize(
    ("old", "new", "there"),
    [
        (LOADS, JOINT, "if row < M and col < N"),
        (*SHADOWED, "if row < M and t * TILE"),
        ("range(TILE)", "range(min(TILE, K - t * TILE - 1))", "for k in range(min"),
        (ROUNDS, "(K + TILE - 1) // TILE - 1", "for t in range"),
        (ROUNDS, "K // TILE", "for t in range"),
    ],
)
def test_the_loop_over_k_is_blamed_for_its_rounds_alone(old: str, new: str, there: str) -> None:
    text = KERNEL.replace(old, new, 1)
    finding = dropped(text)
    assert finding.primary is not None
    assert text.splitlines()[finding.primary.line - 1].strip().startswith(there)
    assert finding.facts.get("inside", False) is not there.startswith("for t in")


def test_the_factor_that_is_never_loaded_is_named() -> None:
    finding, message = dropped(KERNEL.replace(LOADS, JOINT)), told(KERNEL.replace(LOADS, JOINT))
    assert finding.slot is not None
    assert message.frame is not None
    array, k = finding.facts["kept_out"], finding.counts["size"] - 1
    row, column = finding.slot.index
    index = f"{row}, {k}" if array == "A" else f"{k}, {column}"
    assert message.frame.primary.text == f"this keeps `{array}[{index}]` from being loaded"
    assert "too early" not in message.because


def test_a_loop_within_that_ends_early_is_not_called_the_loop_over_k() -> None:
    message = told(KERNEL.replace("range(TILE)", "range(min(TILE, K - t * TILE - 1))"))
    assert message.frame is not None
    assert message.frame.primary.text == "the sum is formed in this loop"
    assert message.because.startswith("k = ")
