"""What the real compiler makes of a submission's kernel, put into its report.

The compiler says what the machine cannot: registers, spills, how many warps fit. Where the two
differ on whether the kernel compiles at all, the report says so: numba decides what runs on a GPU.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Literal

from grader.checks.places import function_node
from grader.diagnosis import explain
from grader.diagnosis.compiled import compiler_drops, numba_accepts
from grader.gpu.compile import Compiled, compile_check
from grader.gpu.options import Beside
from grader.gpu.sandbox import Sandbox, find_sandbox
from grader.grade_kernel import Judged, report_of
from grader.kernel_messages import base_context, curtailed
from grader.perf.architectures import architecture_of, is_architecture
from grader.perf.devices import device, device_names
from grader.records import Compilation, Diagnostic, Fact, Finding, Outcome, Report, Severity, Span
from grader.rubric.expressions import evaluate
from grader.rubric.model import KernelSpec, Rubric
from grader.simt import Program
from grader.simt.plan import Plan, plan

__all__ = ["architectures", "compile_findings", "compile_kernel", "types_of", "was_lost", "with_compilation"]

#: Below this share of a multiprocessor's warps a note says that few fit. Kernels blocked in registers
#: do well with a quarter.
LOW_OCCUPANCY = 0.25
_NOT_LAUNCHED = "the kernel was not launched"
_NOT_REBUILT = "cannot be rebuilt for the compiler"
_REFUSALS = frozenset({"refused", "unknown-name", "recursion"})
_REFUSED_BY_MACHINE = frozenset({"type-error", "non-constant-shared-shape"})


def architectures(words: str) -> tuple[str, ...]:
    """The architectures that ``sm_75,h200`` names, each once; ValueError with one line for another word."""
    found: dict[str, None] = {}
    for word in (part.strip().lower() for part in words.split(",")):
        name = word if is_architecture(word) else ""
        if not name and word in device_names():
            name = architecture_of(device(word))
        if not name:
            known = ", ".join(one for one in device_names() if architecture_of(device(one)))
            raise ValueError(f"{word!r} is no architecture; write one as sm_90, or a device: {known}")
        found[name] = None
    return tuple(found)


def types_of(kernel: KernelSpec) -> list[dict[str, Any]]:
    """The types of a rubric's arguments, as plans describe them: C-contiguous arrays, 64-bit scalars."""
    scalars = {"int": {"dtype": "int64"}, "float": {"dtype": "float64"}}
    return [
        {"dtype": arg.dtype, "ndim": len(arg.shape), "layout": "C"}
        if arg.role == "array"
        else scalars[arg.role]
        for arg in kernel.args.values()
    ]


def was_lost(reason: str) -> bool:
    """Whether a report's ``not_compiled`` is no word on the kernel: another try may give figures."""
    return bool(reason) and reason != _NOT_LAUNCHED and not reason.endswith(_NOT_REBUILT)


def _sandbox(wanted: Literal["found", "required", "none"]) -> tuple[Sandbox | None, str]:
    """The sandbox to compile in, or the reason why there has to be one and is none."""
    if wanted == "none":
        return None, ""
    found = find_sandbox()
    missing = wanted == "required" and found is None
    return found, "there is no sandbox here to compile submissions in" if missing else ""


def compile_kernel(
    program: Program,
    kernel: KernelSpec,
    block: Sequence[int],
    beside: Beside,
    sizes: Mapping[str, int],
    file: str = "submission.py",
) -> Compiled:
    """Compile a submission's kernel for the architectures of ``beside``, as that allows.

    ``sizes`` are its constants and the dimensions of the launch.
    """
    planned = plan(program, kernel.name, file=PurePath(file).name)
    if not isinstance(planned, Plan):
        first = planned[0]
        where = f"line {first.primary.line}: " if first.primary is not None else ""
        what = first.facts.get("construct") or first.facts.get("name") or first.name
        return Compiled(reason=f"{where}{what} {_NOT_REBUILT}")
    sandbox, reason = _sandbox(beside.sandbox)
    if reason:
        return Compiled(reason=reason)
    left = math.inf if beside.ends is None else beside.ends - time.monotonic()
    return compile_check(
        planned.request(),
        types_of(kernel),
        beside.archs,
        math.prod(block),
        dynamic_shared_bytes=int(evaluate(str(kernel.shared_bytes), sizes)),
        sandbox=sandbox,
        seconds=left,
        toolkit=beside.toolkit,
    )


