"""The machine's verdict on each launch beside the GPU's: where they differ, and whether a hazard explains it.

A kernel with a race, a barrier that part of a block misses, a value that nobody set or an access out of
bounds has no one result: there the two may differ, and the machine's finding says why. Anywhere
else a difference means that one of the two is wrong about the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from grader.checks.device_trials import DevicePass, DeviceTrial
from grader.checks.evidence import BOUNDS, HAZARDS
from grader.checks.trial import Pass, Trial
from grader.records import Disagreement, Finding

__all__ = ["EXPLAINS", "compare", "explanation"]

#: Findings of the machine that make a kernel's result a matter of luck.
EXPLAINS = (
    HAZARDS | BOUNDS | {"shuffle-from-inactive-lane", "lane-not-in-mask", "inactive-lane-in-mask"}
) - {"negative-index"}
#: Faults of the run and not of the kernel: the GPU has no verdict.
NO_VERDICT = frozenset({"gpu-child-lost", "gpu-out-of-memory"})
#: A limit that only the compiled kernel shows, its registers above all; the machine does not claim it.
BEYOND_THE_MACHINE = frozenset({"gpu-launch-refused"})


def compare(
    trials: Sequence[Trial], device: Sequence[DeviceTrial], findings_of: Sequence[Sequence[Finding]]
) -> tuple[Disagreement, ...]:
    """Every launch that the two judge differently, in the suite's order.

    ``findings_of`` has each trial's findings, their severities settled.
    """
    found: list[Disagreement] = []
    for trial, there, findings in zip(trials, device, findings_of, strict=False):
        # Of a grid of far too many blocks the machine ran some; what those leave wrong, others may mend.
        sampled = any(one.name == "idle-blocks" for one in trial.findings)
        for exact in (True, False):
            here = next((one for one in trial.passes if one.arguments.exact == exact), None)
            beside = there.on(exact=exact)
            if here is None or beside is None or (sampled and not here.right):
                continue
            if not _differ(here, beside):
                continue
            found.append(_disagreement(trial, here, beside, explanation(findings, beside)))
    return tuple(found)


def explanation(findings: Iterable[Finding], beside: DevicePass | None = None) -> str:
    """The name of the finding that leaves a launch's result to luck, errors before the rest, or nothing.

    What ended the run on both sides explains the end on the other. A loop that has an end, but was given
    up for its many rounds, leaves the machine without a result: any that the GPU comes to is explained.
    """
    ordered = sorted(findings, key=lambda one: one.severity != "error")
    names = [one.name for one in ordered if one.name in EXPLAINS]
    unfinished = [one for one in ordered if one.name == "did-not-finish"]
    gave_up = beside is not None and beside.fault is not None and beside.fault.name == "gpu-did-not-finish"
    names += [one.name for one in unfinished if gave_up or one.facts.get("ends")]
    return next(iter(names), "")


def _differ(here: Pass, beside: DevicePass) -> bool:
    if beside.fault is not None and (not beside.launched or beside.fault.name in NO_VERDICT):
        return False
    if any(one.name == "unsupported-construct" for one in here.run.findings):
        return False
    if here.right or beside.right:
        refused = beside.fault is not None and beside.fault.name in BEYOND_THE_MACHINE
        return here.right != beside.right and not refused
    # Both are wrong. On whole numbers the very elements must be the same; a run that was ended has none.
    if not here.run.completed or beside.wrong is None or not here.arguments.exact:
        return False
    return any(not np.array_equal(mask, beside.wrong[name]) for name, mask in here.wrong.items())


def _disagreement(trial: Trial, here: Pass, beside: DevicePass, explained_by: str) -> Disagreement:
    completed = here.run.completed
    array, first = _first_difference(here, beside)
    return Disagreement(
        family=trial.shape.family,
        dims=dict(trial.shape.dims),
        shown=trial.shape.shown,
        inputs="exact" if here.arguments.exact else "float",
        machine_wrong=sum(int(mask.sum()) for mask in here.wrong.values()) if completed else None,
        gpu_wrong=beside.wrong_count,
        elements=sum(mask.size for mask in here.wrong.values()),
        array=array,
        first=first,
        machine_value=_value(here.after.get(array), first) if completed else None,
        gpu_value=_value(beside.after.get(array), first),
        expected=_value(here.arguments.expected[array].value, first) if array else None,
        explained_by=explained_by,
        ended_by=_ended_by(here, beside),
    )


def _first_difference(here: Pass, beside: DevicePass) -> tuple[str, tuple[int, ...]]:
    """The first element that one side has right and the other wrong; else the first wrong one of either."""
    for name, mask in here.wrong.items():
        other = beside.wrong[name] if beside.wrong is not None else np.zeros_like(mask)
        mine = mask if here.run.completed else np.zeros_like(mask)
        for differs in (mine != other, mine | other):
            if differs.any():
                return name, tuple(int(axis[0]) for axis in np.nonzero(differs))
    return "", ()


def _value(array: object, index: tuple[int, ...]) -> float | None:
    if not isinstance(array, np.ndarray) or not index:
        return None
    value = float(array[index])
    return value if np.isfinite(value) else None


def _ended_by(here: Pass, beside: DevicePass) -> str:
    """What kept one side from a result."""
    if beside.fault is not None:
        return beside.fault.name
    if beside.overwritten:
        return "gpu-margin-overwritten"
    if here.run.completed:
        return ""
    errors = (one.name for one in here.run.findings if one.severity == "error")
    return next(errors, "")
