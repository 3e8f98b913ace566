"""A message says no more than its finding and the text show: what is not known is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.diagnosis import explain, rank
from grader.records import Diagnostic, Fact, Finding, Slot, Span
from tests.unit.diagnosis.examples import EXAMPLES, TILED, context, edited, place


def said(message: Diagnostic) -> str:
    frame = message.frame
    labels = [label.text for label in (frame.primary, frame.secondary) if label] if frame else []
    return "\n".join([message.headline, *labels, *message.seen, message.because, *message.hints])


def repeated(often: tuple[int, ...], run: tuple[int, int], **facts: Fact) -> Diagnostic:
    counts = {"first": run[0], "last": run[1], "size": 40, "times": often[0]}
    loop = place(TILED, "for t in range((K + TILE - 1) // TILE)")
    known: dict[str, Fact] = {"rule": "", "repeated": (run,), "often": often, **facts}
    return explain(Finding("repeated-k-tail", "error", loop, counts=counts, facts=known), context(TILED))


def test_products_added_unequally_often_are_added_more_than_once() -> None:
    message = repeated((2, 3), (0, 31))
    assert "adds the products for k = 0..31 more than once" in message.headline
    assert "refill" not in said(message)
    assert "3 times" not in said(message)


def test_the_last_tile_twice_may_be_a_tile_that_was_not_refilled() -> None:
    message = repeated((2,), (24, 31))
    assert message.headline.endswith("adds the products for k = 24..31 twice")
    assert "not refilled" in message.because


@pytest.mark.parametrize(("often", "run"), [((3,), (24, 31)), ((2,), (0, 15)), ((2,), (0, 39))])
def test_no_stale_tile_is_claimed_where_none_need_be(often: tuple[int, ...], run: tuple[int, int]) -> None:
    assert "refill" not in said(repeated(often, run))


def test_a_store_is_not_called_a_loop_over_the_tiles() -> None:
    facts: dict[str, Fact] = {"rule": "one-tile", "cut": "one-tile"}
    finding = Finding("dropped-k-tail", "error", place(TILED, "C[row, col]"), facts=facts)
    assert "loop over the k-tiles on line" not in said(explain(finding, context(TILED)))


def test_nothing_is_said_to_be_excluded_about_a_wrong_result() -> None:
    finding = Finding("wrong-result", "error", place(TILED, "C[row, col]"))
    assert "neither" not in said(explain(finding, context(TILED)))


def test_an_atomic_addition_is_not_replaced_by_a_store_of_each_block() -> None:
    source = edited("C[row, col] = acc", "cuda.atomic.add(C, (row, col), acc)")
    code = "cuda.atomic.add(C, (row, col), acc)"
    message = explain(Finding("accumulated-into-output", "error", place(source, code)), context(source))
    assert "`+=`" not in said(message)
    assert "where several blocks add to one element of `C`, it must be zero before" in message.hints[2]


@pytest.mark.parametrize(
    ("size", "axes", "space", "guard"),
    [
        (1850, ("a[i + 1]", (1850,)), "global", "`i + 1 < a.size`"),
        (77, ("a[0, i + 1]", (0, 77)), "global", "`i + 1 < a.shape[1]`"),
    ],
)
def test_a_guard_is_no_number_of_one_launch(
    size: int, axes: tuple[str, tuple[int, ...]], space: str, guard: str
) -> None:
    code, index = axes
    source = f"def f(a, i):\n    x = {code}\n"
    facts: dict[str, Fact] = {"axis": len(index) - 1, "size": size}
    slot = Slot("a", space, index)  # type: ignore[arg-type]
    finding = Finding("out-of-bounds-read", "error", place(source, code), slot=slot, facts=facts)
    message = explain(finding, replace(context(source), shape=None, failing=(), passing=()))
    assert guard in message.hints[2]
    assert str(size) not in message.hints[2]


def test_a_slot_past_a_shared_array_is_not_a_thread_past_the_edge() -> None:
    source = "def f(n):\n    s = cuda.shared.array((2, 16), float32)\n    j = n % 3\n    s[j, 0] = 1.0\n"
    facts: dict[str, Fact] = {"axis": 0, "size": 2}
    slot = Slot("s", "shared", (2, 0))
    finding = Finding("out-of-bounds-write", "error", place(source, "s[j, 0]"), slot=slot, facts=facts)
    message = explain(finding, context(source))
    assert message.hints[2] == "see to it that `j < 2` holds on line 4, or make `s` larger"
    assert "row" not in message.because


def test_indices_of_an_axis_are_named_before_it() -> None:
    source = "def f(s, j):\n    s[j, 0, 0] = 1.0\n"
    facts: dict[str, Fact] = {"axis": 0, "size": 2}
    slot = Slot("s", "shared", (2, 0, 0))
    finding = Finding("out-of-bounds-write", "error", place(source, "s[j, 0, 0]"), slot=slot, facts=facts)
    message = explain(finding, context(source))
    assert message.frame is not None
    assert message.frame.primary.text.endswith("`s` has indices 0..1 on axis 0")


def endless(body: str) -> Diagnostic:
    source = f"def f(a, n):\n    i = 0\n    while True:\n{body}"
    return explain(Finding("did-not-finish", "error", place(source, "True")), context(source))


def test_a_loop_without_a_test_is_followed_to_its_ways_out() -> None:
    message = endless(
        "        if i >= n:\n            break\n        for k in range(4):\n            break\n"
    )
    assert message.hints[1] == "its test is always true: when does each thread come to the way out on line 5?"
    assert endless("        i = i\n").hints[1].endswith("nothing in it leaves it")


def test_threads_that_part_in_a_loop_are_told_before_the_loop_that_does_not_end() -> None:
    def at(line: int) -> Span:
        return Span(line, 5, line, 9)

    unfinished = Finding("did-not-finish", "error", at(10))
    inside = Finding("divergent-barrier", "error", at(14), at(11))
    above = Finding("divergent-barrier", "error", at(8), at(7))
    assert [one.name for one in rank([unfinished, inside])] == ["divergent-barrier", "did-not-finish"]
    assert [one.name for one in rank([unfinished, above])] == ["did-not-finish", "divergent-barrier"]


def small_grid(returned: str, grid: tuple[int, int, int]) -> Diagnostic:
    source = f"{TILED}\n\ndef launch_config(M, N):\n    return {returned}, (TILE, TILE)\n"
    example = EXAMPLES["grid-too-small"]
    finding = replace(example.finding, primary=place(source, f"return {returned}, (TILE, TILE)"))
    lines = tuple(source.splitlines())
    return explain(finding, replace(example.context, source_lines=lines, grid=grid))


@pytest.mark.parametrize(
    ("returned", "grid", "pointer", "action"),
    [
        ("(N // TILE, M // TILE)", (2, 3, 1), "the division rounds down", "rounded up"),
        ("(round(N / TILE), round(M / TILE))", (2, 3, 1), "`round` goes to the nearest", "round the number"),
        ("(-(-M // TILE), -(-N // TILE))", (4, 3, 1), "x counts the blocks along a row", "exchange"),
        ("(3, 2)", (3, 2, 1), "compare the number of blocks along y", "as many blocks along y as are needed"),
    ],
)
def test_a_small_grid_is_explained_by_what_the_text_shows(
    returned: str, grid: tuple[int, int, int], pointer: str, action: str
) -> None:
    message = small_grid(returned, grid)
    assert pointer in message.hints[1]
    assert action.replace("rounded up", "round the number of blocks up") in message.hints[2]
    assert ("rounds down" in message.hints[1]) is ("N // TILE, M // TILE" in returned)


def test_a_note_on_a_slot_that_keeps_its_value_asks_first() -> None:
    example = EXAMPLES["stale-shared-read"]
    message = explain(replace(example.finding, severity="note"), example.context)
    assert message.hints[0] == "is the value of the earlier round wanted here?"
    assert message.hints[2].startswith("where the slot is to keep its value, change nothing; ")


def unfilled(source: str, guard: str, line: int) -> str:
    finding = Finding(
        "uninitialised-shared-read",
        "error",
        place(source, "v = s[t + 1]"),
        place(source, guard),
        slot=Slot("s", "shared", (1,)),
        counts={"skipped": 63, "block_threads": 64},
        facts={"store_line": line},
    )
    return explain(finding, context(source)).hints[2]


HALO = """\
def f(s, a, n):
    t = cuda.threadIdx.x
    s[t + 2] = a[t]
    if t < 1:
        s[t] = a[t - 2]
    cuda.syncthreads()
    v = s[t + 1]
