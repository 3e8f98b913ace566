"""Judging a kernel by running it, beside the machine's judgement: a child's results against the parent's own.

The parent draws inputs, knows what must come of them and compares; the child has neither. A run can
take a grading away, never give one: what earns points is what the machine has read in the text.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from grader.checks.inputs import Arguments, draw_arguments
from grader.checks.launch_config import student_config
from grader.checks.result import wrong_elements
from grader.gpu.sandbox import Limits, Sandbox, run_child
from grader.records import Outcome, Report
from grader.rubric.expressions import evaluate
from grader.rubric.model import KernelSpec, Rubric
from grader.rubric.suites import Shape, shapes_of
from grader.simt import parse

__all__ = ["Executed", "execute", "with_execution"]

_PACKAGES = ("numpy", "numpy.libs", "numba", "numba_cuda", "llvmlite", "cuda", "yaml")
_CHILD = Path(__file__).resolve().parents[1] / "gpu" / "simulated_child.py"
MOST_SHAPES = 3


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of running: shapes right of how many, and why it is not all of them."""

    right: int
    total: int
    problem: str = ""


def execute(
    rubric: Rubric,
    source: str,
    settings: Mapping[str, int],
    sandbox: Sandbox | None,
    *,
    key: bytes = b"",
    limits: Limits | None = None,
) -> Executed:
    """Run a submission's kernel on a few shapes, hidden ones among them.

    ``sandbox`` None runs it with all rights of this process: for whoever has said that they want that.
    """
    kernel = rubric.kernel
    assert kernel is not None
    shapes = _some(shapes_of(rubric, settings, private_key=key))
    drawn: list[Arguments] = []
    launches: list[dict[str, Any]] = []
    data = bytearray()
    for shape in shapes:
        sizes = {**settings, **shape.dims}
        config = _config(kernel, source, shape, sizes)
        if config is None:
            return Executed(0, len(shapes), "there is no launch configuration")
        arguments = draw_arguments(kernel, sizes, f"run/{rubric.exercise}/{sizes}", exact=True, key=key)
        drawn.append(arguments)
        launches.append(_launch(kernel, arguments, *config, data))
    header = {"source": source, "file": f"{rubric.exercise}.py", "kernel": kernel.name, "launches": launches}
    encoded = json.dumps(header).encode("utf-8", "surrogatepass")
    request = len(encoded).to_bytes(8, "big") + encoded + bytes(data)
    length = sum(arguments.values[name].nbytes for arguments in drawn for name in kernel.outputs)
    ran = run_child(sandbox, _CHILD, _packages(), request, length, limits)
    if ran.problem:
        return Executed(0, len(shapes), ran.problem)
    return _compared(kernel, drawn, ran.output)


def _some(shapes: tuple[Shape, ...]) -> list[Shape]:
    """The smallest shown shape and the smallest hidden ones: the simulator takes a second for a large one."""
    volume = {id(shape): int(np.prod(list(shape.dims.values()))) for shape in shapes}
    ordered = sorted(shapes, key=lambda shape: volume[id(shape)])
    hidden = [shape for shape in ordered if not shape.shown and min(shape.dims.values()) > 1]
    return [*[shape for shape in ordered if shape.shown][:1], *hidden[: MOST_SHAPES - 1]]


def _config(
    kernel: KernelSpec, source: str, shape: Shape, sizes: Mapping[str, int]
) -> tuple[list[int], list[int]] | None:
    if kernel.launch.from_ is not None:
        names = kernel.launch.arguments or kernel.dims
        config, _ = student_config(
            parse(source), kernel.launch.from_, tuple(shape.dims[name] for name in names)
        )
        return None if config is None else (list(config.grid), list(config.block))
    grid, block = (
        [int(evaluate(str(axis), sizes)) for axis in axes]
        for axes in (kernel.launch.grid, kernel.launch.block)
    )
    return grid, block


def _launch(
    kernel: KernelSpec, arguments: Arguments, grid: list[int], block: list[int], data: bytearray
) -> dict[str, Any]:
    described: list[dict[str, Any]] = []
    for value in arguments.values.values():
        if isinstance(value, np.ndarray):
            described.append({"dtype": value.dtype.str, "shape": value.shape})
            data += value.tobytes()
        else:
            described.append({"value": value})
    outputs = [index for index, name in enumerate(arguments.values) if name in kernel.outputs]
    return {"grid": grid, "block": block, "arguments": described, "outputs": outputs}


def _compared(kernel: KernelSpec, drawn: list[Arguments], output: bytes) -> Executed:
    at = right = 0
    for arguments in drawn:
        got = dict(arguments.values)
        for name in arguments.values:
            if name in kernel.outputs:
                like = arguments.values[name]
                got[name] = np.frombuffer(output, like.dtype, like.size, at).reshape(like.shape)
                at += like.nbytes
        right += not any(mask.any() for mask in wrong_elements(kernel, arguments, got).values())
    return Executed(right, len(drawn), "" if right == len(drawn) else "some results are wrong")


def _packages() -> dict[str, Path]:
    """The packages that a child may read; nothing else of where they are installed."""
    found: dict[str, Path] = {}
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name) if "." not in name else None
        if spec is not None and spec.submodule_search_locations:
            found[name] = Path(next(iter(spec.submodule_search_locations)))
    libraries = found["numpy"].parent / "numpy.libs" if "numpy" in found else None
    if libraries is not None and libraries.is_dir():
        found["numpy.libs"] = libraries
    return found


def with_execution(report: Report, executed: Executed, *, sandboxed: bool, ran: bool = True) -> Report:
    """Give a report with what a run said; one that says otherwise than the machine ends in CANNOT JUDGE."""
    where = "in a sandbox" if sandboxed else "WITHOUT a sandbox"
    tally = f"{executed.right} of {executed.total} shapes right"
    note = f"run under numba's simulator {where}: {tally}" + (
        f"; {executed.problem}" if executed.problem else ""
    )
    report = replace(report, notes=(*report.notes, note if ran else f"not run: {executed.problem}"))
    if report.outcome is not Outcome.PASS or (ran and executed.right == executed.total):
        return report
    if not ran:
        return replace(
            report, outcome=Outcome.CANNOT_JUDGE, reason=f"the kernel could not be run: {executed.problem}"
        )
    reason = f"read, the kernel is right; run, it is not: {executed.problem}"
    return replace(report, outcome=Outcome.CANNOT_JUDGE, reason=reason)
