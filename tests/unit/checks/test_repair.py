"""Causes confirmed by experiment, on edits of a small correct kernel."""

from __future__ import annotations

import pytest

from grader.checks.evidence import Seen, collect
from grader.checks.launching import Launcher, Trial
from grader.checks.partial import Attempt, Reach, part_of
from grader.checks.repair import Confirmed, confirm
from grader.checks.repairs import Repair
from grader.diagnosis import rank
from grader.records import Finding
from grader.rubric.load import load_text
from grader.rubric.suites import shapes_of
from grader.simt import parse

RUBRIC = load_text(
    """
title: Product
kind: kernel
kernel:
  name: product
  args: {A: "float32[M, K]", B: "float32[K, N]", C: "out float32[M, N]", M: int, N: int, K: int}
  constants: {TILE: [4]}
  launch: {from: launch_config, arguments: [M, N]}
  reference: "A @ B"
suites:
  shown: {shapes: [[8, 8, 8], [10, 7, 9], [6, 9, 3]]}
  hidden: {families: [aligned, all_ragged, one_row, one_column, deep], per_family: 1}
checks: {result: {points: 10}}
""",
    exercise="test",
)
KERNEL = """\
from numba import cuda, float32
TILE = 4

@cuda.jit
def product(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0.0)
    for t in range((K + TILE - 1) // TILE):
        if row < M and t * TILE + tx < K:
            As[ty, tx] = A[row, t * TILE + tx]
        else:
            As[ty, tx] = 0
        if t * TILE + ty < K and col < N:
            Bs[ty, tx] = B[t * TILE + ty, col]
        else:
            Bs[ty, tx] = 0
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc

def launch_config(M, N):
    grid = ((N + TILE - 1) // TILE, (M + TILE - 1) // TILE)
    return grid, (TILE, TILE)
"""
ZERO_A = "        else:\n            As[ty, tx] = 0\n"
ZERO_B = "        else:\n            Bs[ty, tx] = 0\n"


def trials_of(text: str, tile: int = 4) -> tuple[Launcher, tuple[Trial, ...]]:
    assert RUBRIC.kernel is not None
    launcher = Launcher(parse(text), RUBRIC.kernel, "test", {"TILE": tile})
    return launcher, launcher.suite(shapes_of(RUBRIC, {"TILE": tile}))


def seen_in(text: str) -> tuple[Seen, ...]:
    launcher, trials = trials_of(text)
    return collect(launcher, RUBRIC.checks, trials)


def confirmed(*edits: tuple[str, str]) -> Confirmed | None:
    text = KERNEL
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return confirmed_text(text)


def confirmed_text(text: str, tile: int = 4) -> Confirmed | None:
    launcher, trials = trials_of(text, tile)
    seen = {id(one.finding): one for one in collect(launcher, RUBRIC.checks, trials)}
    ordered = rank(one.finding for one in seen.values() if one.finding.severity == "error")
    return confirm(launcher, trials, [seen[id(finding)] for finding in ordered])


def test_a_correct_kernel_has_no_errors() -> None:
    assert [one.finding.name for one in seen_in(KERNEL) if one.finding.severity == "error"] == []


@pytest.mark.parametrize(
    ("old", "new", "cause", "repair"),
    [
        (
            "        cuda.syncthreads()\n        for k",
            "        for k",
            "shared-read-before-barrier",
            ("barrier", 21),
        ),
        (
            "Bs[k, tx]\n        cuda.syncthreads()",
            "Bs[k, tx]",
            "shared-overwrite-before-barrier",
            ("barrier", 24),
        ),
        (ZERO_A, "", "uninitialised-shared-read", ("fill-zero", 14)),
        (ZERO_B, "", "uninitialised-shared-read", ("fill-zero", 18)),
        (
            "    if row < M and col < N:\n        C[row, col] = acc",
            "    C[row, col] = acc",
            "out-of-bounds-write",
            ("guard-store", 26),
        ),
        ("range((K + TILE - 1) // TILE)", "range(K // TILE)", "dropped-k-tail", ("round-up", 13)),
        (
            "range((K + TILE - 1) // TILE)",
            "range(cuda.gridDim.x)",
            "dropped-k-tail",
            ("tile-count", 13),
        ),
        ("C[row, col] = acc", "C[row, col] += acc", "accumulated-into-output", ("assign-output", 27)),
        ("As[ty, k] *", "As[k, ty] *", "transposed-result", ("swap-indices", 24)),
        (
            "    acc = float32(0.0)\n",
            "    acc = float32(0.0)\n    if row >= M or col >= N:\n        return\n",
            "exit-before-barrier",
            ("keep-threads", 14),
        ),
        (
            "        cuda.syncthreads()\n        for k",
            "        if row < M:\n            cuda.syncthreads()\n        for k",
            "divergent-barrier",
            ("lift-barrier", 23),
        ),
        (
            "((N + TILE - 1) // TILE, (M + TILE - 1) // TILE)",
            "((M + TILE - 1) // TILE, (N + TILE - 1) // TILE)",
            "grid-too-small",
            ("swap-grid", 30),
        ),
    ],
)
def test_a_single_cause_is_confirmed_by_its_repair(
    old: str, new: str, cause: str, repair: tuple[str, int]
) -> None:
    found = confirmed((old, new))
    assert found is not None
    assert [one.name for one in found.findings] == [cause]
    assert [(one.code, one.line) for one in found.repairs] == [repair]


