"""What a message says of a place, a count or a cause holds for the finding it is made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.diagnosis import Context, explain, not_barriers
from grader.diagnosis.figures import where_in_sum
from grader.records import Diagnostic, Finding, Slot, Span
from tests.unit.diagnosis.examples import (
    ALL_RAGGED,
    EXAMPLES,
    TILED,
    context,
    edited,
    place,
    shape,
)


def labels(message: Diagnostic) -> list[str]:
    assert message.frame is not None
    both = (message.frame.primary, message.frame.secondary)
    return [label.text for label in both if label is not None]


def traced(name: str, kind: str, old: str, source: str = TILED, **counts: int) -> Diagnostic:
    facts = {"suspect": kind, "instead": "x"}
    finding = Finding(
        name,
        "error",
        place(source, old),
        place(source, "C[row, col]"),
        slot=Slot("C", "global", (0, 0)),
        counts=counts,
        facts=facts,
    )
    return explain(finding, replace(context(source), confirmed="experiment", repair="`x` on line 3"))


@pytest.mark.parametrize("name", ["unwritten-output", "wrong-result", "dropped-k-tail", "repeated-k-tail"])
def test_a_repair_place_is_not_called_a_store(name: str) -> None:
    message = traced(name, "mirrored", "cuda.blockIdx.y * TILE + ty", first=32, last=39, size=40)
    assert labels(message)[0] == "the index is made here"
    assert "store" in labels(message)[1]
    assert "`x`" not in " ".join([message.headline, *labels(message), *message.hints[:2]])
    assert "with `x` on line 3" in message.hints[2]


def test_a_range_is_asked_about_its_k() -> None:
    message = traced("wrong-result", "range", "range(TILE)")
    assert labels(message)[0] == "the rounds of the loop are counted here"
    assert message.hints[1] == "for which k does the loop on line 27 add a product?"


def test_a_loop_is_not_called_a_store() -> None:
    loop = "for t in range((K + TILE - 1) // TILE)"
    finding = Finding("wrong-result", "error", place(TILED, loop), place(TILED, "C[row, col]"))
    message = explain(finding, context(TILED))
    assert labels(message) == ["the sum is formed in this loop", "the wrong values are stored here"]
    assert message.hints[2] == "let the loop on line 15 come to every k below K, with the factors of that k"


@pytest.mark.parametrize("facts", [{}, {"missing": ((0, 15),)}, {"rule": "without-first"}])
def test_a_confirmed_cause_is_not_called_unknown(facts: dict[str, object]) -> None:
    finding = Finding("wrong-result", "error", place(TILED, "C[row, col]"), facts=facts)  # type: ignore[arg-type]
    confirmed = explain(finding, replace(context(TILED), confirmed="experiment"))
    assert "cause" not in confirmed.because
    assert "cause" in explain(finding, context(TILED)).because


def test_counts_of_another_shape_are_left_out() -> None:
    finding = Finding(
        "transposed-result",
        "error",
        place(TILED, "C[row, col]"),
        slot=Slot("C", "global", (0, 0)),
        counts={"wrong": 4096, "elements": 4096},
        facts={"rule": "operand", "got": 98.0, "expected": -1225.0},
    )
    message = explain(finding, replace(context(TILED), shape=ALL_RAGGED))
    assert message.seen == ("M, N, K = 50, 37, 40: all 1,850 elements wrong",)
    own = explain(finding, replace(context(TILED), shape=shape("aligned", (64, 64, 64), 4096)))
    assert own.seen[0] == "M, N, K = 64, 64, 64: all 4,096 elements wrong"
    assert own.seen[1] == "`C[0, 0]` is 98 and should be -1,225"


@pytest.mark.parametrize(
    ("ranges", "where"),
    [
        ([(0, 15)], "the start of the sum"),
        ([(32, 39)], "the end of the sum"),
        ([(0, 39)], "all of the sum"),
        ([(8, 9)], ""),
        ([(0, 0), (16, 16), (32, 32)], "the start of each tile"),
        ([(15, 15), (31, 31)], "the end of each full tile"),
        ([(1, 1), (3, 3)], ""),
        ([], ""),
    ],
)
def test_where_missing_products_lie(ranges: list[tuple[int, int]], where: str) -> None:
    assert where_in_sum(ranges, 40, [16]) == where


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (0, 15, "the loop over k starts too late: k = 0..15, the start of the sum, is left out"),
        (32, 39, "the loop over k ends too early"),
        (8, 15, "k = 8..15, some of the sum, is left out"),
    ],
)
def test_a_cut_sum_is_told_by_its_range(first: int, last: int, said: str) -> None:
    example = EXAMPLES["dropped-k-tail"]
    finding = replace(example.finding, facts={}, counts={"first": first, "last": last, "size": 40})
    assert explain(finding, example.context).because.startswith(said)


def test_missing_products_are_placed_in_the_headline() -> None:
    facts = {"missing": ((0, 0), (16, 16), (32, 32))}
    slot = Slot("C", "global", (0, 0))
    finding = Finding("wrong-result", "error", place(TILED, "C[row, col]"), slot=slot, facts=facts)
    headline = explain(finding, replace(context(TILED), shape=ALL_RAGGED)).headline
    assert headline.endswith("`C[0, 0]` lacks k = 0, 16, 32, the start of each tile")


def precision(code: str, kind: str, rule: str = "truncated-operands") -> Diagnostic:
    source = edited("acc += As[ty, k] * Bs[k, tx]", f"acc += {code}")
    facts = {"rule": rule, "suspect": kind}
    finding = Finding(
        "precision-loss", "error", place(source, code), place(source, "C[row, col]"), facts=facts
    )
    return explain(finding, context(source))


def test_truncation_is_told_of_the_conversion() -> None:
    message = precision("int32(As[ty, k] * Bs[k, tx])", "conversion")
    assert message.headline == "the fractions are cut off by `int32(As[ty, k] * Bs[k, tx])`"
    assert labels(message) == ["the value is converted here", "the result is stored here"]


def test_a_float16_conversion_loses_digits_not_fractions() -> None:
    message = precision("float16(As[ty, k] * Bs[k, tx])", "conversion", "half-precision")
    assert message.headline.startswith("digits are cut off by `float16(")


def test_a_type_found_beside_another_fault_is_told_as_such() -> None:
    source = TILED.replace(
        "As = cuda.shared.array((TILE, TILE), float32)", "As = cuda.shared.array((TILE, TILE), int8)"
    )
    facts = {"rule": "", "suspect": "type", "instead": "float32"}
    finding = Finding(
        "precision-loss", "error", place(source, "int8"), place(source, "C[row, col]"), facts=facts
    )
    message = explain(finding, replace(context(source), confirmed="experiment", causes=2))
    assert message.headline == "the fractions are lost in an array of type `int8`"
    assert labels(message) == ["the type is chosen here", "the result is stored here"]


@pytest.mark.parametrize("rule", ["truncated-operands", "truncated-result", "few-digits", "half-precision"])
def test_untraced_precision_names_no_array(rule: str) -> None:
    finding = Finding("precision-loss", "error", place(TILED, "C[row, col]"), facts={"rule": rule})
    message = explain(finding, context(TILED))
    assert "array" not in message.headline
    assert "array" not in message.because


@pytest.mark.parametrize("name", ["out-of-bounds-read", "out-of-bounds-write"])
def test_a_negative_index_is_before_the_start(name: str) -> None:
    store = name.endswith("write")
    finding = Finding(
        name,
        "error",
        place(TILED, "C[row, col]" if store else "A[row, a_col]"),
        slot=Slot("C" if store else "A", "global", (0, -16)),
        counts={"threads": 570},
        facts={"axis": 1, "size": 1},
    )
    message = explain(finding, replace(context(TILED), failing=(), passing=()))
    said = " ".join([message.headline, *message.seen, message.because, *message.hints, *labels(message)])
    assert "before the start of" in message.headline
    assert "past the end" not in said
    assert ">= 0" in message.hints[2]
    assert "column 0 only" in labels(message)[0]


def test_a_negative_index_gives_no_reason_for_the_shapes_that_pass() -> None:
    finding = Finding(
        "out-of-bounds-read",
        "error",
        place(TILED, "A[row, a_col]"),
        slot=Slot("A", "global", (0, -16)),
        facts={"axis": 1, "size": 40},
    )
    message = explain(finding, context(TILED))
    assert (
        message.passed
        == "fails exactly when K is not a multiple of TILE: 3 of 3 such shapes; the other 3 pass"
    )


ELSE_STORE = edited(
    "        if row < M and a_col < K:\n            As[ty, tx] = A[row, a_col]\n        else:\n",
    "        if ty == 0:\n            As[0, tx] = 1.0\n        elif row < M and a_col < K:\n"
    "            As[0, ty] = A[row, a_col]\n        else:\n",
)


def skipped(source: str, store_line: int, guard: str) -> Diagnostic:
    finding = Finding(
        "uninitialised-shared-read",
        "error",
        place(source, "As[ty, k]"),
        place(source, guard),
        slot=Slot("As", "shared", (0, 1)),
        counts={"skipped": 31, "block_threads": 256},
        facts={"store_line": store_line},
    )
    return explain(finding, context(source))


def test_a_store_in_an_else_is_skipped_where_the_test_is_true() -> None:
    line = place(ELSE_STORE, "As[ty, tx] = 0.0").line
    message = skipped(ELSE_STORE, line, "row < M and a_col < K")
    said = f"true, or not reached, for 31 of 256 threads, so line {line} stores nothing for them"
    assert labels(message)[1] == said
    first = place(ELSE_STORE, "if ty == 0").line
    assert (
        message.hints[2]
        == f"let every branch of the `if` on line {first} fill the thread's own slot of the tile"
    )


def test_a_store_under_a_plain_test_is_skipped_where_it_is_false() -> None:
    source = edited("        else:\n            As[ty, tx] = 0.0\n", "")
    line = place(source, "As[ty, tx] = A").line
    message = skipped(source, line, "row < M and a_col < K")
    assert labels(message)[1] == f"false for 31 of 256 threads, so line {line} stores nothing for them"


def test_the_shapes_of_a_finding_are_counted_only_where_they_tell_something() -> None:
    example = EXAMPLES["stale-shared-read"]
    counts = {**example.finding.counts, "shapes": 17}
    seen = explain(replace(example.finding, counts=counts), example.context).seen
    assert seen[-1] == "this very finding is made on 17 shapes of the suite"
    counts["shapes"] = len(example.context.failing)
    assert "shapes" not in explain(replace(example.finding, counts=counts), example.context).seen[-1]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("cuda.syncthreads", "without `()` it only names the function, and nothing is called"),
        ("cuda.syncwarp()", "it waits for the threads of one warp only, not for the block"),
        (
            "cuda.threadfence_block()",
            "it orders this thread's own accesses to memory and makes no thread wait",
        ),
    ],
)
def test_a_line_that_is_no_barrier_is_explained(line: str, why: str) -> None:
    barrier = "        cuda.syncthreads()\n        for k"
    source = edited(barrier, f"        {line}\n        for k")
    finding = Finding(
        "shared-read-before-barrier", "error", place(source, "As[ty, k]"), place(source, "As[ty, tx] = A")
    )
    at = source[: source.index("for k")].count("\n")
    said = f"line {at}, `{line}`, is no barrier: {why}"
    assert said in explain(finding, context(source)).seen
    wrapped = Finding(
        "shared-overwrite-before-barrier",
        "error",
        place(source, "As[ty, tx] = A"),
        place(source, "As[ty, k]"),
    )
    assert said not in explain(wrapped, context(source)).seen


def test_the_way_into_the_next_round_is_looked_at() -> None:
    source = edited("Bs[k, tx]\n        cuda.syncthreads()\n", "Bs[k, tx]\n        cuda.syncwarp()\n")
    read, write = place(source, "As[ty, k]"), place(source, "As[ty, tx] = A")
    line = place(source, "cuda.syncwarp()").line
    assert not_barriers.between(source_lines(source), read, write).startswith(
        f"line {line}, `cuda.syncwarp()`"
    )
    assert not_barriers.between(source_lines(source), write, read) == ""
    assert not_barriers.between((), Span(1, 1, 1, 2), Span(2, 1, 2, 2)) == ""


def source_lines(source: str) -> tuple[str, ...]:
    return tuple(source.splitlines())


def test_a_missing_kernel_outside_an_exercise_names_none() -> None:
    facts = {"kernel": "total", "candidates": ("totals",)}
    message = explain(Finding("missing-kernel", "error", facts=facts), Context("k.py"))
    assert "exercise" not in " ".join([message.because, *message.hints])


@pytest.mark.parametrize("name", ["negative-index", "shared-read-before-barrier", "lane-not-in-mask"])
def test_without_a_compared_result_nothing_is_said_of_wrong_values(name: str) -> None:
    example = EXAMPLES[name]
    alone = Context("k.py", example.context.source_lines)
    checked = explain(example.finding, alone).checked
    assert checked.startswith("seen in the launch itself; not tested by a repair; ")
    compared = replace(alone, passing=(ALL_RAGGED,), shape=replace(ALL_RAGGED, wrong=0))
    assert explain(example.finding, compared).checked.startswith("no wrong value was seen")
