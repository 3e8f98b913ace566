"""Every way in which a tiled product goes wrong that the course tells of is reachable as a diagnosis.

``tests/kernels/`` holds the kernels, which test_kernels.py grades; here each leaf of the failure tree
and each row of the guard table is tied to one of them, and to a page.
"""

from __future__ import annotations

import pytest

from grader.diagnosis.catalogue import CATALOGUE
from grader.grade_kernel import grade_kernel
from grader.rubric.load import load
from tests.content.variants import EXERCISES, ROOT, Variant, variants

#: What is seen, the variant that shows it, and the name that it gets.
LEAVES = (
    ("wrong now and then: no barrier after the load", "missing_first_barrier", "shared-read-before-barrier"),
    (
        "wrong now and then: no barrier after the sum",
        "missing_second_barrier",
        "shared-overwrite-before-barrier",
    ),
    ("wrong now and then: a barrier in divergent code", "barrier_in_row_guard", "divergent-barrier"),
    ("wrong on some shapes: slots without a zero", "no_zero_fill", "stale-shared-read"),
    ("wrong on some shapes: a store without its guard", "missing_store_guard", "out-of-bounds-write"),
    ("wrong on some shapes: K no multiple of the tile", "k_tiles_rounded_down", "dropped-k-tail"),
    ("wrong by a thousandth", "half_precision_tile", "precision-loss"),
    ("right and no faster: loads down a column", "uncoalesced_a_load", "uncoalesced-access"),
    ("guarded load, no zero, K ragged: every element wrong", "no_zero_fill_a", "uninitialised-shared-read"),
    (
        "no store guard: the next row is hit before the memory ends",
        "store_guard_row_only",
        "out-of-bounds-write",
    ),
)
#: What only a compiled kernel can show.
COMPILED = ("register-spill", "low-occupancy")


def _variant(kind: str, name: str) -> Variant:
    return next(one for exercise in EXERCISES for one in variants(kind, exercise) if one.name == name)


@pytest.mark.parametrize(("seen", "variant", "name"), LEAVES)
def test_leaf_is_reachable(seen: str, variant: str, name: str) -> None:
    assert _variant("wrong", variant).expected.name == name, seen
    assert (ROOT / CATALOGUE[name].page).is_file()


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_leaf_has_its_page(name: str) -> None:
    assert CATALOGUE[name].needs_compiler
    assert (ROOT / CATALOGUE[name].page).is_file()


def test_guard_without_zero_passes_where_only_m_and_n_are_ragged() -> None:
    variant = _variant("wrong", "no_zero_fill")
    report = grade_kernel(load(ROOT / "rubrics" / "01_tiled_matmul.yaml"), "x.py", variant.source, "")
    by_name = {family.name: family for family in report.families}
    assert all(by_name[name].passed == by_name[name].total for name in ("ragged_m", "ragged_n"))
    assert by_name["ragged_k"].passed == 0
    assert "K" in report.diagnostics[0].passed


def test_rounding_alone_is_no_fault() -> None:
    """Another order of the sum gives other last digits, and passes."""
    assert _variant("odd", "sum_per_tile").expected.outcome == "PASS"
