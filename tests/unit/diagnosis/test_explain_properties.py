"""Whatever a finding lacks, its message is whole: no crash, no empty part, no notation of Python's own."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from grader.diagnosis import CATALOGUE, Context, explain
from grader.records import Diagnostic, Finding, ShapeResult, Slot, Span, Thread
from tests.unit.diagnosis.examples import EXAMPLES, Example

MANY = 15 if os.environ.get("CI") else 5
small = st.integers(-2, 70)
word = st.sampled_from(["A", "acc", "row < M", "", "x" * 200, "arithmetic", "index-rank", "float64", "left"])
variable = st.sampled_from(["t", "k", "kk"])
whole_tuple = st.lists(small, max_size=3).map(tuple)
pairs = st.lists(st.tuples(variable, small), max_size=3).map(tuple)
fact = st.one_of(
    st.none(),
    st.booleans(),
    small,
    st.floats(),
    word,
    whole_tuple,
    pairs,
    st.tuples(st.none()),
    st.tuples(word, word),
)
coordinate = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 2))
slots = st.builds(Slot, word, st.sampled_from(["global", "shared", "local"]), whole_tuple)
positive = st.tuples(st.integers(1, 64), st.integers(1, 64), st.integers(1, 4))

KEYS = sorted(
    {key for example in EXAMPLES.values() for key in example.finding.facts}
    | {"missing", "repeated", "misplaced"}
)
COUNTS = sorted({key for example in EXAMPLES.values() for key in example.finding.counts} | {"shapes"})


@st.composite
def spans(draw: st.DrawFn) -> Span:
    line, column = draw(st.integers(0, 40)), draw(st.integers(0, 60))
    return Span(line, column, line + draw(st.integers(0, 2)), column + draw(st.integers(0, 30)))


@st.composite
def shapes(draw: st.DrawFn) -> ShapeResult:
    sizes = {name: draw(st.integers(1, 70)) for name in draw(st.sampled_from(["MNK", "MN", "K", "", "nm"]))}
    wrong = draw(st.integers(0, 9))
    return ShapeResult("family", sizes, True, wrong == 0, wrong, draw(st.sampled_from([0, 9, 100])))


@st.composite
def any_finding(draw: st.DrawFn, name: str) -> Finding:
    example = EXAMPLES[name].finding
    optional = st.booleans()
    return Finding(
        name,
        draw(st.sampled_from(["error", "warning", "note"])),
        primary=draw(st.one_of(st.none(), st.just(example.primary), spans())),
        secondary=draw(st.one_of(st.none(), st.just(example.secondary), spans())),
        threads=tuple(draw(st.lists(st.builds(Thread, coordinate, coordinate), max_size=2))),
        slot=draw(st.one_of(st.none(), st.just(example.slot), slots)),
        loops=draw(pairs),
        counts={
            **{key: value for key, value in example.counts.items() if draw(optional)},
            **draw(st.dictionaries(st.sampled_from(COUNTS), st.integers(0, 5000), max_size=4)),
        },
        facts={
            **{key: value for key, value in example.facts.items() if draw(optional)},
            **draw(st.dictionaries(st.sampled_from(KEYS), fact, max_size=4)),
        },
    )


@st.composite
def any_context(draw: st.DrawFn, example: Example) -> Context:
    text = draw(st.sampled_from([example.source, "", "def broken(:\n", "x = 1\n" * 60]))
    return Context(
        path=draw(st.sampled_from(["02_ragged_dims.py", ""])),
        source_lines=tuple(text.splitlines()),
        settings=draw(st.sampled_from([{"TILE": 16}, {}, {"TILE": 1}, {"BM": 64, "BK": 8}])),
        failing=tuple(draw(st.lists(shapes(), max_size=3))),
        passing=tuple(draw(st.lists(shapes(), max_size=3))),
        confirmed=draw(st.sampled_from([None, "experiment", "schedule", "order"])),
        repair=draw(st.sampled_from([None, "a barrier after line 33"])),
        names=draw(st.sampled_from([{}, {"kernel": "tiled_matmul", "out": "C", "left": "A", "right": "B"}])),
        orders=draw(st.integers(0, 9)),
        grid=draw(st.one_of(st.none(), positive)),
        block=draw(st.one_of(st.none(), positive)),
    )


def texts(diagnostic: Diagnostic) -> list[str]:
    found = [diagnostic.headline, *diagnostic.seen, diagnostic.because, diagnostic.passed, diagnostic.checked]
    found += [*diagnostic.hints, *diagnostic.picture]
    if diagnostic.frame is not None:
        labels = (diagnostic.frame.primary, diagnostic.frame.secondary)
        found += [label.text for label in labels if label is not None]
    return found


NOTATION = re.compile(
    r"\bNone\b|Thread\(|Slot\(|Span\(|Finding\(|<[a-z]+ object|\{'|\bTrue\b|\bFalse\b|  +[,;:]|: ;|, ,"
)


def assert_whole(diagnostic: Diagnostic, finding: Finding) -> None:
    assert diagnostic.name == finding.name
    assert diagnostic.severity == finding.severity
    for part in (diagnostic.headline, diagnostic.because, diagnostic.checked):
        assert part.strip()
    assert diagnostic.seen
    assert len(diagnostic.hints) == 3
    for text in (*diagnostic.seen, *diagnostic.hints):
        assert text.strip()
    for text in texts(diagnostic):
        assert "\n" not in text
        assert not NOTATION.search(text), text
        assert "!" not in re.sub(r"`[^`]*`", "", text), text
        assert text.count("`") % 2 == 0, text
        assert text.isascii(), text


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_message_is_whole_whatever_is_missing(name: str) -> None:
    @settings(max_examples=MANY, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
    @given(st.data())
    def check(data: st.DataObject) -> None:
        finding = data.draw(any_finding(name))
        context = data.draw(any_context(EXAMPLES[name]))
        assert_whole(explain(finding, context), finding)

    check()


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_message_is_whole_for_a_bare_finding(name: str) -> None:
    finding = Finding(name, "error")
    assert_whole(explain(finding, Context("kernel.py")), finding)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_headline_fits_a_line_and_has_no_full_stop(name: str) -> None:
    example = EXAMPLES[name]
    headline = explain(example.finding, example.context).headline
    assert len(headline) <= 110
    assert not headline.endswith(".")


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_message_does_not_depend_on_the_order_of_facts(name: str) -> None:
    example = EXAMPLES[name]
    turned = replace(
        example.finding,
        counts=dict(reversed(example.finding.counts.items())),
        facts=dict(reversed(example.finding.facts.items())),
    )
    assert explain(turned, example.context) == explain(example.finding, example.context)


@pytest.mark.parametrize(
    "name", sorted(name for name, entry in CATALOGUE.items() if entry.family == "racecheck")
)
def test_race_shows_both_accesses_with_their_threads(name: str) -> None:
    example = EXAMPLES[name]
    diagnostic = explain(example.finding, example.context)
    told = " ".join(texts(diagnostic))
    for thread in example.finding.threads:
        at = str(thread.thread[0]) if name == "global-read-write-race" else str(thread.thread[:2])
        assert f"thread {at}" in told
    if example.finding.primary != example.finding.secondary:
        assert diagnostic.frame is not None
        assert diagnostic.frame.secondary is not None
        assert diagnostic.frame.secondary.text


def test_action_is_for_the_last_level_only() -> None:
    example = EXAMPLES["stale-shared-read"]
    question, pointer, action = explain(example.finding, example.context).hints
    assert question.endswith("?")
    assert "As[ty, tx] = 0.0" in action
    assert "a zero stored where line 18 is false" in action
    for earlier in (question, pointer):
        assert "0.0" not in earlier


def test_repair_is_shown_nowhere_but_in_the_last_hint() -> None:
    example = EXAMPLES["stale-shared-read"]
    diagnostic = explain(example.finding, example.context)
    assert [text for text in texts(diagnostic) if "a zero stored" in text] == [diagnostic.hints[2]]


def test_no_luck_is_claimed_where_values_were_wrong() -> None:
    example = EXAMPLES["shared-read-before-barrier"]
    context = replace(example.context, confirmed=None)
    assert "no wrong value" not in explain(example.finding, context).checked
    lucky = replace(context, failing=(), orders=12)
    assert "no wrong value was seen in 12 orders of the warps" in explain(example.finding, lucky).checked


def test_two_causes_repaired_together_are_both_counted() -> None:
    example = EXAMPLES["stale-shared-read"]
    checked = explain(example.finding, replace(example.context, causes=2)).checked
    assert (
        checked == "confirmed by experiment: with 2 faults, this one among them, repaired, every shape passes"
    )


def test_number_of_shapes_is_told() -> None:
    example = EXAMPLES["stale-shared-read"]
    finding = replace(example.finding, counts={**example.finding.counts, "shapes": 9})
    assert "this very finding is made on 9 shapes of the suite" in explain(finding, example.context).seen


def test_an_unknown_name_gets_a_plain_message() -> None:
    finding = Finding("no-such-name", "error", Span(7, 5, 7, 9), threads=(Thread((0, 0, 0), (1, 2, 0)),))
    message = explain(finding, Context("kernel.py", source_lines=("",) * 6 + ("    call",)))
    assert_whole(message, finding)
    assert message.headline == "no such name on line 7"
    assert message.frame is not None
    assert message.checked == "seen in the launch itself; not tested by a repair"
    assert_whole(explain(replace(finding, name=""), Context("kernel.py")), replace(finding, name=""))
