"""Messages of whole submissions say what is true of them: counts, shapes that ran, guards, repairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.grade import grade
from grader.records import Report
from grader.reporters.style import Style
from grader.reporters.tables import shapes_table

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = (ROOT / "solutions" / "02_ragged_dims.py").read_text(encoding="utf-8")
CODE = "\n".join(line for line in SOLUTION.splitlines() if "#|" not in line) + "\n"


def edited(*pairs: tuple[str, str]) -> str:
    text = CODE
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def graded(text: str, folder: Path) -> Report:
    path = folder / "02_ragged_dims.py"
    path.write_text(text, encoding="utf-8")
    return grade("02_ragged_dims", path)


SUM = "            acc += As[ty, k] * Bs[k, tx]\n        cuda.syncthreads()\n"


def test_a_sum_that_is_not_begun_anew_adds_each_tile_another_number_of_times(tmp_path: Path) -> None:
    running = "            part += As[ty, k] * Bs[k, tx]\n        acc += part\n        cuda.syncthreads()\n"
    first = "    # Rounded up: where K"
    message = graded(edited((SUM, running), (first, f"    part = float32(0.0)\n{first}")), tmp_path)
    # Of three tiles the first is added in three rounds, the second in two, the third in one.
    assert "adds the products for k = 0..31 more than once" in message.diagnostics[0].headline


def test_a_shape_that_was_not_run_is_evidence_of_nothing(tmp_path: Path) -> None:
    head = "    for t in range((K + TILE - 1) // TILE):\n"
    endless = "    t = 0\n    while t * TILE < K:\n"
    step = SUM + "        if row < M:\n            t += 1\n"
    report = graded(edited((head, endless), (SUM, step)), tmp_path)
    first = report.diagnostics[0]
    assert first.name == "divergent-barrier"
    assert "28" not in first.passed
    hidden = [family for family in report.families if not any(shape.shown for shape in family.shapes)]
    assert not any(shape.ran for family in hidden for shape in family.shapes)
    table = "\n".join(shapes_table(report.families, Style(colour=False, width=100, unicode=True)))
    assert "not run" in table
    assert "0/2" not in table


@pytest.mark.parametrize("test", ["row < M", "row < M and a_col <= K"])
def test_a_guard_in_the_line_of_a_read_is_seen(tmp_path: Path, test: str) -> None:
    guarded = "        if row < M and a_col < K:\n            As[ty, tx] = A[row, a_col]\n        else:\n"
    both = guarded + "            As[ty, tx] = float32(0.0)\n"
    inline = f"        As[ty, tx] = A[row, a_col] if {test} else float32(0.0)\n"
    message = graded(edited((both, inline)), tmp_path).diagnostics[0]
    assert message.name == "out-of-bounds-read"
    assert f"the guard around it is `{test}`" in message.hints[1]
    assert "other index" not in message.hints[2]


def test_whole_numbers_show_nothing_of_lost_fractions(tmp_path: Path) -> None:
    old = "As = cuda.shared.array((TILE, TILE), dtype=float32)"
    sizes = "TILE = 16\n"
    whole = (old, old.replace("float32", "np.int32")), (sizes, "import numpy as np\n\n" + sizes)
    message = graded(edited(*whole), tmp_path).diagnostics[0]
    assert message.name == "precision-loss"
    assert "on whole numbers alone, which do not show it" in message.passed
