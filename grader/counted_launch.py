"""One launch of a kernel whose traffic is to be counted, and what else is wrong with that kernel.

A profile and a place on the roofline are of a kernel, so both refuse the same kernels, by the names that
``grader check`` gives, and both name the faults that their one launch does not show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks.launching import Launcher
from grader.checks.structure import kernel_findings, placeholders
from grader.diagnosis import rank
from grader.grade_kernel import judge
from grader.simt import NotConstant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.checks.launch_config import Config
    from grader.checks.launching import Pass
    from grader.records import Finding
    from grader.rubric.model import KernelSpec, Rubric
    from grader.rubric.suites import Shape
    from grader.simt import Program

__all__ = ["LaunchError", "constants_for", "counted_launch", "kernel_faults"]


class LaunchError(Exception):
    """A kernel that cannot be launched or gives a wrong result; the text is one line that says why."""


def constants_for(program: Program, kernel: KernelSpec) -> dict[str, int]:
    """The constants that size the kernel's launch, each one that the rubric allows.

    Raises LaunchError where the text has no such kernel: as in a grading, that is looked at first.
    """
    functions = (kernel.name, *([kernel.launch.from_] if kernel.launch.from_ else []))
    early = program.findings or kernel_findings(program, kernel) or placeholders(program, functions)
    if early:
        raise LaunchError(f"{kernel.name} cannot be launched: {_named(early[0])}")
    found = {}
    for name, allowed in kernel.constants.items():
        try:
            value = program.constant(name)
        except NotConstant:
            raise LaunchError(f"the file gives {name} no value that can be read without running it") from None
        if type(value) is not int or value not in allowed:
            raise LaunchError(f"{name} must be one of {', '.join(map(str, allowed))}")
        found[name] = value
    return found


def counted_launch(
    program: Program,
    rubric: Rubric,
    kernel: KernelSpec,
    shape: Shape,
    constants: Mapping[str, int],
    device: str,
) -> tuple[Config, Pass]:
    """The launch on ``shape`` and its configuration.

    Raises LaunchError where there is none, it does not end, or its result is wrong: the traffic of a
    wrong product says nothing.
    """
    launcher = Launcher(program, kernel, rubric.exercise, constants, device=device)
    config, findings = launcher.config(shape)
    if config is None:
        raise LaunchError(f"{kernel.name} cannot be launched: {_named(findings[0])}")
    done = launcher.launch(shape, config, exact=False)
    if done is None or not done.run.completed:
        stopped = done.run.findings if done is not None else ()
        name = _named(stopped[0]) if stopped else "no result"
        raise LaunchError(f"{kernel.name} does not run to its end: {name}")
    if not done.right:
        raise LaunchError(f"{kernel.name} gives a wrong result, so its traffic says nothing")
    return config, done


def kernel_faults(rubric: Rubric, program: Program, done: Pass) -> tuple[str, ...]:
    """The names of the errors that a grading finds in the kernel, causes first, and of those of ``done``."""
    judged = judge(rubric, program, "")
    found = [one.name for one in rank((*judged.findings, *done.run.findings)) if one.severity == "error"]
    if not found and not all(trial.right for trial in judged.trials):
        found = ["wrong-result"]
    return tuple(dict.fromkeys(found))


def _named(finding: Finding) -> str:
    return finding.name + (f", line {finding.primary.line}" if finding.primary is not None else "")