"""


def test_no_zero_is_stored_over_another_threads_slot() -> None:
    assert "else:" not in unfilled(HALO, "t < 1", 5)
    assert "lines 3 and 5 fill" in unfilled(HALO, "t < 1", 5)


def test_a_thread_that_fills_its_only_slot_may_store_a_zero_there() -> None:
    source = HALO.replace("    s[t + 2] = a[t]\n", "")
    assert unfilled(source, "t < 1", 4) == (
        "add `else: s[t] = 0.0` to the `if` on line 3: a zero adds nothing to the sum"
    )


def test_an_if_that_all_threads_take_alike_keeps_none_from_storing() -> None:
    source = """\
def f(s, a, n):
    t = cuda.threadIdx.x
    if n > 0:
        if t < n:
            s[t] = a[t]
        cuda.syncthreads()
    v = s[t + 1]
"""
    assert unfilled(source, "t < n", 5).startswith("add `else: s[t] = 0.0` to the `if` on line 4")


def test_a_fence_and_an_atomic_between_two_blocks_are_no_fault() -> None:
    source = (
        "def f(p, c):\n    p[0] = 1\n    cuda.threadfence()\n    cuda.atomic.add(c, 0, 1)\n    x = p[1]\n"
    )
    finding = Finding(
        "global-read-write-race",
        "note",
        place(source, "p[1]"),
        place(source, "p[0]"),
        slot=Slot("p", "global", (0,)),
        facts={"scope": "grid"},
    )
    message = explain(finding, context(source))
    assert "race" not in message.headline
    assert "no barrier" not in said(message)
    assert message.hints[2].startswith("nothing is to be changed where")


def test_a_declared_type_is_quoted_with_its_kernel() -> None:
    source = edited("@cuda.jit\n", '@cuda.jit("void(float64[:,:])")\n')
    facts: dict[str, Fact] = {"rule": "argument-type", "name": "A", "got": "f4", "wanted": "f8"}
    finding = Finding("type-error", "error", place(source, '"void(float64[:,:])"'), facts=facts)
    assert explain(finding, context(source)).headline == (
        "`tiled_matmul` is declared to take `f8` for `A`, and gets `f4`"
    )
