"""Grading a kernel on a GPU as well: the machine judges as always, and the GPU's results are laid beside.

The machine says why a kernel is wrong, and finds what a GPU hides; the GPU says what the kernel does
where it has to run. A PASS takes both. Where they differ and no hazard that the machine found
explains it, the report says so first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from grader.beside import with_beside
from grader.checks.agreement import NO_VERDICT, compare
from grader.checks.device_findings import device_findings
from grader.checks.device_trials import DeviceTrial, device_trials, requests
from grader.checks.evidence import settle
from grader.device_messages import with_messages
from grader.gpu.device_runs import Deadlines, Fault, Session, run_on_device
from grader.gpu.options import Beside, GpuOptions
from grader.gpu.sandbox import Sandbox, find_sandbox
from grader.grade_kernel import Judged, judge, report_of
from grader.grade_timing import with_timings
from grader.records import DeviceRun, Disagreement, Finding, Outcome, Report
from grader.rubric.model import Rubric
from grader.simt import parse
from grader.simt.plan import Plan, plan

__all__ = ["beside_gpu", "grade_on_gpu", "no_gpu"]

NO_SANDBOX = (
    "there is no sandbox here to run kernels in: install bubblewrap (and setpriv and prlimit of "
    "util-linux), or take the risk with --unsafe-no-sandbox"
)


@dataclass(frozen=True, slots=True)
class _Beside:
    """The GPU's side of a grading."""

    session: Session
    trials: tuple[DeviceTrial, ...]
    disagreements: tuple[Disagreement, ...]
    findings: tuple[Finding, ...]
    sandboxed: bool


def no_gpu(report: Report, reason: str) -> Report:
    """A report where a GPU was asked for and there is none: nothing was judged."""
    told = f"{reason}; --backend machine grades without a GPU"
    run = DeviceRun("", 0, 0, sandboxed=False, fault="gpu-missing", detail=reason)
    return replace(report, outcome=Outcome.CANNOT_JUDGE, reason=told, backend="gpu", gpu=run)


def grade_on_gpu(
    rubric: Rubric,
    path: str,
    text: str,
    skeleton: str,
    key: bytes | None = None,
    options: GpuOptions | None = None,
    also: Beside | None = None,
) -> Report:
    """The Report on a submission's text, judged by the machine and run on a GPU; see :func:`grade_kernel`."""
    judged = judge(rubric, parse(text), skeleton, key or b"")
    report = beside_gpu(rubric, path, judged, options)
    return with_beside(rubric, report, judged, also or Beside())


def beside_gpu(rubric: Rubric, path: str, judged: Judged, options: GpuOptions | None = None) -> Report:
    """The Report on what the machine judged, with a run on the GPU beside it."""
    options = options or GpuOptions()
    if judged.not_started or judged.launcher is None:
        report = report_of(rubric, path, judged)
        return replace(report, backend="gpu", notes=(*report.notes, "nothing was launched on the GPU"))
    sandbox = None if options.unsafe_no_sandbox else find_sandbox()
    if sandbox is None and not options.unsafe_no_sandbox:
        return no_gpu(report_of(rubric, path, judged), NO_SANDBOX)
    planned = plan(judged.program, judged.launcher.kernel.name, file=PurePath(path).name)
    if not isinstance(planned, Plan):
        return _unplanned(rubric, path, judged, planned)
    beside = _run(judged, planned, sandbox, options)
    report = report_of(rubric, path, judged, [trial.right for trial in beside.trials])
    report = _joined(rubric, report, judged, beside, options)
    return with_timings(rubric, report, judged.launcher, planned, sandbox, options)


def _run(judged: Judged, planned: Plan, sandbox: Sandbox | None, options: GpuOptions) -> _Beside:
    launcher = judged.launcher
    assert launcher is not None
    asked = requests(launcher, judged.shapes)
    session = Session(())
    if asked:
        session = run_on_device(
            planned.request(),
            [request.launch for request in asked],
            sandbox=sandbox,
            simulated=options.simulated,
            deadlines=Deadlines(
                options.start_seconds, options.build_seconds, options.launch_seconds, options.total_seconds
            ),
        )
    trials = device_trials(launcher, judged.shapes, asked, session)
    settled = [settle(launcher, trial) for trial in judged.trials]
    differing = compare(judged.trials, trials, settled)
    findings = device_findings(launcher, judged.trials, trials, differing, session.device)
    return _Beside(session, trials, differing, findings, sandbox is not None)


def _joined(rubric: Rubric, report: Report, judged: Judged, beside: _Beside, options: GpuOptions) -> Report:
    """The machine's report with the GPU's side: outcome, messages, the record of the run."""
    session = beside.session
    fault = _first_fault(beside.trials)
    run = DeviceRun(
        device=session.device,
        right=sum(trial.right for trial in beside.trials),
        total=len(beside.trials),
        sandboxed=beside.sandboxed,
        capability=session.capability,
        versions=dict(session.versions),
        fault=fault.name if fault is not None else "",
        detail=fault.detail.partition("\n")[0] if fault is not None else "",
        simulated=options.simulated,
    )
    outcome = _outcome(report.outcome, judged, beside, fault)
    report = replace(report, outcome=outcome, backend="gpu", gpu=run, disagreements=beside.disagreements)
    return with_messages(rubric, report, judged, beside.findings)


def _first_fault(trials: Sequence[DeviceTrial]) -> Fault | None:
    return next((one.fault for trial in trials for one in trial.passes if one.fault is not None), None)


def _outcome(machine: Outcome, judged: Judged, beside: _Beside, fault: Fault | None) -> Outcome:
    """Never a PASS while the two differ or one of them has no verdict.

    Where the GPU is wrong the kernel is: FAIL. Where the machine alone is wrong about a kernel, and finds
    nothing else in it, the student must not bear it: CANNOT JUDGE.
    """
    if machine is Outcome.CANNOT_JUDGE:
        return machine
    unexplained = [one for one in beside.disagreements if not one.explained]
    if any(one.gpu_wrong != 0 or one.ended_by == "gpu-margin-overwritten" for one in unexplained):
        return Outcome.FAIL
    if unexplained:
        doubted = {(one.family, tuple(one.dims.values())) for one in unexplained}
        agreed = [
            trial
            for trial, there in zip(judged.trials, beside.trials, strict=False)
            if not (trial.right and there.right)
            and (trial.shape.family, tuple(trial.shape.dims.values())) not in doubted
        ]
        return Outcome.FAIL if agreed else Outcome.CANNOT_JUDGE
    if fault is not None and fault.name in NO_VERDICT:
        return machine if machine is Outcome.FAIL and _fails_alone(judged) else Outcome.CANNOT_JUDGE
    return machine if all(trial.right for trial in beside.trials) else Outcome.FAIL


def _fails_alone(judged: Judged) -> bool:
    """Whether the machine's own evidence fails the kernel, whatever the GPU would say."""
    return any(finding.severity == "error" for finding in judged.findings)


def _unplanned(rubric: Rubric, path: str, judged: Judged, findings: tuple[Finding, ...]) -> Report:
    """A kernel that no child can rebuild: not run, and so not passed."""
    report = report_of(rubric, path, judged)
    run = DeviceRun("", 0, len(judged.shapes), sandboxed=False, fault="gpu-not-planned")
    outcome = report.outcome if report.outcome is Outcome.FAIL else Outcome.CANNOT_JUDGE
    return with_messages(rubric, replace(report, outcome=outcome, backend="gpu", gpu=run), judged, findings)
