"""The review checklist on the solution and on kernels that fail one item each."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.review import Item, review
from grader.rubric.load import load
from tests.content.variants import ROOT, plain_solution

RUBRIC = load(ROOT / "rubrics" / "02_ragged_dims.yaml")
SOLUTION = plain_solution("02_ragged_dims")


def _items(text: str) -> tuple[Item, ...]:
    return review(RUBRIC, Path("kernel.py"), text)


def _line(text: str, code: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if code in line)


def test_solution_passes_all_that_is_measured() -> None:
    verdicts = [item.verdict for item in _items(SOLUTION)]
    assert verdicts == ["PASS", "PASS", "PASS", "PASS", "PASS", "NOT JUDGED", "PASS", "PASS"]


@pytest.mark.parametrize(
    ("old", "new", "failing", "diagnosis", "code"),
    [
        (
            "        cuda.syncthreads()\n        for k",
            "        for k",
            0,
            "shared-read-before-barrier",
            "acc += As",
        ),
        (
            "        else:\n            As[ty, tx] = float32(0.0)\n",
            "",
            1,
            "uninitialised-shared-read",
            "acc += As",
        ),
        (
            "    if row < M and col < N:\n        C[",
            "    if row < M:\n        C[",
            2,
            "out-of-bounds-write",
            "C[row, col] =",
        ),
        ("range((K + TILE - 1) // TILE)", "range(K // TILE)", 3, "dropped-k-tail", "range(K // TILE)"),
    ],
)
def test_one_item_fails_with_its_line(old: str, new: str, failing: int, diagnosis: str, code: str) -> None:
    assert SOLUTION.count(old) == 1
    text = SOLUTION.replace(old, new)
    item = _items(text)[failing]
    assert (item.verdict, item.diagnosis, item.line) == ("FAIL", diagnosis, _line(text, code))


def test_column_loads_fail_coalescing() -> None:
    text = SOLUTION.replace(
        "+ ty\n    col = cuda.blockIdx.x * TILE + tx", "+ tx\n    col = cuda.blockIdx.x * TILE + ty"
    )
    text = text.replace("a_col = t * TILE + tx", "a_col = t * TILE + ty").replace(
        "b_row = t * TILE + ty", "b_row = t * TILE + tx"
    )
    text = text.replace("[ty, tx]", "[tx, ty]").replace("As[ty, k] * Bs[k, tx]", "As[tx, k] * Bs[k, ty]")
    item = _items(text)[4]
    assert (item.verdict, item.diagnosis) == ("FAIL", "uncoalesced-access")


def test_broken_text_is_not_judged() -> None:
    assert {item.verdict for item in _items("def tiled_matmul(:\n")} == {"NOT JUDGED"}
