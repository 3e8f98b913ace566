"""What one shape of a suite gave: its launches, their results and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.checks.inputs import Arguments
from grader.checks.launch_config import Config
from grader.records import Finding
from grader.rubric.suites import Shape
from grader.simt import Run

__all__ = ["STOPPING", "Mask", "Pass", "Trial"]

Mask = npt.NDArray[np.bool_]

#: Findings that every shape would repeat, so that the first is enough.
STOPPING = frozenset(
    {
        "syntax-error",
        "missing-kernel",
        "unsupported-construct",
        "type-error",
        "non-constant-shared-shape",
        "forbidden-call",
        "block-too-large",
        "shared-memory-too-large",
        "bad-launch-config",
        "did-not-finish",
    }
)
#: Those of them, and one of a single shape, that keep a kernel from running.
_REFUSED = STOPPING - {"did-not-finish"} | {"grid-too-large"}


@dataclass(frozen=True, slots=True)
class Pass:
    """One launch of a shape: its arguments before and after, the wrong elements, the machine's run."""

    arguments: Arguments
    after: Mapping[str, Any]
    wrong: Mapping[str, Mask]
    run: Run

    @property
    def right(self) -> bool:
        """Whether the launch finished and every element is right."""
        return self.run.completed and not any(mask.any() for mask in self.wrong.values())


@dataclass(frozen=True, slots=True)
class Trial:
    """One shape of the suite as it went. ``passes`` holds the exact pass, then the approximate one."""

    shape: Shape
    config: Config | None
    findings: tuple[Finding, ...]
    passes: tuple[Pass, ...] = ()

    @property
    def right(self) -> bool:
        """Whether both passes are right."""
        return bool(self.passes) and all(one.right for one in self.passes)

    @property
    def started(self) -> bool:
        """Whether the kernel ran at all: what the compiler or the launch refuses does not."""
        return bool(self.passes) and not any(
            finding.severity == "error" and finding.name in _REFUSED and not self.passes[0].run.completed
            for finding in self.findings
        )

    @property
    def wrong(self) -> int:
        """How many elements are wrong, in the worse of the passes; none where the kernel never ran."""
        if not self.started:
            return 0
        return max((int(sum(mask.sum() for mask in one.wrong.values())) for one in self.passes), default=0)

    @property
    def elements(self) -> int:
        """How many elements the outputs have together; none where the kernel never ran."""
        return sum(mask.size for mask in self.passes[0].wrong.values()) if self.started else 0

    @property
    def failed_pass(self) -> Pass | None:
        """The first pass with a wrong element."""
        return next((one for one in self.passes if not one.right), None)

    @property
    def stopped(self) -> bool:
        """Whether the launch ended in a finding that every shape would repeat."""
        return any(
            finding.severity == "error"
            and finding.name in STOPPING
            # A grid that has no block for a small shape may serve a larger one.
            and finding.facts.get("rule") != "not-positive"
            for finding in self.findings
        )
