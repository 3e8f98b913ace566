"""The shared cases on a GPU: no rubric, so launched and compared by hand, by the rules of the gpu backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from grader.checks.agreement import compare
from grader.checks.device_trials import DevicePass, DeviceTrial
from grader.checks.inputs import Arguments
from grader.checks.launching import Pass, Trial
from grader.gpu.device_runs import Launch, Session, run_on_device
from grader.gpu.options import GpuOptions
from grader.gpu.sandbox import find_sandbox
from grader.records import Disagreement
from grader.rubric.reference import Estimate
from grader.rubric.suites import Shape
from grader.simt import launch, parse
from grader.simt.plan import Plan, plan
from tests.content import test_shared_cases as shared

__all__ = ["briefly", "case"]

FUEL = 50_000


def case(path: Path, options: GpuOptions) -> dict[str, Any]:
    """One case over its shapes: what the machine found, what the GPU gave, where they differ."""
    shared.CASES = path.parent
    source = shared._source(path.stem)
    names, text = shared._harness(source), source.partition("# ---- harness")[0]
    trials: list[Trial] = []
    launches: list[Launch] = []
    kernel = ""
    for sizes in names["SHAPES"]:
        kernel, trial, one = _machine(path.stem, text, names["setup"](*sizes), sizes)
        trials.append(trial)
        launches.append(one)
    found = sorted({one.name for trial in trials for one in trial.findings if one.severity != "note"})
    verdict = source.splitlines()[0].partition(":")[2].strip()
    answer: dict[str, Any] = {
        "expected": {"outcome": verdict},
        "machine": {"findings": found, "right": sum(trial.right for trial in trials)},
    }
    planned = plan(parse(text), kernel, file="case.py")
    if not isinstance(planned, Plan):
        return {**answer, "unplanned": [one.name for one in planned]}
    sandbox = None if options.unsafe_no_sandbox else find_sandbox()
    session = run_on_device(
        planned.request(),
        launches,
        sandbox=sandbox,
        simulated=options.simulated,
    )
    device = [_beside(trial, result) for trial, result in zip(trials, session.results, strict=True)]
    differing = compare(trials, device, [trial.findings for trial in trials])
    return {
        **answer,
        "run": {**_run(session, device), "sandboxed": sandbox is not None},
        "disagreements": [briefly(one) for one in differing],
    }


def _machine(
    name: str, text: str, made: tuple[Any, ...], sizes: tuple[int, ...]
) -> tuple[str, Trial, Launch]:
    kernel, grid, block, args, position, want, *rest = made
    grid, block = (tuple(one) if isinstance(one, tuple | list) else (int(one),) for one in (grid, block))
    values = {f"{'out' if index == position else 'arg'}{index}": one for index, one in enumerate(args)}
    out, shared_bytes = f"out{position}", rest[0] if rest else 0
    arguments = Arguments(values, {out: Estimate(np.asarray(want), np.abs(want), 1)}, exact=True)
    after = arguments.fresh()
    run = launch(
        text,
        kernel.__name__,
        grid=grid,
        block=block,
        args=tuple(after.values()),
        shared_bytes=shared_bytes,
        fuel=FUEL,
    )
    shape = Shape(name, dict(zip("MNK", sizes, strict=False)), shown=True)
    passed = Pass(arguments, after, {out: ~(after[out] == want)}, run)
    asked = Launch(grid, block, values, shared_bytes)
    return kernel.__name__, Trial(shape, None, run.findings, (passed,)), asked


def _beside(trial: Trial, result: Any) -> DeviceTrial:
    one = trial.passes[0]
    out, wrong = next(iter(one.wrong)), None
    if result.after is not None:
        wrong = {out: ~(result.after[out] == one.arguments.expected[out].value)}
    there = DevicePass(
        one.arguments, result.after or {}, wrong, result.fault, result.launched, result.overwritten
    )
    return DeviceTrial(trial.shape, (there,))


def _run(session: Session, device: list[DeviceTrial]) -> dict[str, Any]:
    fault = session.fault
    return {
        "device": session.device,
        "right": sum(one.right for one in device),
        "total": len(device),
        **({"fault": fault.name, "detail": fault.detail[:300]} if fault else {}),
    }


def briefly(one: Disagreement) -> dict[str, Any]:
    """A disagreement as the record keeps it."""
    kept = ("family", "dims", "inputs", "machine_wrong", "gpu_wrong", "elements", "explained_by", "ended_by")
    return {key: getattr(one, key) for key in kept}
