"""Results that are wrong only where an input is zero: a kernel that reads a meaning into the value 0."""

from __future__ import annotations

from grader.checks.fractions import conditions_on_values
from grader.checks.inputs import without_zeros
from grader.checks.launching import Launcher, Pass, Trial
from grader.checks.places import device_functions, function_node
from grader.records import Fact, Span

__all__ = ["at_zeros", "condition_on_zeros", "hangs_on_zeros"]


def hangs_on_zeros(launcher: Launcher, trial: Trial, one: Pass) -> bool:
    """Whether a launch on floats that came out wrong comes out right with other numbers for its zeros."""
    if one.arguments.exact or trial.config is None:
        return False
    arguments = without_zeros(launcher.kernel, one.arguments)
    box = launcher.cover(trial.shape, trial.config)
    return launcher.launch_with(arguments, trial.shape, trial.config, effort="values", box=box).right


def at_zeros(launcher: Launcher) -> tuple[dict[str, Fact], Span | None]:
    """The facts of a result that is wrong at zeros alone, and the condition it comes of, if one is seen."""
    test = condition_on_zeros(launcher)
    facts: dict[str, Fact] = {"rule": "at-zeros"}
    return (facts if test is None else facts | {"suspect": "value-test"}), test


def condition_on_zeros(launcher: Launcher) -> Span | None:
    """The one condition of the kernel that hangs on loaded values; None where it has several or none."""
    kernel = function_node(launcher.program, launcher.kernel.name)
    if kernel is None:
        return None
    functions = [kernel, *device_functions(launcher.program, kernel)]
    tests = [test for function in functions for test in conditions_on_values(function)]
    return launcher.program.span(tests[0]) if len(tests) == 1 else None