def with_compilation(rubric: Rubric, report: Report, judged: Judged, beside: Beside) -> Report:
    """The report with what the compiler says for each architecture, or the reason why it was not asked."""
    configs = [(trial.config, trial.shape) for trial in judged.trials if trial.config is not None]
    if judged.launcher is None or not configs:
        return replace(report, not_compiled=_NOT_LAUNCHED)
    # Students see the figures, and the block of a hidden shape would tell of it in the occupancy.
    shown = [one for one in configs if one[1].shown]
    config, shape = max(shown or configs, key=lambda one: math.prod(one[0].block))
    sizes = {**judged.constants, **shape.dims}
    kernel = judged.launcher.kernel
    compiled = compile_kernel(judged.program, kernel, config.block, beside, sizes, report.path)
    unknown = all(one.error_kind == "arch" for one in compiled.results)
    if compiled.reason or unknown:
        reason = compiled.reason or f"{compiled.results[0].arch}: {compiled.results[0].error}"
        return replace(report, not_compiled=reason, compiled=compiled.results if unknown else ())
    if not shown:
        compiled = replace(compiled, results=tuple(map(_without_occupancy, compiled.results)))
    findings = compile_findings(judged.program, kernel.name, compiled.results)
    if _machine_refuses(judged):
        findings = tuple(_as_note(one) for one in findings)
    if _numba_refuses(compiled.results) and report.gpu is None:
        # What numba refuses runs on no GPU, so no shape is right.
        report = report_of(rubric, report.path, judged, [False] * len(judged.shapes))
    report = replace(report, compiled=compiled.results)
    report = _with_messages(rubric, report, judged, findings)
    return _settled(report, judged, compiled.results)


def _without_occupancy(one: Compilation) -> Compilation:
    return replace(one, warps=0, most_warps=0, occupancy=0.0, limited_by="")


def _machine_refuses(judged: Judged) -> bool:
    return any(one.name in _REFUSED_BY_MACHINE and one.severity == "error" for one in judged.findings)


def _as_note(finding: Finding) -> Finding:
    """A refusal that the machine foresaw, and says more of."""
    return replace(finding, severity="note") if finding.name == "gpu-compile-error" else finding


def _numba_refuses(results: Sequence[Compilation]) -> bool:
    """Whether no architecture has the kernel, and that not for a fault of the compiler's own."""
    judged = [one for one in results if one.error_kind != "arch"]
    return all(one.error_kind in _REFUSALS for one in judged)


def _with_messages(rubric: Rubric, report: Report, judged: Judged, findings: Iterable[Finding]) -> Report:
    """Refusals first, unless the machine has errors of its own: its messages name causes."""
    if rubric.feedback == "none":
        return report
    context = base_context(rubric, report.path, judged.program, report.families, judged.constants)
    context = replace(context, shape=None, failing=(), passing=(), families=())
    told: list[Diagnostic] = [explain(finding, context) for finding in findings]
    if rubric.feedback == "category":
        told = [curtailed(one) for one in told]
    has_errors = any(one.severity == "error" for one in report.diagnostics)
    first = [one for one in told if one.severity == "error" and not has_errors]
    last = [one for one in told if one.severity != "error" or has_errors]
    return replace(report, diagnostics=(*first, *report.diagnostics, *last))


