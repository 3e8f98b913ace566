"""What the kernel calls the rubric's arguments."""

from __future__ import annotations

from grader.checks.launching import Launcher
from grader.checks.places import function_node, parameters

__all__ = ["own_name", "position_of"]


def position_of(launcher: Launcher, array: str) -> int:
    """Which argument of the kernel it is."""
    return list(launcher.kernel.args).index(array)


def own_name(launcher: Launcher, array: str) -> str:
    """The kernel's own name for an argument of the rubric."""
    function = function_node(launcher.program, launcher.kernel.name)
    names = parameters(function) if function is not None else ()
    position = position_of(launcher, array)
    return names[position] if position < len(names) else array
