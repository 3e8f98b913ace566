from __future__ import annotations

import pytest

from grader.diagnosis import grammar
from grader.records import Slot, Thread


@pytest.mark.parametrize(
    ("value", "shown"), [(1850, "1,850"), (65536, "65,536"), (3.94123, "3.94"), (4.0, "4"), (-5, "-5")]
)
def test_number(value: float, shown: str) -> None:
    assert grammar.number(value) == shown


def test_plural() -> None:
    assert grammar.plural(1, "thread") == "1 thread"
    assert grammar.plural(2, "access", "accesses") == "2 accesses"


def test_part() -> None:
    assert grammar.part(128, 256, "thread") == "128 of 256 threads"
    assert grammar.part(256, 256, "thread") == "all 256 threads"
    assert grammar.part(1, 1, "element") == "1 of 1 element"
    assert grammar.part(7, None, "thread") == "7 threads"


def test_quote_shortens_and_keeps_backticks_out() -> None:
    assert grammar.quote("a[i]") == "`a[i]`"
    assert grammar.quote("a`b") == "`a'b`"
    assert grammar.quote("") == ""
    assert len(grammar.quote("x" * 99)) == grammar.QUOTE_LIMIT + 2


def test_listing() -> None:
    assert grammar.listing(["a"]) == "a"
    assert grammar.listing(["a", "b", "c"], "or") == "a, b or c"


def test_thread_names_drop_axes_that_the_launch_has_not() -> None:
    thread = Thread((1, 0, 0), (3, 2, 0))
    assert grammar.thread_name(thread) == "thread (3, 2) of block (1, 0)"
    line = Thread((1, 0, 0), (3, 0, 0))
    assert grammar.thread_name(line, (32, 1, 1), (4, 1, 1)) == "thread 3 of block 1"
    deep = Thread((0, 0, 2), (0, 0, 1))
    assert grammar.thread_name(deep, (4, 4, 4), (1, 1, 3)) == "thread (0, 0, 1) of block (0, 0, 2)"


def test_slot_name() -> None:
    assert grammar.slot_name(Slot("As", "shared", (0, 8))) == "As[0, 8]"
    assert grammar.slot_name(Slot("C", "global", ())) == "C"


def test_range_of_numbers() -> None:
    assert grammar.span_of_numbers(32, 39) == "32..39"
    assert grammar.span_of_numbers(5, 5) == "5"
