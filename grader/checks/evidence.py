"""From the trials of a suite to its findings: severities settled, repeats folded, shapes counted.

A folded finding keeps the exemplar of the most telling shape (a shown one, else the smallest). Its
counts gain ``shapes`` (on how many it was seen), its facts ``shape`` (the exemplar's sizes as
((name, size), ...)) and ``family``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

from grader.checks.grid_stride import walks_along
from grader.checks.launch_config import returned_grid
from grader.checks.launching import Launcher, Trial
from grader.checks.places import endless_loop, function_node, header_span, shared_declaration
from grader.checks.traffic import traffic_findings
from grader.checks.wrong_result import result_findings
from grader.records import Finding, Severity
from grader.rubric.model import Checks

__all__ = ["Seen", "collect", "hazards", "out_of_bounds", "settle"]

HAZARDS = frozenset(
    {
        "divergent-barrier",
        "exit-before-barrier",
        "shuffle-from-inactive-lane",
        "lane-not-in-mask",
        "inactive-lane-in-mask",
        "shared-read-before-barrier",
        "shared-overwrite-before-barrier",
        "shared-write-conflict",
        "global-write-conflict",
        "global-read-write-race",
        "uninitialised-shared-read",
        "uninitialised-local-read",
        "undefined-variable",
        "stale-shared-read",
    }
)
BOUNDS = frozenset({"out-of-bounds-read", "out-of-bounds-write", "negative-index"})

#: What the machine reports below error because it cannot know the result; an error where that is wrong.
RAISED_WHERE_WRONG = frozenset(
    {"exit-before-barrier", "stale-shared-read", "grid-too-small", "negative-index", "precision-loss"}
)

#: Wrong results of these names are causes of their own, also where other errors are on the same shape.
STRUCTURAL = frozenset({"transposed-result", "swapped-operands", "accumulated-into-output"})

_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}


_Pair = tuple[Trial, Finding]


@dataclass(frozen=True, slots=True)
class Seen:
    """A folded finding with the trial of its exemplar and all trials on which it was seen."""

    finding: Finding
    trial: Trial
    trials: tuple[Trial, ...]
    raised: bool = False


def settle(launcher: Launcher, trial: Trial) -> tuple[Finding, ...]:
    """A trial's findings with the severities that only its result can decide."""
    settled = []
    wrong = bool(trial.passes) and not trial.right
    for finding in trial.findings:
        raised = wrong and finding.name in RAISED_WHERE_WRONG
        judged = replace(finding, severity="error") if raised else finding
        if finding.name != "grid-too-small":
            settled.append(_placed(launcher, judged))
        elif _falls_short(launcher, trial, finding):
            settled.append(_at_the_grid(launcher, judged))
    return tuple(settled)


def hazards(findings: Iterable[Finding]) -> bool:
    """Whether a barrier, race or initialisation error is among them."""
    return any(one.name in HAZARDS and one.severity == "error" for one in findings)


def out_of_bounds(findings: Iterable[Finding]) -> bool:
    """Whether an access out of bounds is among them."""
    return any(one.name in BOUNDS and one.severity == "error" for one in findings)


def collect(launcher: Launcher, checks: Checks, trials: Sequence[Trial]) -> tuple[Seen, ...]:
    """Every finding of the suite, folded; the order is that of the exemplars' severity, not of causes."""
    pairs = [(trial, finding) for trial in trials for finding in settle(launcher, trial)]
    blamed = {id(trial) for trial, finding in pairs if finding.severity == "error"}
    # Where the grid falls short on some shapes only of those where indices do, the kernel's indices are at
    # fault; the rounding that leaves larger shapes with too few blocks leaves small ones without any.
    if _indices_fall_short(launcher, trials):
        pairs = [(trial, finding) for trial, finding in pairs if finding.name != "grid-too-small"]
        blamed = {id(trial) for trial, finding in pairs if finding.severity == "error"}
    elif any(finding.name == "grid-too-small" and finding.severity == "error" for _, finding in pairs):
        pairs = [(trial, finding) for trial, finding in pairs if finding.facts.get("rule") != "not-positive"]
    failing = sorted((trial for trial in trials if trial.failed_pass is not None), key=_telling)
    unexplained = [trial for trial in failing if id(trial) not in blamed]
    pairs += result_findings(launcher, unexplained)
    explained = [trial for trial in failing if id(trial) in blamed]
    pairs += result_findings(launcher, explained, STRUCTURAL)
    return fold(_blocks_blamed(pairs, traffic_findings(launcher, checks, trials)))


