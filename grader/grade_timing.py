"""Timing a kernel that was right on the GPU: the rubric's sizes, in a child of their own."""

from __future__ import annotations

from dataclasses import replace

from grader.checks.launching import Launcher
from grader.gpu.options import GpuOptions
from grader.gpu.sandbox import Sandbox
from grader.gpu.timed_answers import TimedShape
from grader.gpu.timed_product import Product
from grader.gpu.timed_runs import time_on_device
from grader.gpu.timing import Limits
from grader.records import Outcome, Report
from grader.rubric.expressions import evaluate
from grader.rubric.model import KernelSpec, Rubric
from grader.rubric.suites import Shape
from grader.rubric.timing import operands_of, product_sizes, timed_shapes
from grader.simt.plan import Plan

__all__ = ["kernel_passes", "with_timings"]

#: Multiply-adds that numba's simulator takes some seconds for; it has no clock worth more.
_MOST_SIMULATED = 4096
#: What a timing says of the kernel itself.
_KERNEL_AT_FAULT = ("wrong-timed-output", "gpu-illegal-address", "gpu-kernel-aborted", "gpu-did-not-finish")


def kernel_passes(report: Report) -> bool:
    """Whether the kernel is right by all checks, on the GPU and where it was timed; questions may be open."""
    run = report.gpu
    on_gpu = run is not None and run.right == run.total > 0 and not report.disagreements
    judged = report.outcome in (Outcome.PASS, Outcome.FAIL)
    checked = bool(report.checks) and all(check.passed for check in report.checks)
    return (
        judged and on_gpu and checked and not any(one.rejected in _KERNEL_AT_FAULT for one in report.timings)
    )


def with_timings(
    rubric: Rubric,
    report: Report,
    launcher: Launcher,
    plan: Plan,
    sandbox: Sandbox | None,
    options: GpuOptions,
) -> Report:
    """The report with the times of a kernel that passes, where its rubric asks for them; else as it is."""
    if not options.timed or not kernel_passes(report):
        return report
    names = launcher.constants
    settings = {**report.settings, **names}
    shapes = [
        timed
        for shape in timed_shapes(rubric, settings)
        if (timed := _timed_shape(launcher, shape, settings)) is not None
    ]
    if options.simulated:
        shapes = [one for one in shapes if one.product.flops <= 2 * _MOST_SIMULATED]
    if not shapes:
        return report
    limits = Limits(warmups=1, fewest=1, least=2, most=2) if options.simulated else Limits()
    timings = time_on_device(
        plan.request(), shapes, sandbox=sandbox, limits=limits, simulated=options.simulated
    )
    return _with_verdict(replace(report, timings=timings))


def _with_verdict(report: Report) -> Report:
    """A kernel that is wrong where it was timed has not passed, though every shape of the suite was right."""
    wrong = next((one for one in report.timings if one.rejected in _KERNEL_AT_FAULT), None)
    if wrong is None or report.outcome is not Outcome.PASS:
        return report
    sizes = f"{', '.join(wrong.dims)} = {', '.join(map(str, wrong.dims.values()))}"
    reason = f"the suite is right; at {sizes}, where it was to be timed, the result is wrong"
    if wrong.rejected != "wrong-timed-output":
        reason = (
            f"the suite is right; at {sizes}, where it was to be timed, the kernel fails: {wrong.rejected}"
        )
    return replace(report, outcome=Outcome.FAIL, reason=reason)


def _timed_shape(launcher: Launcher, shape: Shape, settings: dict[str, int]) -> TimedShape | None:
    """A shape as a launch; None where the submission's own function has no configuration for it."""
    config, _ = launcher.config(shape)
    if config is None:
        return None
    kernel, sizes = launcher.kernel, {**settings, **shape.dims}
    operands = operands_of(kernel)
    M, N, K = product_sizes(kernel, sizes)
    return TimedShape(
        dims=shape.dims,
        product=Product(M, N, K, operands.dtype, operands.dtype),
        grid=config.grid,
        block=config.block,
        arguments=tuple(_argument(kernel, name, sizes) for name in kernel.args),
        shared=int(evaluate(str(kernel.shared_bytes), sizes)),
    )


def _argument(kernel: KernelSpec, name: str, sizes: dict[str, int]) -> str | int | float:
    operands, arg = operands_of(kernel), kernel.args[name]
    for role in ("left", "right", "out"):
        if name == getattr(operands, role):
            return role
    number = evaluate(arg.value or name, sizes)
    return int(number) if arg.role == "int" else float(number)