def test_two_guards_without_a_zero_are_mended_together() -> None:
    found = confirmed((ZERO_A, ""), (ZERO_B, ""))
    assert found is not None
    assert {one.name for one in found.findings} == {"stale-shared-read"}
    assert [(one.code, one.line) for one in found.repairs] == [("fill-zero", 14), ("fill-zero", 16)]


def test_two_different_causes_are_mended_as_a_pair() -> None:
    found = confirmed((ZERO_A, ""), ("Bs[k, tx]\n        cuda.syncthreads()", "Bs[k, tx]"))
    assert found is not None
    assert [(one.code, one.line) for one in found.repairs] == [("barrier", 22), ("fill-zero", 14)]
    assert [one.name for one in found.findings] == [
        "shared-overwrite-before-barrier",
        "uninitialised-shared-read",
    ]


def test_a_race_between_warps_is_shown_by_an_order_of_the_warps() -> None:
    # 8 x 8 threads are two warps; 4 x 4 are one, in which lockstep hides the race.
    for tile, wrong in ((4, False), (8, True)):
        text = KERNEL.replace("TILE = 4", f"TILE = {tile}").replace(
            "Bs[k, tx]\n        cuda.syncthreads()", "Bs[k, tx]"
        )
        found = confirmed_text(text, tile)
        assert found is not None
        assert found.shown is not None
        assert (found.shown.wrong, found.shown.mended) == (wrong, wrong)


def test_what_no_repair_mends_is_not_confirmed() -> None:
    assert confirmed(("C[row, col] = acc", "C[row, col] = acc if row != 2 else 7.0")) is None


@pytest.mark.parametrize(
    ("old", "new", "name", "there", "instead"),
    [
        ("acc += As", "acc -= As", "wrong-result", "acc -= As", "acc += As[ty, k] * Bs[k, tx]"),
        ("float32(0.0)", "float32(1.0)", "wrong-result", "acc = float32(1.0)", "0.0"),
        ("row < M and t", "row < M - 1 and t", "wrong-result", "row < M - 1 and t", ""),
        ("= A[row, t * TILE + tx]", "= A[0, t * TILE + tx]", "wrong-result", "= A[0,", "row"),
        ("row = cuda.blockIdx.y * TILE + ty", "row = ty", "unwritten-output", "row = ty", None),
        ("range(TILE)", "range(TILE - 1)", "wrong-result", "range(TILE - 1)", "range(TILE)"),
        ("C[row, col] = acc", "C[row, col] = -acc", "wrong-result", "C[row, col] = -acc", "acc"),
        ("As[ty, k] * Bs", "As[ty, ty] * Bs", "wrong-result", "As[ty, ty] * Bs", "k"),
    ],
)
def test_a_wrong_result_is_traced_to_its_line(
    old: str, new: str, name: str, there: str, instead: str | None
) -> None:
    found = confirmed((old, new))
    assert found is not None
    (finding,) = found.findings
    text = KERNEL.replace(old, new, 1)
    assert finding.primary is not None
    assert there in text.splitlines()[finding.primary.line - 1]
    assert finding.name == name
    assert instead is None or finding.facts["instead"] == instead


def first_error(old: str, new: str) -> Finding:
    assert old in KERNEL
    seen = seen_in(KERNEL.replace(old, new, 1))
    return rank(one.finding for one in seen if one.finding.severity == "error")[0]


