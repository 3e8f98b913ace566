"""A suite on a GPU: the same shapes and the same inputs as on the machine, compared here and not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.checks.inputs import Arguments, is_exact
from grader.checks.launch_config import Config
from grader.checks.launching import Launcher
from grader.checks.result import wrong_elements
from grader.checks.trial import Mask
from grader.gpu.device_runs import Fault, Launch, Result, Session
from grader.rubric.expressions import evaluate
from grader.rubric.suites import Shape

__all__ = ["DevicePass", "DeviceTrial", "Request", "device_trials", "requests"]


@dataclass(frozen=True, slots=True)
class Request:
    """One launch to be made on the GPU: of which shape, on which inputs."""

    index: int
    shape: Shape
    arguments: Arguments
    launch: Launch


@dataclass(frozen=True, slots=True)
class DevicePass:
    """One launch on the GPU. Without a result ``fault`` says why; ``launched`` is False after a fatal one."""

    arguments: Arguments
    after: Mapping[str, Any] = field(default_factory=dict)
    wrong: Mapping[str, Mask] | None = None
    fault: Fault | None = None
    launched: bool = True
    overwritten: Mapping[str, int] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether every element is right and no margin was written to."""
        return self.wrong_count == 0 and not self.overwritten

    @property
    def wrong_count(self) -> int | None:
        """How many elements are wrong; None without a result."""
        return None if self.wrong is None else sum(int(mask.sum()) for mask in self.wrong.values())


@dataclass(frozen=True, slots=True)
class DeviceTrial:
    """One shape of the suite on the GPU. ``passes`` is empty where there is no launch configuration."""

    shape: Shape
    passes: tuple[DevicePass, ...] = ()

    @property
    def right(self) -> bool:
        """Whether all passes are right."""
        return bool(self.passes) and all(one.right for one in self.passes)

    def on(self, *, exact: bool) -> DevicePass | None:
        """The pass on whole numbers, or that on floats."""
        return next((one for one in self.passes if one.arguments.exact == exact), None)


def requests(launcher: Launcher, shapes: Sequence[Shape]) -> list[Request]:
    """Every launch of a suite, as :meth:`Launcher.suite` makes them, whatever came of them there."""
    found: list[Request] = []
    for index, (shape, floats) in enumerate(zip(shapes, launcher.take_floats(shapes))):
        config, _ = launcher.config(shape)
        if config is None:
            continue
        exact = launcher.arguments(shape, True)
        chosen = [exact] if is_exact(launcher.kernel, exact) else []
        if floats or not chosen:
            chosen.append(launcher.arguments(shape, False))
        found += [Request(index, shape, one, _launch(launcher, shape, config, one)) for one in chosen]
    return found


def _launch(launcher: Launcher, shape: Shape, config: Config, arguments: Arguments) -> Launch:
    names = {**launcher.constants, **shape.dims}
    shared = int(evaluate(str(launcher.kernel.shared_bytes), names))
    return Launch(config.grid, config.block, arguments.values, shared)


def device_trials(
    launcher: Launcher, shapes: Sequence[Shape], asked: Sequence[Request], session: Session
) -> tuple[DeviceTrial, ...]:
    """What came of the requests, one trial for each shape, in the order of ``shapes``."""
    passes: dict[int, list[DevicePass]] = {}
    for request, result in zip(asked, session.results, strict=True):
        passes.setdefault(request.index, []).append(_compared(launcher, request, result))
    return tuple(DeviceTrial(shape, tuple(passes.get(index, ()))) for index, shape in enumerate(shapes))


def _compared(launcher: Launcher, request: Request, result: Result) -> DevicePass:
    if result.after is None:
        return DevicePass(request.arguments, fault=result.fault, launched=result.launched)
    with np.errstate(all="ignore"):
        wrong = wrong_elements(launcher.kernel, request.arguments, result.after)
    return DevicePass(request.arguments, result.after, wrong, overwritten=result.overwritten)
