"""docs/timing.md quotes what was measured, and says of the protocol what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader.gpu.timed_product import SPANS, Product
from grader.gpu.timing import Limits
from grader.gpu.timing_floor import floor_of
from grader.records import Timing
from grader.reporters.timing_text import why_rejected
from grader.rubric.timing import DEFAULT_SIZES
from tools.hardware.timing_record import END, PAGE, RESULTS, START, apart, measured


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return result


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def times(found: dict[str, Any]) -> list[Timing]:
    return [Timing(**one) for kernel in found["class"]["outcomes"].values() for one in kernel["timings"]]


def test_the_page_quotes_the_results(found: dict[str, Any], page: str) -> None:
    quoted = page.partition(f"{START}\n")[2].partition(END)[0]
    assert quoted == measured(found)


def test_no_recorded_time_beats_the_floor_and_no_kernel_cublas(found: dict[str, Any]) -> None:
    counted = [one for one in times(found) if not one.rejected]
    assert len(counted) == 16
    for one in counted:
        product = Product(*(one.dims[name] for name in ("M", "N", "K")))
        assert one.floor_milliseconds == pytest.approx(floor_of(product, one.device, {}), rel=0.01)
        assert one.floor_milliseconds < one.library_milliseconds < one.least <= one.milliseconds
        assert one.quartiles[0] <= one.milliseconds <= one.quartiles[1]
        assert one.error is not None
        assert one.error <= Limits().target


def test_a_kernel_timed_twice_differs_by_less_than_two_that_differ(found: dict[str, Any]) -> None:
    outcomes = found["class"]["outcomes"]
    at_4096 = {name: one["timings"][0]["milliseconds"] for name, one in outcomes.items() if one["timings"]}
    assert apart(found) < 0.005
    assert at_4096["tile16-float64"] / at_4096["tile16-a"] > 1.2
    assert at_4096["tile4"] / at_4096["tile16-a"] > 5


def test_what_fails_or_is_wrong_where_timed_has_no_time(found: dict[str, Any]) -> None:
    outcomes = found["class"]["outcomes"]
    assert outcomes["no-second-barrier"]["outcome"] == "FAIL"
    assert outcomes["no-second-barrier"]["timings"] == []
    gamed = outcomes["half-of-k-where-large"]
    assert gamed["outcome"] == "FAIL"
    assert {one["rejected"] for one in gamed["timings"]} == {"wrong-timed-output"}
    assert {one["rejected_at"] for one in gamed["timings"]} == {0}


def test_every_trick_fooled_the_simple_timer_and_not_the_protocol(found: dict[str, Any]) -> None:
    tricks = {name: one for name, one in found["tricks"].items() if isinstance(one, dict)}
    honest = tricks["honest"]["protocol"]["milliseconds"]
    for name, one in tricks.items():
        assert one["naive"]["right"], name
        if name in ("honest", "cublas"):
            assert one["protocol"]["verdict"] == ""
        elif name == "caching":
            assert one["protocol"]["milliseconds"] > 0.9 * honest
            assert one["naive"]["milliseconds"] < 0.01 * honest
        else:
            assert one["protocol"]["verdict"] == "wrong-timed-output"
            assert one["naive"]["milliseconds"] < 0.6 * honest


def test_the_page_says_the_protocol_s_numbers(page: str) -> None:
    limits = Limits()
    said = " ".join(page.split())
    assert (
        f"at most {100 * limits.target:.0f} %, at least {limits.least} and at most {limits.most} runs" in said
    )
    assert f"and at most {limits.seconds:.0f} seconds (then {limits.fewest} runs will do)" in said
    assert f"a power of two is timed, {DEFAULT_SIZES[0]}, and a ragged size, {DEFAULT_SIZES[1]}" in said
    assert f"numbers**, up to {SPANS['float32', 'float32'][0]}" in said


def test_every_verdict_of_the_page_has_words(page: str) -> None:
    table = page.partition("## What makes a time not count")[2].partition("## ")[0]
    names = [name for name in re.findall(r"^\| `([a-z-]+)`", table, re.M) if not name.endswith("-")]
    assert len(names) == 5
    blank = Timing({"M": 1}, True, 0.0, 0.0, 0, 2)
    for name in names:
        words = why_rejected(Timing(**{**_fields(blank), "rejected": name}))
        assert words != name
        assert " " in words


def _fields(timing: Timing) -> dict[str, Any]:
    return {name: getattr(timing, name) for name in timing.__slots__}


def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page):
        assert (Path(PAGE).parent / target).exists(), target