def test_the_missing_products_are_counted() -> None:
    finding = first_error("range((K + TILE - 1) // TILE)", "range(K // TILE)")
    assert finding.facts["cut"] == "full-tiles"
    assert finding.facts["missing"] == ((0, 2),)
    assert (finding.counts["first"], finding.counts["last"], finding.counts["size"]) == (0, 2, 3)
    assert finding.facts["shape"] == (("M", 6), ("N", 9), ("K", 3))
    assert finding.slot is not None
    assert (finding.slot.array, finding.slot.index) == ("C", (0, 0))
    assert finding.primary is not None
    assert finding.primary.line == 13


def test_products_missing_from_every_tile_point_at_the_inner_loop() -> None:
    finding = first_error("for k in range(TILE)", "for k in range(TILE - 1)")
    assert finding.name == "wrong-result"
    assert finding.facts["missing"] == ((3, 3), (7, 7))
    assert finding.primary is not None
    assert finding.primary.line == 23


def test_products_from_a_wrong_place_are_misplaced() -> None:
    finding = first_error("C[row, col] = acc", "C[row, (col + 1) % N] = acc")
    assert (finding.name, finding.facts["misplaced"]) == ("wrong-result", True)


def test_right_factors_with_a_lost_sign_are_not_misplaced() -> None:
    finding = first_error("As[ty, k] * Bs[k, tx]", "As[ty, k] * abs(Bs[k, tx])")
    assert finding.name == "wrong-result"
    assert "misplaced" not in finding.facts


@pytest.mark.parametrize(
    "load",
    [
        "As[ty ^ 1, k] * Bs[k, tx]",
        "As[ty, k] * Bs[k, tx ^ 1]",
        "As[ty, (k + 1) % TILE if K == 8 else k] * Bs[k, tx]",
    ],
)
def test_factors_of_another_row_column_or_k_are_misplaced(load: str) -> None:
    assert first_error("As[ty, k] * Bs[k, tx]", load).facts["misplaced"] is True


def test_sums_of_other_things_are_not_read_as_products() -> None:
    finding = first_error("As[ty, k] * Bs[k, tx]", "As[ty, k] + Bs[k, tx]")
    assert finding.name == "wrong-result"
    assert "repeated" not in finding.facts


def test_findings_are_folded_by_line_pair_and_count_their_shapes() -> None:
    text = KERNEL.replace(ZERO_A, "").replace(ZERO_B, "")
    seen = [one for one in seen_in(text) if one.finding.name == "stale-shared-read"]
    assert [one.finding.slot.array for one in seen if one.finding.slot] == ["As", "Bs"]
    one = seen[0]
    assert one.finding.counts["shapes"] == len(one.trials) > 1
    assert one.finding.facts["family"] == "shown"
    assert all(not trial.right for trial in one.trials)


def test_a_stale_slot_that_harms_nothing_is_no_error() -> None:
    text = KERNEL.replace(ZERO_A, "").replace(
        "for k in range(TILE)", "for k in range(min(TILE, K - t * TILE))"
    )
    assert [one.finding.name for one in seen_in(text) if one.finding.severity == "error"] == []


FIRST_TILE_SKIPPED = ("range((K + TILE - 1) // TILE)", "range(1, (K + TILE - 1) // TILE)")
ROW_OF_FIRST_TILE = ("= B[t * TILE + ty, col]", "= B[ty, col]")


def test_of_two_faults_the_one_that_mends_some_shapes_is_named() -> None:
    """Without the first fault, the second harms no shape whose K is that of one tile."""
    part = confirmed(FIRST_TILE_SKIPPED, ROW_OF_FIRST_TILE)
    assert part is not None
    assert part.part is not None
    _, trials = trials_of(KERNEL)
    one_tile = sum(trial.shape.dims["K"] <= 4 for trial in trials)
    assert (part.part.shapes, part.part.failing) == (one_tile, len(trials))
    assert (part.findings[0].name, part.findings[0].primary and part.findings[0].primary.line) == (
        "wrong-result",
        13,
    )
    assert part.whole is not None
    assert part.whole.primary is not None
    assert part.whole.primary.line == 27
    # With the named fault mended the other is named, and confirmed.
    left = confirmed(ROW_OF_FIRST_TILE)
    assert left is not None
    assert left.part is None


COARSE = """
    sums = cuda.local.array(2, float32)
    for c in range(2):
        sums[c] = 0
    for t in range((K + TILE - 1) // TILE):
        As[ty, tx] = A[row, t * TILE + tx] if row < M and t * TILE + tx < K else 0
        for c in range(2):
            Bs[ty, tx] = B[t * TILE + ty, col + c * TILE] if t * TILE + ty < K and col + c * TILE < N else 0
            cuda.syncthreads()
            for k in range(TILE):
                sums[0] += As[ty, k] * Bs[k, tx]
            cuda.syncthreads()
    for c in range(2):
        if row < M and col + c * TILE < N:
            C[row, col + c * TILE] = sums[c]{}
"""