def _blocks_blamed(pairs: list[_Pair], traffic: list[_Pair]) -> list[_Pair]:
    """All findings; where blocks beyond the output load in vain, they are the fault and not the kernel."""
    idle = {id(trial): finding for trial, finding in pairs if finding.name == "idle-blocks"}
    blamed: list[_Pair] = []
    for trial, finding in traffic:
        known = idle.get(id(trial)) if finding.name == "low-arithmetic-intensity" else None
        if known is None:
            blamed.append((trial, finding))
            continue
        figures = {key: finding.facts[key] for key in ("intensity", "wanted")}
        blamed.append((trial, replace(known, severity="error", facts={**known.facts, **figures})))
    return [*pairs, *blamed]


def fold(pairs: Iterable[tuple[Trial, Finding]]) -> tuple[Seen, ...]:
    """One finding for each name and pair of lines, of the greatest severity it has anywhere."""
    groups: dict[tuple[str, int, int], list[tuple[Trial, Finding]]] = {}
    for trial, finding in pairs:
        lines = tuple(span.line if span is not None else 0 for span in (finding.primary, finding.secondary))
        groups.setdefault((finding.name, lines[0], lines[1]), []).append((trial, finding))
    folded = [_fold(group) for group in groups.values()]
    return tuple(sorted(folded, key=lambda seen: _ORDER[seen.finding.severity]))


def _fold(group: list[tuple[Trial, Finding]]) -> Seen:
    severity = min((finding.severity for _, finding in group), key=_ORDER.__getitem__)
    worst = [(trial, finding) for trial, finding in group if finding.severity == severity]
    trial, finding = min(worst, key=lambda pair: _telling(pair[0]))
    trials = tuple({id(one): one for one, _ in worst}.values())
    counts = {"shapes": len(trials), **finding.counts}
    facts = {**finding.facts, "shape": tuple(trial.shape.dims.items()), "family": trial.shape.family}
    raised = any(
        one.name == finding.name and _ORDER[one.severity] > _ORDER[severity] for one in trial.findings
    )
    return Seen(replace(finding, counts=counts, facts=facts), trial, trials, raised)


def _telling(trial: Trial) -> tuple[bool, int]:
    return not trial.shape.shown, prod(trial.shape.dims.values())


def _indices_fall_short(launcher: Launcher, trials: Sequence[Trial]) -> bool:
    found = [(trial, one) for trial in trials for one in trial.findings if one.name == "grid-too-small"]
    short = [_falls_short(launcher, trial, finding) for trial, finding in found]
    return any(short) and not all(short)


def _falls_short(launcher: Launcher, trial: Trial, finding: Finding) -> bool:
    """Whether the student's own launch has too few threads along the axis; otherwise the kernel errs."""
    config, axis, size = trial.config, finding.facts.get("axis"), finding.counts.get("size", 0)
    if launcher.kernel.launch.from_ is None or config is None or not isinstance(axis, int):
        return False
    axes = [(*part, 1, 1)[:3] for part in (config.grid, config.block)]
    threads = [blocks * width for blocks, width in zip(*axes, strict=True)]
    # The last axis of an array is walked along x, the one before it along y.
    outputs = [launcher.kernel.args[name] for name in launcher.kernel.outputs]
    along = max(len(arg.shape) for arg in outputs) - 1 - axis
    function = function_node(launcher.program, launcher.kernel.name)
    if function is not None and 0 <= along < 3 and walks_along(function, "xyz"[along]):
        return False
    short = along < len(threads) and threads[along] < size
    return short and finding.counts.get("reached") in threads


def _placed(launcher: Launcher, finding: Finding) -> Finding:
    """A finding about the launch as a whole, at the line that asks for what the device does not have."""
    program = launcher.program
    if finding.name == "did-not-finish":
        function = function_node(program, launcher.kernel.name)
        endless = endless_loop(function) if function is not None else None
        if endless is None:
            return finding
        facts = {**finding.facts, "ends": False}
        return replace(finding, primary=header_span(program, endless), facts=facts)
    if finding.primary is not None:
        return finding
    if finding.name == "shared-memory-too-large":
        function = function_node(program, launcher.kernel.name)
        declared = shared_declaration(function) if function is not None else None
        return finding if declared is None else replace(finding, primary=program.span(declared))
    if finding.name == "block-too-large" and launcher.kernel.launch.from_ is not None:
        return replace(finding, primary=returned_grid(program, launcher.kernel.launch.from_, "block"))
    return finding


def _at_the_grid(launcher: Launcher, finding: Finding) -> Finding:
    """Where the student chose the grid, the fault is there; the store only shows it."""
    function = launcher.kernel.launch.from_
    place = returned_grid(launcher.program, function) if function is not None else None
    return finding if place is None else replace(finding, primary=place, secondary=finding.primary)
