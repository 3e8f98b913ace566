"""Every kernel of the repository, planned, rebuilt and compiled for sm_90: machine and numba agree.

A kernel that the machine follows has a plan; what the machine refuses has a finding or is refused by
numba on the same line. ``DIFFERING`` lists the exceptions, each with its reason.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.gpu import compile_child
from grader.gpu.compile import compile_reason
from grader.records import Finding
from grader.simt import parse
from grader.simt.binding import kind_of
from grader.simt.kernel import compile_kernel
from grader.simt.machine import Stop
from grader.simt.plan import Plan, plan
from grader.simt.signature import declared
from tests.content import test_machine_kernels as machine
from tests.content import test_shared_cases as shared
from tests.content.variants import EXERCISES, KINDS, variants

ROOT = Path(__file__).resolve().parents[2]
MATRIX = [np.zeros((32, 32), np.float32)] * 3 + [32, 32, 32]
Source = tuple[str, str, list[Any]]

#: What numba dies of without a line (`KeyError: <ufunc 'ceil'>`, say, or for want of a method that raises
#: with values); the machine refuses it with one.
DYING = {"wrong/tiles_counted_with_numpy", "wrong/prints_a_whole_tile", "wrong/an_exception_with_a_value"}
#: What numba compiles, and launches with arrays of another order, whose elements it then takes for others.
MISREADING = {"wrong/declares_arrays_that_lie_by_columns"}
#: name: (what numba says, why).
DIFFERING = {
    "wrong/endless_loop": ("liveness info missing", "numba's analysis breaks on a loop that nothing leaves"),
}

pytestmark = pytest.mark.skipif(
    bool(compile_reason()) or importlib.util.find_spec("nvidia") is None,
    reason="the extra `compile` is not installed",
)


def _exercises() -> Iterator[tuple[str, Source]]:
    for name in EXERCISES:
        text = (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8")
        yield f"solutions/{name}", (text, "tiled_matmul", MATRIX)
    for kind in KINDS:
        for variant in variants(kind, EXERCISES[1]):
            yield f"{kind}/{variant.name}", (variant.source, "tiled_matmul", MATRIX)
    for path in sorted((ROOT / "tests" / "kernels" / "styles").glob("*.py")):
        yield f"styles/{path.stem}", (path.read_text(encoding="utf-8"), "tiled_matmul", MATRIX)


def _ladder() -> Iterator[tuple[str, Source]]:
    for path in sorted((ROOT / "solutions" / "ladder").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        inner = np.uint16 if 'DTYPE = "bfloat16"' in text else np.float32
        matrices = [np.zeros((32, 32), inner)] * 2 + [np.zeros((32, 32), np.float32)]
        yield f"ladder/{path.stem}", (text, parse(text).scope["KERNEL"].node.name, [*matrices, 32, 32, 32])


def _kernels_of_the_machine() -> Iterator[tuple[str, Source]]:
    for path in machine.RIGHT:
        kernel, _, harness = path.read_text(encoding="utf-8").partition("# ---- harness")
        yield f"right/{path.stem}", (kernel, "kernel", list(machine._setup(harness)[2]))
    names = {"np": np, "ints": machine._ints}
    for name, entry in machine.FAULTY.items():
        yield (
            f"faulty/{name}",
            (machine.HEAD + entry["kernel"], "kernel", list(eval(f"({entry['args']},)", names))),
        )


def _cases() -> Iterator[tuple[str, Source]]:
    for case, shapes in shared.EXPECTED.items():
        source = shared._source(case)
        shape = [int(size) for size in next(iter(shapes)).split(",")]
        kernel, _, _, args, *_ = shared._harness(source)["setup"](*shape)
        yield f"case/{case}", (source.partition("# ---- harness")[0], kernel.__name__, list(args))


SOURCES = dict(_exercises()) | dict(_ladder()) | dict(_kernels_of_the_machine())


def types_of(args: list[Any]) -> list[dict[str, Any]]:
    return [
        {"dtype": arg.dtype.name, "ndim": arg.ndim, "layout": "C"}
        if isinstance(arg, np.ndarray)
        else {"dtype": np.asarray(arg).dtype.name}
        for arg in args
    ]


def _machine_says(text: str, kernel: str, args: list[Any]) -> Finding | None:
    program = parse(text)
    if program.findings:
        return program.findings[0]
    function = program.function(kernel, {})
    if function is None:
        return Finding("missing-kernel", "error")
    try:
        kinds = declared(program, function, tuple(kind_of(arg, at) for at, arg in enumerate(args)))
        compile_kernel(program, function, kinds)
    except Stop as stop:
        return stop.finding
    return None


def _agree(name: str, source: Source) -> None:
    refused = _machine_says(*source)
    planned = plan(parse(source[0]), source[1])
    if not isinstance(planned, Plan):
        assert refused is not None, planned
        assert refused.name in {finding.name for finding in planned}
        return
    compile_child._find_numba()
    found = compile_child.compile_kernel(planned.request(), types_of(source[2]), "sm_90")
    error = found.get("error")
    if name in DIFFERING:
        assert refused is None
        assert DIFFERING[name][0] in error["message"]
    elif refused is None or name in MISREADING:
        assert error is None
        assert (refused is None) is (name not in MISREADING)
        assert found["registers"] > 0
    else:
        assert refused.primary is not None
        wanted = ("compiler", None) if name in DYING else ("refused", refused.primary.line)
        assert (error["kind"], error["line"]) == wanted


@pytest.mark.parametrize("name", SOURCES)
def test_machine_and_numba_agree(name: str) -> None:
    _agree(name, SOURCES[name])


@shared.needs_cases
def test_machine_and_numba_agree_on_the_shared_cases() -> None:
    for name, source in _cases():
        _agree(name, source)