def _settled(report: Report, judged: Judged, results: Sequence[Compilation]) -> Report:
    """The outcome, where machine and compiler differ on whether the kernel compiles."""
    good = [one.arch for one in results if not one.error]
    if good and _machine_refuses(judged):
        note = numba_accepts(good)
        return replace(report, outcome=Outcome.CANNOT_JUDGE, notes=(*report.notes, note))
    if dropped := _dropped(judged, [one for one in results if not one.error]):
        return replace(report, outcome=Outcome.CANNOT_JUDGE, notes=(*report.notes, dropped))
    if good or report.outcome not in (Outcome.PASS, Outcome.FAIL):
        return report
    # No architecture has the kernel. A compiler that breaks on it has not judged it.
    broken = any(one.error_kind == "compiler" for one in results)
    outcome = Outcome.CANNOT_JUDGE if broken and report.outcome is Outcome.PASS else Outcome.FAIL
    headline = report.diagnostics[0].headline if report.diagnostics else ""
    return replace(report, outcome=outcome, reason=headline or report.reason)


def _dropped(judged: Judged, good: Sequence[Compilation]) -> str:
    """The note on shared arrays that the machine refuses and that fit as they are compiled; else empty.

    Only arrays that the source declares have a place, and the compiler has no say on others.
    """
    refused = next((one for one in judged.findings if one.name == "shared-memory-too-large"), None)
    if refused is None or refused.primary is None or not good:
        return ""
    kept = max(one.shared_bytes for one in good)
    if kept > refused.counts["limit"]:
        return ""
    return compiler_drops(refused.counts["bytes"], kept, [one.arch for one in good])


def compile_findings(program: Program, name: str, results: Sequence[Compilation]) -> tuple[Finding, ...]:
    """Refusals, spills and low occupancy: of each at most one, the worst, with its architecture."""
    node = function_node(program, name)
    place = program.span(node) if node is not None else None
    found: list[Finding] = []
    wrong = [one for one in results if one.error and one.error_kind != "arch"]
    if wrong:
        found.append(_refusal(program, wrong, [one for one in results if not one.error]))
    good = [one for one in results if not one.error]
    spilled = max(good, key=lambda one: (one.spill_store_bytes, one.stack_bytes), default=None)
    if spilled is not None and (spilled.spill_store_bytes or spilled.stack_bytes):
        found.append(_spill(spilled, place))
    known = [one for one in good if one.most_warps]
    low = min(known, key=lambda one: one.occupancy, default=None)
    if low is not None and low.occupancy < LOW_OCCUPANCY:
        facts: dict[str, Fact] = {"arch": low.arch, "resource": low.limited_by.partition(",")[0]}
        counts = {"warps": low.warps, "limit": low.most_warps}
        found.append(Finding("low-occupancy", "note", place, counts=counts, facts=facts))
    return tuple(found)


def _spill(one: Compilation, place: Span | None) -> Finding:
    """Registers that were stored away; where there are none, what stands in the stack frame all along."""
    counts = {"bytes": one.spill_store_bytes or one.stack_bytes, "registers": one.registers}
    facts: dict[str, Fact] = {"arch": one.arch, "stack": not one.spill_store_bytes}
    return Finding("register-spill", "note", place, counts=counts, facts=facts)


def _refusal(program: Program, wrong: Sequence[Compilation], good: Sequence[Compilation]) -> Finding:
    """An error where no architecture has the kernel; else a warning that names those that have it not."""
    first = wrong[0]
    archs = tuple(one.arch for one in wrong) if good else ()
    facts: dict[str, Fact] = {"detail": first.error, "refusal": first.error_kind, "archs": archs}
    severity: Severity = "warning" if good else "error"
    return Finding("gpu-compile-error", severity, _line(program, first.line), facts=facts)


def _line(program: Program, line: int | None) -> Span | None:
    if line is None or not 1 <= line <= len(program.lines) or not program.lines[line - 1].strip():
        return None
    text = program.lines[line - 1]
    return Span(line, len(text) - len(text.lstrip()) + 1, line, len(text.rstrip()) + 1)