@pytest.mark.parametrize("also", ["", " * 2 - 7"])
def test_the_rounds_over_a_thread_s_columns_are_no_part_of_a_sum_over_k(also: str) -> None:
    """Half the columns come right with one round less, which is no repair of a sum in the wrong place."""
    head, foot = KERNEL.index("    acc = "), KERNEL.index("\ndef launch_config")
    text = KERNEL[:head] + COARSE.format(also).lstrip("\n") + KERNEL[foot:]
    text = text.replace("blockIdx.x * TILE", "blockIdx.x * TILE * 2")
    found = confirmed_text(text.replace("(N + TILE - 1) // TILE, ", "(N + 2 * TILE - 1) // (2 * TILE), "))
    assert found is not None
    expected = ("suspect-output", "sums[c]") if also else ("suspect-index", "c")
    assert [(one.code, one.text) for one in found.repairs] == [expected]


@pytest.mark.parametrize(
    ("family", "code", "speaks"),
    [
        ("one_row", "suspect-index", False),
        ("one_column", "swap-indices", False),
        ("one_row", "suspect-guard", True),
        ("aligned", "suspect-index", True),
    ],
)
def test_a_shape_of_one_row_or_column_speaks_for_no_index(family: str, code: str, speaks: bool) -> None:
    launcher, trials = trials_of(KERNEL.replace("C[row, col] = acc", "C[row, col] = -acc"))
    ordered = sorted(trials, key=lambda trial: trial.shape.family != family)
    attempt = Attempt(Finding("wrong-result", "error"), Repair(code, 1, lambda _: True), launcher, Reach(1))
    assert (part_of([attempt], ordered, ordered[0]) is not None) is speaks


def test_a_wrong_result_that_no_edit_brings_nearer_has_no_cause() -> None:
    assert confirmed(("C[row, col] = acc", "C[row, col] = acc * acc - 3 * K"), ROW_OF_FIRST_TILE) is None


def test_a_sum_cut_short_is_named_by_a_shape_that_shows_it() -> None:
    """Where K is 1 the only product is lacking, which tells nothing; a deeper sum lacks its last one."""
    finding = first_error("(K + TILE - 1) // TILE", "(K + TILE - 1) // (TILE + 1)")
    assert finding.name == "dropped-k-tail"


def test_exchanged_indices_in_a_device_function_are_found_there() -> None:
    text = KERNEL.replace(
        "            acc += As[ty, k] * Bs[k, tx]\n", "            acc += term(As, Bs, ty, tx, k)\n"
    )
    term = "@cuda.jit(device=True)\ndef term(left, right, row, col, k):\n"
    term += "    return left[row, k] * right[col, k]\n\n"
    found = confirmed_text(text.replace("@cuda.jit\ndef product", term + "@cuda.jit\ndef product"))
    assert found is not None
    [finding] = found.findings
    assert (finding.name, finding.facts["rule"], finding.slot and finding.slot.array) == (
        "transposed-result",
        "tile",
        "right",
    )
    assert finding.primary is not None
    assert finding.primary.line == 6


DEVICE = """
@cuda.jit(device=True)
def multiply(left, right, acc):
    for k in range(TILE):
        acc += left[cuda.threadIdx.y, k] * right[k, cuda.threadIdx.x]
    return acc

@cuda.jit
def product("""


def test_a_race_in_a_device_function_is_mended_where_the_kernel_calls_it_and_shown() -> None:
    text = KERNEL.replace("TILE = 4", "TILE = 16").replace("\n@cuda.jit\ndef product(", DEVICE, 1)
    loop = "        for k in range(TILE):\n            acc += As[ty, k] * Bs[k, tx]\n"
    assert loop in text
    called = text.replace(loop, "        acc = multiply(As, Bs, acc)\n")
    found = confirmed_text(called.replace("acc)\n        cuda.syncthreads()\n", "acc)\n"), 16)
    assert found is not None
    assert found.shown is not None
    assert (found.findings[0].name, found.repairs[0].code) == ("shared-overwrite-before-barrier", "barrier")
    assert called.splitlines()[found.repairs[0].line - 1].strip() == "acc = multiply(As, Bs, acc)"  # type: ignore[operator]
    assert (found.shown.wrong, found.shown.mended) == (True, True)
