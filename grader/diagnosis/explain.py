"""Turning one finding into one message: the family's wording, the frame, the shapes, the trial."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from grader.diagnosis import (
    compilation,
    device,
    grid_order,
    initcheck,
    launching,
    memcheck,
    performance,
    racecheck,
    result,
    synccheck,
    warp_lanes,
)
from grader.diagnosis.catalogue import CATALOGUE, Family
from grader.diagnosis.context import Context, MendedPart
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import number, plural, sentence
from grader.diagnosis.passing import explain_passing
from grader.diagnosis.wording import Wording, Writer
from grader.records import Diagnostic, Finding, Frame, Label, Span

WRITERS: Mapping[str, Writer] = {
    **compilation.WRITERS,
    **launching.WRITERS,
    **synccheck.WRITERS,
    **warp_lanes.WRITERS,
    **racecheck.WRITERS,
    **initcheck.WRITERS,
    **memcheck.WRITERS,
    **result.WRITERS,
    **performance.WRITERS,
    **device.WRITERS,
}

#: Families whose faults may leave the result right by luck.
_LUCKY = frozenset({"synccheck", "racecheck", "initcheck", "memcheck", "result"})

#: How a finding without a trial repair is known.
_SEEN_IN: Mapping[Family, str] = {
    "compile": "read from the text; the kernel was not started",
    "launch": "seen in the launch itself; not tested by a repair",
    "synccheck": "seen in the launch itself; not tested by a repair",
    "racecheck": "seen in the launch itself; not tested by a repair",
    "initcheck": "seen in the launch itself; not tested by a repair",
    "memcheck": "seen in the launch itself; not tested by a repair",
    "result": "compared with the reference; not tested by a repair",
    "performance": "counted from the addresses and operations of the launch; no time was measured",
    "device": "seen in a run on the GPU, beside the machine's judgement",
}

_SAID_BY_THE_COMPILER = "said by the compiler; nothing was run on a GPU"

#: An unknown name is one of the machine: it saw something in the launch.
_UNCATALOGUED_FAMILY: Family = "memcheck"

#: Longest gap between two shown lines that is filled in rather than drawn as a gap.
_FILLED_GAP = 1


def explain(finding: Finding, context: Context) -> Diagnostic:
    """Write the message for a finding; for a name outside the catalogue a plain one that says what it can.

    Every part but ``passed``, ``picture`` and ``frame`` is filled whatever the finding lacks.
    """
    evidence = Evidence(finding, context)
    wording = WRITERS.get(finding.name, _uncatalogued)(evidence)
    if grid_order.is_at_fault(evidence):
        wording = grid_order.reworded(evidence, wording)
    return Diagnostic(
        name=finding.name,
        severity=finding.severity,
        headline=wording.headline,
        frame=_frame(evidence, wording),
        seen=_seen(evidence, wording),
        because=wording.because,
        passed=explain_passing(context.failing, context.passing, context.settings, wording.why_passed),
        checked=_checked(evidence, wording),
        hints=_hints(wording, context),
        picture=wording.picture,
    )


def _uncatalogued(evidence: Evidence) -> Wording:
    """A name that no module has words for: the student gets the place and the name, and no crash."""
    said = _as_words(evidence.finding.name)
    return Wording(
        headline=f"{said}{evidence.on_line()}",
        primary=said,
        seen=(evidence.at_shape(), f"{evidence.slot()}{evidence.in_round()}" if evidence.slot() else ""),
        because="the machine reports this, and the grader has no page about it",
        hints=(
            "what does this line do, for each thread of a block?",
            f"look at {evidence.code('the place shown')}{evidence.on_line()}",
            "ask whoever gives the course, and quote this name",
        ),
    )


def _as_words(name: str) -> str:
    """A kebab-case name as words."""
    return " ".join(name.replace("-", " ").split()) or "a fault without a name"


def _seen(evidence: Evidence, wording: Wording) -> tuple[str, ...]:
    shapes = evidence.count("shapes")
    several = shapes is not None and 1 < shapes != len(evidence.context.failing)
    # Where it is every failing shape, the part about the shapes that pass says so already.
    on_shapes = f"this very finding is made on {number(shapes or 0)} shapes of the suite" if several else ""
    return tuple(item for item in (*wording.seen, on_shapes) if item) or (evidence.place(),)


def _checked(evidence: Evidence, wording: Wording) -> str:
    context = evidence.context
    known = CATALOGUE.get(evidence.finding.name)
    family: Family = known.family if known is not None else _UNCATALOGUED_FAMILY
    if context.confirmed == "schedule":
        return (
            "confirmed by experiment: some order of the warps gives a wrong element; "
            "with the fault repaired the same orders give the right one"
        )
    if context.confirmed == "order":
        return "seen by experiment: some order of the warps gives a wrong element"
    if context.confirmed == "experiment":
        repaired = (
            "this one fault" if context.causes == 1 else f"{context.causes} faults, this one among them,"
        )
        return f"confirmed by experiment: with {repaired} repaired, every shape passes"
    if context.confirmed == "part" and context.mended is not None:
        right = _put_right(context.mended)
        return f"tested by experiment: with this repaired, {right}; the rest stays wrong, so this is not all"
    compared = context.failing or context.passing or context.orders or context.seen_on is not None
    if (
        compared
        and wording.all_the_same
        and family in _LUCKY
        and not any(shape.wrong for shape in context.failing)
    ):
        orders = f" in {plural(context.orders, 'order')} of the warps" if context.orders > 0 else ""
        return f"no wrong value was seen{orders}, and it is a fault all the same: {wording.all_the_same}"
    # The compile check says what kind of refusal it was.
    compiled = (known is not None and known.needs_compiler) or bool(evidence.text("refusal"))
    # A constant, or a configuration without a grid, is found before anything is launched.
    unlaunched = evidence.finding.name == "bad-launch-config" and evidence.text("rule") != "block-size"
    seen_in = _SAID_BY_THE_COMPILER if compiled else _SEEN_IN["compile" if unlaunched else family]
    return sentence(seen_in, wording.all_the_same, joiner="; ")


def _put_right(part: MendedPart) -> str:
    if part.shapes:
        passes = "passes" if part.shapes == 1 else "pass"
        return f"{number(part.shapes)} of the {number(part.failing)} failing shapes {passes}"
    return f"{number(part.elements)} of {number(part.wrong)} wrong elements come right"


def _hints(wording: Wording, context: Context) -> tuple[str, ...]:
    question, pointer, action = wording.hints
    if context.repair and context.mended is not None:
        action = f"{action}. Tried: with {context.repair}, {_put_right(context.mended)}"
    elif context.repair and context.confirmed is not None:
        total = max(
            sum(len(family.shapes) for family in context.families),
            len(context.failing) + len(context.passing),
        )
        shapes = f"all {number(total)} shapes" if total > 1 else "every shape"
        action = f"{action}. Confirmed: with {context.repair} this kernel passes {shapes}"
    return (question, pointer, action)


def _frame(evidence: Evidence, wording: Wording) -> Frame | None:
    finding, lines = evidence.finding, evidence.lines
    primary = _inside(finding.primary, lines)
    if primary is None:
        return None
    secondary = _inside(finding.secondary, lines)
    if secondary == primary and not wording.secondary:
        secondary = None
    labels = [Label(primary, wording.primary)]
    if secondary is not None:
        labels.append(Label(secondary, wording.secondary))
    return Frame(
        path=evidence.context.path,
        primary=labels[0],
        secondary=labels[1] if len(labels) > 1 else None,
        lines=tuple((shown, lines[shown - 1]) for shown in _shown(labels)),
    )


def _inside(span: Span | None, lines: tuple[str, ...]) -> Span | None:
    return span if span is not None and 1 <= span.line <= span.end_line <= len(lines) else None


def _shown(labels: list[Label]) -> list[int]:
    wanted: set[int] = set()
    for label in labels:
        wanted |= {label.span.line, label.span.end_line}
    shown = sorted(wanted)
    for before, after in pairwise(shown):
        if after - before - 1 <= _FILLED_GAP:
            wanted |= set(range(before, after))
    return sorted(wanted)
