"""What a run on the GPU adds to the evidence: disagreements, faults of the run, right results by luck."""

from __future__ import annotations

from collections.abc import Sequence

from grader.checks.agreement import EXPLAINS, explanation
from grader.checks.device_trials import DevicePass, DeviceTrial
from grader.checks.evidence import settle
from grader.checks.launching import Launcher, Trial
from grader.records import Disagreement, Fact, Finding, Severity, Span

__all__ = ["device_findings"]


def device_findings(
    launcher: Launcher,
    trials: Sequence[Trial],
    device: Sequence[DeviceTrial],
    differing: Sequence[Disagreement],
    name: str,
) -> tuple[Finding, ...]:
    """At most one finding of each kind, in the order of their weight. ``name`` is the GPU's own."""
    findings_of = [settle(launcher, trial) for trial in trials]
    found = [
        _disagreement(differing, name),
        _fault(launcher, trials, device, findings_of, name),
        _overwritten(trials, device, findings_of, name),
        _luck(trials, device, findings_of, name),
    ]
    return tuple(one for one in found if one is not None)


def _disagreement(differing: Sequence[Disagreement], name: str) -> Finding | None:
    """The first that nothing explains, told with both sides' figures; a shown shape before a hidden one."""
    unexplained = sorted((one for one in differing if not one.explained), key=lambda one: not one.shown)
    if not unexplained:
        return None
    first = unexplained[0]
    facts: dict[str, Fact] = {
        "device": name,
        "array": first.array,
        "index": first.first,
        "inputs": first.inputs,
        "machine_value": first.machine_value,
        "gpu_value": first.gpu_value,
        "expected": first.expected,
        "machine_wrong": first.machine_wrong,
        "gpu_wrong": first.gpu_wrong,
        "ended_by": first.ended_by,
        "shape": tuple(first.dims.items()),
        "family": first.family,
    }
    counts = {"elements": first.elements, "concerned": _shapes(unexplained)}
    return Finding("backends-disagree", "error", counts=counts, facts=facts)


def _shapes(differing: Sequence[Disagreement]) -> int:
    return len({(one.family, tuple(one.dims.values())) for one in differing})


def _fault(
    launcher: Launcher,
    trials: Sequence[Trial],
    device: Sequence[DeviceTrial],
    findings_of: Sequence[Sequence[Finding]],
    name: str,
) -> Finding | None:
    """What ended the run, or kept a launch from its result; a note where the machine's findings say why."""
    index, failed = next(
        (
            (index, one)
            for index, there in enumerate(device)
            for one in there.passes
            if one.fault is not None and one.launched
        ),
        (0, None),
    )
    if failed is None or failed.fault is None:
        return None
    lost = sum(any(one.fault is not None for one in there.passes) for there in device)
    trial = trials[index] if index < len(trials) else None
    reason = explanation(findings_of[index], failed) if trial is not None else ""
    facts: dict[str, Fact] = {
        "device": name,
        "detail": failed.fault.detail,
        "explained_by": reason,
        "shape": tuple(device[index].shape.dims.items()),
        "family": device[index].shape.family,
    }
    return Finding(
        failed.fault.name,
        _severity(trial, reason),
        primary=_line(launcher, failed.fault.line),
        counts={"concerned": lost},
        facts=facts,
    )


def _severity(trial: Trial | None, reason: str) -> Severity:
    """An error where the machine has none of its own for that shape: its cause leads."""
    known = reason or (trial is not None and not trial.right)
    return "note" if known else "error"


def _line(launcher: Launcher, line: int | None) -> Span | None:
    lines = launcher.program.lines
    if line is None or not 1 <= line <= len(lines) or not lines[line - 1].strip():
        return None
    text = lines[line - 1]
    return Span(line, len(text) - len(text.lstrip()) + 1, line, len(text.rstrip()) + 1)


def _overwritten(
    trials: Sequence[Trial],
    device: Sequence[DeviceTrial],
    findings_of: Sequence[Sequence[Finding]],
    name: str,
) -> Finding | None:
    """A store beside an array that the GPU's allocation took without a word."""
    harmed: list[tuple[int, DevicePass]] = [
        (index, one) for index, there in enumerate(device) for one in there.passes if one.overwritten
    ]
    if not harmed:
        return None
    index, first = harmed[0]
    array, distance = next(iter(first.overwritten.items()))
    trial = trials[index] if index < len(trials) else None
    reason = explanation(findings_of[index]) if trial is not None else ""
    facts: dict[str, Fact] = {
        "device": name,
        "array": array,
        "distance": distance,
        "explained_by": reason,
        "shape": tuple(device[index].shape.dims.items()),
        "family": device[index].shape.family,
    }
    counts = {"concerned": len({position for position, _ in harmed})}
    return Finding("gpu-margin-overwritten", _severity(trial, reason), counts=counts, facts=facts)


def _luck(
    trials: Sequence[Trial],
    device: Sequence[DeviceTrial],
    findings_of: Sequence[Sequence[Finding]],
    name: str,
) -> Finding | None:
    """Shapes that came out right on the GPU although the machine found a hazard on them."""
    lucky: list[tuple[Trial, Finding]] = []
    for trial, there, findings in zip(trials, device, findings_of, strict=False):
        hazards = [one for one in findings if one.name in EXPLAINS and one.severity == "error"]
        if hazards and there.right:
            lucky.append((trial, hazards[0]))
    if not lucky:
        return None
    trial, hazard = lucky[0]
    facts: dict[str, Fact] = {
        "device": name,
        "hazard": hazard.name,
        "shape": tuple(trial.shape.dims.items()),
        "family": trial.shape.family,
    }
    return Finding("gpu-result-by-luck", "note", counts={"concerned": len(lucky)}, facts=facts)
