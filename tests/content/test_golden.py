"""What a student reads, whole: one rendering for each fault that the exercises are made to teach.

After a wanted change of wording, write the files anew and read the difference:
    GOLDEN=write .venv/bin/python -m pytest tests/content/test_golden.py
"""

from __future__ import annotations

import os

import pytest

from grader.reporters import terminal
from tests.content.variants import EXERCISES, ROOT, Variant, graded, variants

FOLDER = ROOT / "tests" / "kernels" / "golden"
SHOWN = {
    "01_tiled_matmul": (
        "missing_first_barrier",
        "missing_second_barrier",
        "barrier_in_row_guard",
        "warp_barrier_under_a_condition",
        "early_return",
        "no_zero_fill",
        "reads_a_tile_transposed",
        "k_tiles_rounded_down",
        "adds_onto_c",
        "naive",
        "uncoalesced_a_load",
        "launch_config_axes_swapped",
        "launch_config_block_too_large",
        "syntax_error",
        "renamed_kernel",
        "fewer_parameters",
        "unfinished",
        "as_it_stands",
        "float64_accumulator",
    ),
    "02_ragged_dims": (
        "no_zero_fill_a",
        "zero_before_the_first_tile_only",
        "missing_store_guard",
        "load_row_unguarded",
        "load_k_unguarded",
        "k_tiles_from_grid",
        "one_guard_for_both_loads",
        "interior_only",
        "half_precision_tile",
        "shared_shape_with_arithmetic",
        "empty_kernel",
        "one_thread_computes_all",
        "constant_from_a_file",
    ),
}
VARIANTS = [
    variant
    for exercise in EXERCISES
    for kind in ("wrong", "odd")
    for variant in variants(kind, exercise)
    if variant.name in SHOWN[exercise]
]


def test_every_name_is_a_variant() -> None:
    assert {(one.exercise, one.name) for one in VARIANTS} == {
        (exercise, name) for exercise, names in SHOWN.items() for name in names
    }


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_rendering(variant: Variant) -> None:
    shown = terminal.render(graded(variant), colour=False, width=100, unicode=True)
    golden = FOLDER / f"{variant}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")
